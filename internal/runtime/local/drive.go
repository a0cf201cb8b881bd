package local

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// drives keeps one driver per task, so that the effects of a task run in order.
type drives struct {
	mu      sync.Mutex
	running map[task.ID]bool // true: check again before leaving
	slots   chan struct{}
}

func (d *drives) init(n int) {
	d.running = make(map[task.ID]bool)
	d.slots = make(chan struct{}, n)
}

func (d *drives) len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.running)
}

// claimTask makes the caller the task's driver, or makes the present driver check again.
func (d *drives) claimTask(id task.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, busy := d.running[id]; busy {
		d.running[id] = true
		return false
	}
	d.running[id] = false
	return true
}

// leaveTask ends the caller's turn, unless new work arrived meanwhile.
func (d *drives) leaveTask(id task.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running[id] {
		d.running[id] = false
		return false
	}
	delete(d.running, id)
	return true
}

// driveAndSchedule starts the task's next effect and sets its next timer. The caller holds the task's lock, or calls
// driveLatest.
func (r *Runtime) driveAndSchedule(t *task.Task) {
	def, err := r.pinnedDefinition(t)
	if err != nil {
		r.Log.Error("read the workflow of a task", "component", "local", "task", t.ID, "error", err)
		return
	}
	r.clock.setDue(t.ID, r.nextDue(def, t))
	if e, ok := engine.NextEffect(t); ok && !e.NotBefore.After(r.now()) && !r.isPaused() {
		r.driveEffects(t.ID)
	}
}

// driveLatest is driveAndSchedule for a caller without the task's lock. A commit may set the next timer while the caller
// still looks at an older record, so it starts over with the newer one.
func (r *Runtime) driveLatest(t task.Task) task.Task {
	for {
		r.driveAndSchedule(&t)
		latest, ok, err := r.loadRecord(t.ID)
		if err != nil || !ok || latest.Seq == t.Seq {
			return t
		}
		t = latest
	}
}

// nextDue returns when the task must be checked again, or zero for never.
func (r *Runtime) nextDue(def *workflow.Definition, t *task.Task) time.Time {
	var at time.Time
	for _, tm := range r.taskTimers(def, t) {
		if at.IsZero() || tm.At.Before(at) {
			at = tm.At
		}
	}
	e, ok := engine.NextEffect(t) // an effect that may run now needs no timer
	if ok && e.NotBefore.After(r.now()) && (at.IsZero() || e.NotBefore.Before(at)) {
		at = e.NotBefore
	}
	return at
}

// driveEffects performs the task's pending effects, in the background.
func (r *Runtime) driveEffects(id task.ID) {
	if r.ctx.Err() != nil || !r.drives.claimTask(id) {
		return
	}
	if r.admitCaller() != nil {
		r.drives.leaveTask(id)
		return
	}
	go func() {
		defer r.wait.Done()
		for {
			for r.performNext(id) {
			}
			if r.drives.leaveTask(id) {
				return
			}
		}
	}()
}

