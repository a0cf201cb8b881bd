package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orange/internal/core/prompt"
	"orange/internal/core/task"
)

// How long a message may take to arrive: the key that sends it is pressed again after
// each of these waits.
var patience = [...]time.Duration{700 * time.Millisecond, 2 * time.Second, 4 * time.Second}

// lastTurn is how long an agent without a terminal may take to end by itself before it
// is ended to be told something.
const lastTurn = time.Minute

// Tell gives a living agent a message: it is typed into its terminal as one paste and
// sent. An agent without a terminal cannot be told anything; it is let go, and the
// engine starts another one with the message.
func (a *Agents) Tell(ctx context.Context, t task.Task, e task.Effect) error {
	k := Key{t.ID, e.Attempt}
	card, err := a.Card(k)
	if err != nil {
		return err
	}
	a.mu.Lock()
	at := a.live[k]
	a.mu.Unlock()
	if at == nil {
		return fmt.Errorf("attempt %d has ended", e.Attempt)
	}
	if card.Window == "" || a.Terminal == nil {
		return a.letGo(ctx, k, &e, at)
	}
	if a.blocked(ctx, &t, k, card) {
		return fmt.Errorf("attempt %d waits for a person: %w", e.Attempt, task.ErrNotNow)
	}
	text, err := a.words(&t, &e)
	if err != nil {
		return err
	}
	return a.typeIn(ctx, &t, &e, card, at, text)
}

func (a *Agents) words(t *task.Task, e *task.Effect) (string, error) {
	def, err := a.Engine.Definition(t)
	if err != nil {
		return "", err
	}
	return prompt.Message(a.facts(def, t, e)), nil
}

// letGo waits for an agent without a terminal to end, as long as the message is owed.
func (a *Agents) letGo(ctx context.Context, k Key, e *task.Effect, at *attempt) error {
	timer := time.NewTimer(lastTurn)
	defer timer.Stop()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	unwanted := a.unwanted(watching, k, e, at)
	select {
	case <-at.over:
	case err := <-unwanted: // nobody waits for its last turn
		return err
	case <-timer.C:
		if err := a.notWanted(k, e); err != nil {
			return err
		}
		if err := a.Processes.End(ctx, a.Folder(k)); err != nil {
			return err
		}
		<-at.over
	case <-a.ctx.Done():
		return task.ErrClosing
	case <-ctx.Done():
		return ctx.Err()
	}
	return fmt.Errorf("attempt %d ended before it could be told", k.Number)
}

// unwanted returns a channel that says why a message to an attempt is not wanted any more, once that is so.
func (a *Agents) unwanted(ctx context.Context, k Key, e *task.Effect, at *attempt) <-chan error {
	why := make(chan error, 1)
	a.start(func() {
		for a.pause(ctx, at, 500*time.Millisecond) {
			if err := a.notWanted(k, e); err != nil {
				why <- err
				return
			}
		}
	})
	return why
}

// notWanted says why a message to an attempt must not reach it any more: the attempt is ordered to
// end, or the effect was dropped because the task moved on. The engine ignores the receipt of
// a dropped effect.
func (a *Agents) notWanted(k Key, e *task.Effect) error {
	t, ok, err := a.Engine.Task(k.Task)
	if err != nil || !ok {
		return nil
	}
	if now, lives := t.AttemptByNumber(k.Number); !lives || now.Ending {
		return fmt.Errorf("attempt %d is to end", k.Number)
	}
	if !slices.ContainsFunc(t.Pending, func(p task.Effect) bool { return p.ID == e.ID }) {
		return fmt.Errorf("the message to attempt %d was dropped", k.Number)
	}
	return nil
}

// typeIn pastes a message once and sends it until it is acknowledged. What was pasted
// by an earlier try is only sent again.
func (a *Agents) typeIn(ctx context.Context, t *task.Task, e *task.Effect, card Card, at *attempt, text string) error {
	k := Key{t.ID, e.Attempt}
	again := slices.Contains(card.Told, e.ID)
	if !again {
		if err := a.notWanted(k, e); err != nil {
			return err
		}
		select {
		case <-at.prompted: // of an earlier prompt
		default:
		}
		if err := a.note(k, func(c *Card) { c.Told = append(c.Told, e.ID) }); err != nil { // better untold than told twice
			return err
		}
		if err := a.Terminal.Paste(ctx, t.Session, card.Window, text); err != nil {
			return err
		}
	}
	for i, wait := range patience {
		if !again && !a.pause(ctx, at, 300*time.Millisecond) { // programs take what comes at once for part of the paste
			return a.interrupted()
		}
		if err := a.notWanted(k, e); err != nil {
			return err
		}
		if i > 0 && a.blocked(ctx, t, k, card) { // a question came in between: the key would answer it
			return fmt.Errorf("attempt %d waits for a person: %w", e.Attempt, task.ErrNotNow)
		}
		if err := a.Terminal.Enter(ctx, t.Session, card.Window); err != nil {
			return err
		}
		if a.heard(ctx, at, wait) {
			return nil
		}
		if !a.Harnesses.Acknowledges(card.Harness) {
			return nil
		}
		again = true
	}
	if a.ctx.Err() != nil {
		return task.ErrClosing
	}
	if slices.Contains(card.Told, e.ID) && e.Tries > 1 {
		return nil // it is busy: what was typed is waiting in its line
	}
	return fmt.Errorf("attempt %d does not take the message: look with orange task attach %s", e.Attempt, t.ID)
}

// blocked says whether an agent waits for a person, or for its provider. What is typed
// then would be taken for an answer.
func (a *Agents) blocked(ctx context.Context, t *task.Task, k Key, card Card) bool {
	now, ok, err := a.Engine.Task(t.ID)
	if err != nil || !ok {
		now = *t
	}
	if at, ok := now.AttemptByNumber(k.Number); ok && at.Condition.Blocked() {
		return true
	}
	pane, err := a.Terminal.Capture(ctx, t.Session, card.Window)
	if err != nil {
		return false
	}
	n, ok := a.Harnesses.Screen(card.Harness, pane)
	if !ok || n.Condition == nil || !n.Condition.Blocked() || n.Condition.Name == task.Limited {
		return false // a limit that is over stays on the screen until something is typed
	}
	if err := a.condition(ctx, k, n); err != nil {
		a.Log.Warn("report what a screen shows", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
	}
	return true
}

// interrupted says why a message was not sent.
func (a *Agents) interrupted() error {
	if a.ctx.Err() != nil {
		return task.ErrClosing
	}
	return errors.New("it ended while it was told")
}

// pause waits a moment, and says no if the attempt ended meanwhile.
func (a *Agents) pause(ctx context.Context, at *attempt, d time.Duration) bool {
	return a.waitFor(ctx, at, d, nil) == passed
}

// heard waits for the agent to say that it has taken a prompt in.
func (a *Agents) heard(ctx context.Context, at *attempt, d time.Duration) bool {
	return a.waitFor(ctx, at, d, at.prompted) == came
}

// How a wait ended.
const (
	broken = iota // the attempt is over, or nobody waits any more
	passed        // the time
	came          // what was waited for
)

func (a *Agents) waitFor(ctx context.Context, at *attempt, d time.Duration, what <-chan struct{}) int {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-what:
		return came
	case <-timer.C:
		return passed
	case <-at.over:
	case <-a.ctx.Done():
	case <-ctx.Done():
	}
	return broken
}
