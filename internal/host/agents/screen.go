package agents

import (
	"context"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/outputlog"
)

// LastActive returns when an attempt last wrote anything. It also reads the screen and submits what it shows, because
// an agent that waits for a person is not silent. Callers use it only when a deadline is near.
func (a *Agents) LastActive(t *task.Task, number int) time.Time {
	k := Key{t.ID, number}
	if at := a.watchedAttempt(k); at != nil {
		a.submitScreen(t, k, at, a.hookCount(at))
	}
	_, at, err := outputlog.Stat(a.OutputFile(k))
	if err != nil {
		return time.Time{}
	}
	return at
}

// submitScreen submits a condition that the attempt's screen shows, unless a hook was called since hooks was read.
func (a *Agents) submitScreen(t *task.Task, k Key, at *attempt, hooks int) {
	card, err := a.LoadCard(k)
	if err != nil || card.Window == "" || a.Terminal == nil {
		return
	}
	ctx, cancel := context.WithTimeout(a.ctx, 5*time.Second)
	defer cancel()
	pane, err := a.Terminal.CaptureText(ctx, t.TmuxSession, card.Window)
	if err != nil {
		return
	}
	if n, ok := a.readScreen(card.Harness, pane); ok {
		if err := a.unlessHookArrived(ctx, k, at, hooks, n); err != nil {
			a.Log.Warn("report what a screen shows", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
		}
	}
}

// answerDialogs answers the questions that a program asks before it reads its prompt, such as whether it may trust the
// worktree. It reads the screen a few times and then stops.
func (a *Agents) answerDialogs(k Key, w *agent.Window) {
	a.mu.Lock()
	at := a.live[k]
	if at == nil || a.stopping {
		a.mu.Unlock()
		return
	}
	a.wait.Add(1)
	a.mu.Unlock()
	go func() {
		defer a.wait.Done()
		card, err := a.LoadCard(k)
		if !a.Harnesses.AsksFirst(card.Harness) {
			return
		}
		for wait := 500 * time.Millisecond; err == nil && wait < 20*time.Second; wait *= 2 {
			if !a.pauseFor(a.ctx, at, wait) {
				return
			}
			pane, err := a.Terminal.CaptureText(a.ctx, w.Session, w.Name)
			if err != nil {
				return
			}
			if keys, ok := a.Harnesses.TrustDialogKeys(card.Harness, pane); ok {
				if a.Terminal.TypeKeys(a.ctx, w.Session, w.Name, keys) != nil {
					return
				}
			}
		}
	}()
}
