package agents

import (
	"cmp"
	"context"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// ReceiveHook records what a harness's hook reports about an attempt and submits it.
func (a *Agents) ReceiveHook(ctx context.Context, k Key, harness, event string, payload []byte) error {
	n, err := a.Harnesses.ParseHook(harness, event, payload)
	if err != nil {
		return err
	}
	n.Condition.Detail = a.maskSecrets(harness, n.Condition.Detail)
	a.addTurnResult(k, harness, &n)
	a.keepNotice(k, n, nil)
	a.keepTurn(k, n)
	err = a.submitHook(ctx, k, &n)
	if n.Prompted { // only after the engine knows that the agent runs, because this ends the wait for a message
		a.acknowledgePrompt(k)
	}
	if err != nil {
		return err
	}
	if c := n.Condition.Name; (c == task.Running || c == task.Idle) && a.Harnesses.HidesFailures(harness) {
		a.checkForFailure(k)
	}
	return a.turnEnded(ctx, k, n)
}

// submitHook submits the condition that a hook reported. The lock on reports keeps an older reading of the screen from
// being submitted afterwards.
func (a *Agents) submitHook(ctx context.Context, k Key, n *agent.Notice) error {
	if at := a.watchedAttempt(k); at != nil {
		at.reports.Lock()
		defer at.reports.Unlock()
	}
	a.noteHook(k, n)
	return a.submitCondition(ctx, k, *n)
}

// unlessHookArrived submits a condition that was read from the screen or the record of an attempt, if the number of hook
// calls is still hooks, which was read before them.
func (a *Agents) unlessHookArrived(ctx context.Context, k Key, at *attempt, hooks int, n agent.Notice) error {
	at.reports.Lock()
	defer at.reports.Unlock()
	if a.hookCount(at) != hooks {
		return nil
	}
	return a.submitCondition(ctx, k, n)
}

// watchedAttempt returns an attempt that is watched, or nil.
func (a *Agents) watchedAttempt(k Key) *attempt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.live[k]
}

// keepTurn records on the card whether the agent rests after a turn, and when it acknowledged a prompt.
func (a *Agents) keepTurn(k Key, n agent.Notice) {
	if n.Condition.Name == "" && !n.Prompted {
		return
	}
	card, err := a.LoadCard(k)
	turnEnded := n.Condition.Name != "" && !n.Condition.InTurn()
	if err == nil && !turnEnded && !n.Prompted && card.TurnEnded.IsZero() {
		return
	}
	now := a.Clock().UTC()
	err = a.updateCard(k, func(c *Card) {
		if n.Prompted {
			c.Prompted = now
		}
		if c.TurnEnded = (time.Time{}); turnEnded {
			c.TurnEnded = now
		}
	})
	if err != nil {
		a.Log.Warn("keep an attempt's card", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
	}
}

// addTurnResult adds the usage of the conversation so far and the agent's last message to a notice that ends a turn,
// if the hook did not include them. An agent at a terminal may run for days, so they cannot wait for its end.
func (a *Agents) addTurnResult(k Key, harness string, n *agent.Notice) {
	if n.Condition.Name != task.Idle {
		return
	}
	card, err := a.LoadCard(k)
	if err != nil || card.Window == "" || n.Final == "" && a.isKnownIdle(k) {
		return
	}
	left := a.Harnesses.ReadOutput(harness, agent.Output{
		Log: a.OutputFile(k), Transcript: cmp.Or(n.Transcript, card.Transcript), Session: cmp.Or(n.Session, card.Session), Since: card.Since,
	})
	if n.Usage == nil {
		n.Usage = left.Usage
	}
	n.Final, n.Model = cmp.Or(n.Final, left.Final), cmp.Or(n.Model, left.Model)
}

// isKnownIdle reports whether the end of an attempt's turn is known already. A repeated report adds nothing, and the
// agent's record may still lack the message that the first one contained.
func (a *Agents) isKnownIdle(k Key) bool {
	t, ok, err := a.Task(k.Task)
	at, lives := t.AttemptByNumber(k.Number)
	return err == nil && ok && lives && at.Condition.Name == task.Idle
}

func (a *Agents) acknowledgePrompt(k Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at := a.live[k]; at != nil {
		select {
		case at.prompted <- struct{}{}:
		default:
		}
	}
}

// submitCondition submits the condition and the usage of an attempt.
func (a *Agents) submitCondition(ctx context.Context, k Key, n agent.Notice) error {
	if n.Condition.Name == "" && n.Usage == nil {
		return nil
	}
	sig := signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: k.Number, Usage: n.Usage, Model: n.Model}
	if n.Condition.Name != "" {
		sig.Condition = &n.Condition
	}
	if n.Condition.Name == task.Idle {
		sig.Final = tailText(n.Final)
	}
	_, err := a.submit(ctx, k.Task, sig)
	return err
}

// turnEnded submits the report that an agent at a terminal made at the end of a turn.
func (a *Agents) turnEnded(ctx context.Context, k Key, n agent.Notice) error {
	if n.Condition.Name != task.Idle || n.Final == "" {
		return nil
	}
	card, err := a.LoadCard(k)
	if err != nil || card.Window == "" {
		return err
	}
	report, final := a.findReport(k, card.Role, card.Harness, n.Final)
	if report == nil || report.Code == "" && report.Diagnosis == "" { // it may have more to do
		return nil
	}
	_, err = a.submit(ctx, k.Task, signal.Signal{
		Kind: signal.Outcome, Actor: task.Actor(card.Role), Attempt: k.Number, Word: report.Code, Report: report, Final: final,
	})
	return err
}