// performNext performs one effect and submits its receipt. It reports whether to continue.
func (r *Runtime) performNext(id task.ID) bool {
	t, ok, err := r.loadRecord(id)
	if err != nil {
		r.recheckLater(id, err)
	}
	if err != nil || !ok || r.isPaused() || r.ctx.Err() != nil {
		return false
	}
	e, ok := engine.NextEffect(&t)
	if !ok || e.NotBefore.After(r.now()) {
		return false
	}
	if e.Do == workflow.MergeBranch && !r.mayLand(&t) {
		return false // the task before it in the queue drives this one when it leaves
	}
	if info, _ := workflow.EffectNamed(e.Do); !info.Kills { // ending an agent must not wait behind slow effects
		select {
		case r.drives.slots <- struct{}{}:
			defer func() { <-r.drives.slots }()
		case <-r.ctx.Done():
			return false
		}
	}
	if e.Do == workflow.MergeBranch {
		defer r.landings.endMerge(id, e.ID)
		if t, ok, err = r.beginMerge(id, e.ID); err != nil {
			r.recheckLater(id, err)
			return false
		}
		if !ok {
			return true // see what is next now
		}
	}
	done, err := r.performEffect(t, e)
	switch {
	case errors.Is(err, task.ErrClosing), err != nil && r.work.Err() != nil:
		return false // it was interrupted, and the next server repeats it
	case errors.Is(err, task.ErrNotNow):
		r.clock.setDue(id, r.now().Add(storeRetry))
		return false
	}
	moved, ok := r.reportFindings(&t, &e, done)
	if !ok {
		return false
	}
	for _, number := range done.Ended {
		exit := signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: number, Role: roleOf(&t, number)}
		if _, err := r.submitOwnSignal(id, exit); err != nil {
			return false // without this signal the effect is not done, and it is performed again
		}
	}
	result := signal.Receipt{
		Effect: e.ID, OK: err == nil, Note: done.Note, Base: done.Base, Salvage: done.Salvage, Aside: done.Aside, Commit: done.Landed,
		Session: done.Session, Harness: done.Harness, Model: done.Model, PromptHash: done.PromptHash,
		Landing: done.Landing, Candidate: done.Candidate, Reuse: done.Reuse, Files: done.InTheWay, Since: done.Since,
	}
	if err != nil {
		var mistake *task.Mistake
		var conflict *task.ConflictError
		result.Error, result.Final, result.Do = err.Error(), errors.As(err, &mistake), e.Do
		if errors.As(err, &conflict) {
			result.Conflict = &conflict.Conflict
		}
	}
	if m := r.landings.performing(id); m != nil && result.Commit != "" {
		result.Target, result.Moved = m.Target, moved
	}
	accepted, _ := r.submitOwnSignal(id, signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &result})
	return accepted
}

// reportFindings submits what an effect found or made true, before its receipt. If the server dies between the two, the
// effect is performed again with the same result. It also returns whether the task moved because of them, so that the effect
// is not pending any more.
func (r *Runtime) reportFindings(t *task.Task, e *task.Effect, done EffectResult) (moved, ok bool) {
	if len(done.Fields) > 0 {
		if _, err := r.submitOwnSignal(t.ID, signal.Signal{Kind: signal.Update, Actor: task.Engine, Fields: done.Fields}); err != nil {
			return false, false
		}
	}
	if done.CardSnapshot != nil {
		if _, err := r.submitOwnSignal(t.ID, signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.CardChanged, CardSnapshot: done.CardSnapshot}); err != nil {
			return false, false
		}
	}
	if done.Event != "" {
		d, err := r.decideOwnSignal(t.ID, signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: done.Event, Arg: done.Commit})
		if err != nil {
			return false, false
		}
		moved = slices.ContainsFunc(d.Entries, func(entry journal.Entry) bool { return slices.Contains(entry.Dropped, e.ID) })
	}
	return moved, true
}

// RetryEffect retries the next effect of a task now, if it waits for something else.
func (r *Runtime) RetryEffect(id task.ID) { r.clock.setDue(id, r.now()) }

// recheckLater schedules another check of a task that cannot be read now.
func (r *Runtime) recheckLater(id task.ID, why error) {
	r.Log.Error("read a task that is due", "component", "local", "task", id, "error", why)
	r.clock.setDue(id, r.now().Add(storeRetry))
}

func (r *Runtime) performEffect(t task.Task, e task.Effect) (EffectResult, error) {
	r.Fault("effect.before")
	if e.Do == workflow.SpawnNext {
		r.advanceQueue(t.Project)
	}
	done, err := EffectResult{}, r.checkBudget(&t, &e)
	if err == nil {
		done, err = r.Performer.Perform(r.work, t, e)
	}
	r.Fault("effect.after")
	return done, err
}

// When the runtime checks again a task whose signal could not be stored, and a task whose timer fired with nothing due.
const (
	storeRetry      = 15 * time.Second
	recheckInterval = time.Minute
)

// submitOwnSignal submits a signal of the runtime itself. A refusal means that the task has moved on and the signal is
// out of date.
func (r *Runtime) submitOwnSignal(id task.ID, sig signal.Signal) (accepted bool, err error) {
	d, err := r.decideOwnSignal(id, sig)
	return err == nil && d.Refused == "", err
}

