package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orange/internal/core/task"
)

// sendTimeouts are how long a message may take to arrive. If it is still in the input line after one of them, Enter is
// pressed again.
var sendTimeouts = [...]time.Duration{700 * time.Millisecond, 2 * time.Second, 4 * time.Second}

// lastTurn is how long an agent without a terminal may take to end by itself before it is ended because of a message.
const lastTurn = time.Minute

// MessageAgent sends a message to a running agent: it pastes the message into the agent's terminal and presses Enter,
// if the screen allows that. An agent without a terminal cannot receive messages: MessageAgent waits for its end and
// returns an error, and the engine starts another agent with the message.
func (a *Agents) MessageAgent(ctx context.Context, t task.Task, e task.Effect) error {
	k := Key{t.ID, e.Attempt}
	card, err := a.LoadCard(k)
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
	text, err := a.Prompts.MessageText(&t, &e, a.AttemptNonce(k))
	if err != nil {
		return err
	}
	m := &message{a: a, k: k, t: t, e: e, card: card, at: at, text: text}
	return m.deliverMessage(ctx)
}

// letGo waits for an agent without a terminal to end, as long as the message is pending, and ends it after lastTurn.
func (a *Agents) letGo(ctx context.Context, k Key, e *task.Effect, at *attempt) error {
	timer := time.NewTimer(lastTurn)
	defer timer.Stop()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	unwanted := a.watchUnwanted(watching, k, e, at)
	select {
	case <-at.over:
	case err := <-unwanted: // the message was dropped
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
	return fmt.Errorf("attempt %d ended before it received the message", k.Number)
}

// watchUnwanted returns a channel that receives the error of notWanted as soon as there is one.
func (a *Agents) watchUnwanted(ctx context.Context, k Key, e *task.Effect, at *attempt) <-chan error {
	why := make(chan error, 1)
	a.goUnlessStopping(func() {
		for a.pauseFor(ctx, at, 500*time.Millisecond) {
			if err := a.notWanted(k, e); err != nil {
				why <- err
				return
			}
		}
	})
	return why
}

// notWanted returns an error if a message must no longer reach an attempt, because the attempt was ordered to end, or
// because the effect was dropped when the task moved on. The engine ignores the receipt of a dropped effect.
func (a *Agents) notWanted(k Key, e *task.Effect) error {
	t, ok, err := a.Task(k.Task)
	if err != nil || !ok {
		return nil
	}
	if now, lives := t.AttemptByNumber(k.Number); !lives || now.Ending {
		return fmt.Errorf("attempt %d was ordered to end", k.Number)
	}
	if !slices.ContainsFunc(t.Pending, func(p task.Effect) bool { return p.ID == e.ID }) {
		return fmt.Errorf("the message to attempt %d was dropped", k.Number)
	}
	return nil
}

// interruptionError returns why a message was not sent.
func (a *Agents) interruptionError() error {
	if a.ctx.Err() != nil {
		return task.ErrClosing
	}
	return errors.New("the attempt ended while the message was being sent")
}

// pauseFor waits for d. It returns false if the attempt or a context ended first.
func (a *Agents) pauseFor(ctx context.Context, at *attempt, d time.Duration) bool {
	return a.waitFor(ctx, at, d, nil) == passed
}

// awaitPrompted waits at most d until the agent acknowledges a prompt, and reports whether it did.
func (a *Agents) awaitPrompted(ctx context.Context, at *attempt, d time.Duration) bool {
	return a.waitFor(ctx, at, d, at.prompted) == arrived
}

// How a wait ended.
const (
	broken  = iota // the attempt or a context ended
	passed         // the time passed
	arrived        // the channel received
)

func (a *Agents) waitFor(ctx context.Context, at *attempt, d time.Duration, what <-chan struct{}) int {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-what:
		return arrived
	case <-timer.C:
		return passed
	case <-at.over:
	case <-a.ctx.Done():
	case <-ctx.Done():
	}
	return broken
}
