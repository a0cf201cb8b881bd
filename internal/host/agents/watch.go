package agents

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"orange/internal/backoff"
	"orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// AdoptAttempts watches the attempts of tasks that are not over. It reports the end of those that no longer run. It
// ignores an attempt that was never started: the effect that starts it is still pending.
func (a *Agents) AdoptAttempts(tasks []task.Task) {
	for i := range tasks {
		for _, at := range tasks[i].Attempts {
			k := Key{tasks[i].ID, at.Number}
			if err := a.adoptAttempt(k, at.Running); err != nil {
				a.adoptLater(k, at.Running, err)
			}
		}
	}
}

// adoptAttempt watches one attempt. It returns an error if it cannot read the attempt's files, because that does not
// mean that the attempt is over.
func (a *Agents) adoptAttempt(k Key, running bool) error {
	phase, pids, err := a.Processes.ReadPhase(a.Folder(k))
	switch {
	case err != nil:
		return err
	case phase != agent.Absent:
		if err := a.watchAttempt(k, pids); err != nil {
			return err
		}
		if t, ok, err := a.Task(k.Task); err == nil && ok {
			a.watchStart(k, t.TmuxSession)
			a.restoreShown(k, t)
		}
		return nil
	case !running:
		return nil
	}
	a.goUnlessStopping(func() {
		if err := a.Processes.EndKeyCarriers(a.ctx, a.attemptMark(k)); err != nil {
			a.Log.Error("end what is left of an attempt", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
		}
		a.reportEnd(k, agent.Exit{Code: -1, Reason: "no process of it is left"})
	})
	return nil
}

// retries are the waits before something about an attempt is tried again.
var retries = backoff.Backoff{First: time.Second, Most: time.Minute}

// adoptLater keeps trying to adopt an attempt whose files cannot be read.
func (a *Agents) adoptLater(k Key, running bool, why error) {
	a.Log.Error("watch an attempt", "component", "agents", "task", k.Task, "attempt", k.Number, "error", why)
	a.goUnlessStopping(func() {
		for n := 0; retries.Wait(a.ctx, n) == nil && a.adoptAttempt(k, running) != nil; n++ {
		}
	})
}

// goUnlessStopping runs f in a goroutine, unless the server is stopping.
func (a *Agents) goUnlessStopping(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.stopping {
		a.wait.Go(f)
	}
}

// watchAttempt makes sure that the end of an attempt is reported exactly once.
func (a *Agents) watchAttempt(k Key, pids []int) error {
	a.mu.Lock()
	if _, known := a.live[k]; known || a.stopping {
		a.mu.Unlock()
		return nil
	}
	at := &attempt{over: make(chan struct{}), prompted: make(chan struct{}, 1), pids: pids}
	a.live[k] = at
	for _, pid := range pids {
		a.pids[pid] = k
	}
	a.mu.Unlock()
	err := a.Processes.Watch(a.Folder(k), func(x agent.Exit) {
		a.mu.Lock()
		stopping := a.stopping
		if !stopping {
			a.wait.Add(1)
		}
		a.mu.Unlock()
		defer close(at.over)
		if stopping { // the next server finds the record
			return
		}
		defer a.wait.Done()
		defer a.forgetAttempt(k)
		a.reportEnd(k, x)
	})
	if err != nil {
		a.forgetAttempt(k)
	}
	return err
}

func (a *Agents) forgetAttempt(k Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at := a.live[k]; at != nil {
		for _, pid := range at.pids {
			if a.pids[pid] == k {
				delete(a.pids, pid)
			}
		}
	}
	delete(a.live, k)
}

// reportEnd submits the end of an attempt with its usage, its report and its last lines. It repeats the signal until
// the engine has stored it or the server stops.
func (a *Agents) reportEnd(k Key, x agent.Exit) {
	card, err := a.LoadCard(k)
	if err != nil {
		a.Log.Warn("read an attempt's card", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
	}
	a.removeTmuxFolder(k)
	if card.Check != "" {
		a.reportCheckEnd(k, x)
		return
	}
	left := a.Harnesses.ReadOutput(card.Harness, agent.Output{Log: a.OutputFile(k), Transcript: card.Transcript, Session: card.Session, Headless: card.Window == "", Since: card.Since})
	a.keepNotice(k, left, &x)
	last := a.lastLines(k, card, left.Failure)
	sig := signal.Signal{
		Kind: signal.Exit, Actor: task.Engine, Attempt: k.Number, Role: card.Role, Code: x.Code, Note: x.DescribeCause(), Mass: x.Mass,
		Usage: left.Usage, Model: left.Model, Last: last, Unstarted: a.couldNotStart(k, card, left, x),
	}
	if sig.Report, sig.Final = a.findReport(k, card.Role, card.Harness, left.Final); sig.Report == nil {
		sig.Final = tailText(strings.TrimSpace(cmp.Or(left.Final, card.Final)))
	}
	if r := sig.Report; r != nil && r.Code == "" {
		a.Log.Warn("an attempt did not report a result", "component", "agents", "task", k.Task, "attempt", k.Number, "role", card.Role, "seen", r.Diagnosis)
	}
	if left.Condition.Name == task.Limited { // no other condition explains an end
		sig.Condition = &left.Condition
	}
	a.submitSignal(k, sig)
}

// keepNotice records on the attempt's card what a harness reported.
func (a *Agents) keepNotice(k Key, n agent.Notice, x *agent.Exit) {
	if x == nil && n.Session == "" && n.Transcript == "" && n.Final == "" && n.Usage == nil {
		return
	}
	err := a.updateCard(k, func(c *Card) {
		for _, set := range []struct{ to, from *string }{{&c.Session, &n.Session}, {&c.Transcript, &n.Transcript}, {&c.Final, &n.Final}, {&c.Model, &n.Model}} {
			if *set.from != "" {
				*set.to = *set.from
			}
		}
		c.Reported = c.Reported || n.Session != ""
		if n.Usage != nil {
			c.Usage = maxUsage(c.Usage, n.Usage)
		}
		if x != nil {
			c.Code, c.Mass = &x.Code, x.Mass
		}
	})
	if err != nil {
		a.Log.Warn("keep an attempt's card", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
	}
}

// maxUsage returns the larger of two usages, figure by figure, because a usage that shrinks is incomplete.
func maxUsage(a, b *task.Usage) *task.Usage {
	if a == nil {
		return b
	}
	sum := a.Plus(b.Minus(*a))
	return &sum
}

// submit hands a signal to the engine and says why it was refused. A task that is gone refuses everything.
func (a *Agents) submit(ctx context.Context, id task.ID, sig signal.Signal) (refused string, err error) {
	answer, err := a.Engine.Submit(ctx, id, sig)
	if errors.Is(err, task.ErrNotFound) {
		return err.Error(), nil
	}
	return answer.Decision.Refused, err
}

// submitSignal submits a signal and repeats that until the engine has stored it or the server stops.
func (a *Agents) submitSignal(k Key, sig signal.Signal) {
	for n := 0; ; n++ {
		refused, err := a.submit(context.WithoutCancel(a.ctx), k.Task, sig)
		if err == nil {
			if refused != "" {
				a.Log.Debug("the engine refused a signal", "component", "agents", "task", k.Task, "kind", sig.Kind, "refused", refused)
			}
			return
		}
		a.Log.Error("report an attempt", "component", "agents", "task", k.Task, "attempt", k.Number, "kind", sig.Kind, "error", err)
		if retries.Wait(a.ctx, n) != nil {
			return
		}
	}
}

// EndAttempts ends attempts of a task and returns when their processes are gone and their end is submitted.
func (a *Agents) EndAttempts(ctx context.Context, t task.Task, numbers []int) error {
	for _, n := range numbers {
		k := Key{t.ID, n}
		if err := a.Processes.End(ctx, a.Folder(k)); err != nil {
			return err
		}
		a.mu.Lock()
		at := a.live[k]
		a.mu.Unlock()
		if at != nil {
			select {
			case <-at.over:
			case <-a.ctx.Done():
				return task.ErrClosing
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		a.closeWindow(ctx, &t, k)
		a.removeTmuxFolder(k)
	}
	return nil
}

// closeWindow closes an attempt's window. The session ends with its last window.
func (a *Agents) closeWindow(ctx context.Context, t *task.Task, k Key) {
	card, err := a.LoadCard(k)
	if a.Terminal == nil || err != nil || card.Window == "" || t.TmuxSession == "" {
		return
	}
	if err := a.Terminal.CloseWindow(ctx, t.TmuxSession, card.Window); err != nil {
		a.Log.Warn("close a window", "component", "agents", "task", t.ID, "window", card.Window, "error", err)
	}
}

// ClearSession closes a task's terminal session.
func (a *Agents) ClearSession(ctx context.Context, t task.Task) error {
	if a.Terminal == nil || t.TmuxSession == "" {
		return nil
	}
	return a.Terminal.CloseSession(ctx, t.TmuxSession)
}

// RenameSession gives the task's terminal session the name of its new branch.
func (a *Agents) RenameSession(ctx context.Context, t task.Task) (session string, err error) {
	if a.Terminal == nil || t.TmuxSession == "" {
		return "", nil
	}
	to := a.Terminal.SessionName(t.Project, t.Branch)
	if to == t.TmuxSession {
		return to, nil
	}
	return to, a.Terminal.RenameSession(ctx, t.TmuxSession, to)
}

// AttemptNumbers lists the numbers of a task's attempts that have a card, oldest first.
func (a *Agents) AttemptNumbers(t *task.Task) []int {
	var out []int
	for n := 1; n <= t.AttemptCount(); n++ {
		if card, err := a.LoadCard(Key{t.ID, n}); err == nil && card.Role != "" {
			out = append(out, n)
		}
	}
	return out
}