// decideOwnSignal is submitOwnSignal with the decision.
func (r *Runtime) decideOwnSignal(id task.ID, sig signal.Signal) (engine.Decision, error) {
	answer, err := r.submitAdmitted(context.WithoutCancel(r.ctx), id, sig)
	if err != nil {
		r.Log.Error("submit a signal", "component", "local", "task", id, "kind", sig.Kind, "error", err)
		r.clock.setDue(id, r.now().Add(storeRetry))
		return answer.Decision, err
	}
	if answer.Decision.Refused != "" {
		level := slog.LevelDebug
		if sig.Result != nil && sig.Result.Commit != "" { // the record does not say that the work was merged
			level = slog.LevelWarn
		}
		r.Log.Log(r.ctx, level, "the engine refused a signal", "component", "local", "task", id, "kind", sig.Kind, "refused", answer.Decision.Refused)
	}
	return answer.Decision, nil
}

func roleOf(t *task.Task, number int) string {
	a, _ := t.AttemptByNumber(number)
	return a.Role
}

// fireTimers submits the timer signals of a task that are due, then performs the effects that may run.
func (r *Runtime) fireTimers(id task.ID) {
	if r.isPaused() {
		return
	}
	t, ok, err := r.loadRecord(id)
	var def *workflow.Definition
	if err == nil && ok {
		def, err = r.pinnedDefinition(&t)
	}
	if err != nil {
		r.recheckLater(id, err)
	}
	if err != nil || !ok {
		return
	}
	now, later := r.now(), recheckInterval
	for _, tm := range r.taskTimers(def, &t) {
		if tm.At.After(now) {
			continue
		}
		if tm.Name == engine.Idle { // reading its activity may take a while, and nothing waits for it
			r.checkForActivity(def, t, tm)
			continue
		}
		sig := signal.Signal{Kind: signal.Timer, Actor: task.Engine, Timer: tm.Name, Visit: tm.Visit}
		if _, err := r.submitOwnSignal(id, sig); err != nil {
			later = storeRetry
		}
	}
	if t, ok, _ = r.loadRecord(id); !ok {
		return
	}
	t = r.driveLatest(t)
	if at := r.nextDue(def, &t); !at.IsZero() && !at.After(now) {
		r.clock.setDue(id, now.Add(later)) // it is still due, and waking immediately would never end
	}
	if t.Queued { // its turn could not be stored
		r.advanceQueue(t.Project)
	}
}

// checkForActivity checks, in the background, whether a silent agent was active, and submits the timer if it was not.
func (r *Runtime) checkForActivity(def *workflow.Definition, t task.Task, tm engine.Timer) {
	if r.admitCaller() != nil {
		return
	}
	go func() {
		defer r.wait.Done()
		active := r.lastActivity(def, &t)
		if r.dueAgain(def, &t, tm) {
			r.driveLatest(t)
			return
		}
		r.submitOwnSignal(t.ID, signal.Signal{Kind: signal.Timer, Actor: task.Engine, Timer: tm.Name, Visit: tm.Visit, Active: active}) //nolint:errcheck // logged, and tried again
	}()
}

// dueAgain reports whether a timer that was computed again is not due yet.
func (r *Runtime) dueAgain(def *workflow.Definition, t *task.Task, was engine.Timer) bool {
	for _, tm := range r.taskTimers(def, t) {
		if tm.Name == was.Name {
			return tm.At.After(r.now())
		}
	}
	return false
}

// advanceQueue gives the project's queued tasks their turn, in the order of the queue, until one finds no workspace.
func (r *Runtime) advanceQueue(project string) {
	if r.isPaused() || r.admitCaller() != nil {
		return
	}
	go func() {
		defer r.wait.Done()
		ids, err := r.orderQueue(project)
		if err != nil {
			r.Log.Error("read the queue", "component", "local", "project", project, "error", err)
			return
		}
		for _, id := range ids {
			r.pool.mu.Lock()
			free := len(r.pool.freeWorkspaces(project))
			r.pool.mu.Unlock()
			if r.ctx.Err() != nil {
				return
			}
			if t, ok, err := r.loadRecord(id); free == 0 && (err != nil || !ok || t.Workspace == "") {
				continue // a task that has its workspace may wait for something else
			}
			r.submitOwnSignal(id, signal.Signal{Kind: signal.Ready, Actor: task.Engine}) //nolint:errcheck // logged, and tried again
		}
	}()
}
