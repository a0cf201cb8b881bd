package agents

import (
	"cmp"
	"context"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// ReceiveHook takes in what a harness's hook reports about an attempt.
func (a *Agents) ReceiveHook(ctx context.Context, k Key, harness, event string, payload []byte) error {
	n, err := a.Harnesses.ParseHook(harness, event, payload)
	if err != nil {
		return err
	}
	n.Condition.Detail = a.maskSecrets(harness, n.Condition.Detail)
	a.addTurnResult(k, harness, &n)
	a.keepNotice(k, n, nil)
	a.keepTurn(k, n)
	err = a.hookSaid(ctx, k, &n)
	if n.Prompted { // after the engine knows that it runs: the message is not owed any more
		a.acknowledgePrompt(k)
	}
	if err != nil {
		return err
	}
	if c := n.Condition.Name; (c == task.Running || c == task.Idle) && a.Harnesses.HidesFailures(harness) {
		a.lookForFailure(k)
	}
	return a.turnEnded(ctx, k, n)
}

// hookSaid submits how an attempt is doing by a hook. What its screen showed before that is not submitted after it.
func (a *Agents) hookSaid(ctx context.Context, k Key, n *agent.Notice) error {
	if at := a.watchedAttempt(k); at != nil {
		at.reports.Lock()
		defer at.reports.Unlock()
	}
	a.hookCame(k, n)
	return a.submitCondition(ctx, k, *n)
}

// unlessHeard submits how an attempt is doing by its screen or its record, if no hook came since they were looked at.
func (a *Agents) unlessHeard(ctx context.Context, k Key, at *attempt, news int, n agent.Notice) error {
	at.reports.Lock()
	defer at.reports.Unlock()
	if a.newsOf(at) != news {
		return nil
	}
	return a.submitCondition(ctx, k, n)
}

// watchedAttempt is one that is watched, nil if it is not.
func (a *Agents) watchedAttempt(k Key) *attempt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.live[k]
}

// keepTurn writes down whether the agent rests after a turn, and when it took a prompt in.
func (a *Agents) keepTurn(k Key, n agent.Notice) {
	if n.Condition.Name == "" && !n.Prompted {
		return
	}
	card, err := a.LoadCard(k)
	rests := n.Condition.Name != "" && !n.Condition.InTurn()
	if err == nil && !rests && !n.Prompted && card.Rested.IsZero() {
		return
	}
	now := a.Clock().UTC()
	err = a.updateCard(k, func(c *Card) {
		if n.Prompted {
			c.Prompted = now
		}
		if c.Rested = (time.Time{}); rests {
			c.Rested = now
		}
	})
	if err != nil {
		a.Log.Warn("keep an attempt's card", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
	}
}

// addTurnResult adds to the end of a turn what the conversation has consumed so far and what
// the agent said last, where the hook does not say it. An agent at a terminal may live
// for days: neither is to be learned only when it ends.
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
	n.Final = cmp.Or(n.Final, left.Final)
}

// isKnownIdle says that the end of an attempt's turn is known already. A program that says it once more tells nothing new,
// and its record may still lack the message that a hook told.
func (a *Agents) isKnownIdle(k Key) bool {
	t, ok, err := a.Engine.Task(k.Task)
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

// submitCondition submits how an attempt is doing.
func (a *Agents) submitCondition(ctx context.Context, k Key, n agent.Notice) error {
	if n.Condition.Name == "" && n.Usage == nil {
		return nil
	}
	sig := signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: k.Number, Usage: n.Usage}
	if n.Condition.Name != "" {
		sig.Condition = &n.Condition
	}
	if n.Condition.Name == task.Idle {
		sig.Final = tailText(n.Final)
	}
	_, err := a.Engine.Submit(ctx, k.Task, sig)
	return err
}

// turnEnded reports what an agent at a terminal says about its work at the end of a turn.
func (a *Agents) turnEnded(ctx context.Context, k Key, n agent.Notice) error {
	if n.Condition.Name != task.Idle || n.Final == "" {
		return nil
	}
	card, err := a.LoadCard(k)
	if err != nil || card.Window == "" {
		return err
	}
	report, final := a.lastWords(k, card.Role, card.Harness, n.Final)
	if report == nil || report.Code == "" && report.Diagnosis == "" { // it may have more to do
		return nil
	}
	_, err = a.Engine.Submit(ctx, k.Task, signal.Signal{
		Kind: signal.Outcome, Actor: task.Actor(card.Role), Attempt: k.Number, Word: report.Code, Report: report, Final: final,
	})
	return err
}
