// Package measure measures the work of tasks in their repositories and tells when it changed.
package measure

import (
	"container/list"
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"orange/internal/adapter/filewatch"
	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/overview"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/outputlog"
)

const (
	// settling is how long after something happened to a task its work is looked at: one
	// thing seldom happens alone.
	settling = 150 * time.Millisecond
	// outputInterval is the least time between two news that an agent has written something.
	outputInterval = 10 * time.Second
	// viewerTime is how long after somebody asked what is new they are taken to be there still:
	// streams ask at least every 30 seconds.
	viewerTime = 75 * time.Second
	// measurers is how many tasks are measured at once.
	measurers = 2
)

// Options are what a Service needs.
type Options struct {
	Store    Store
	Rows     func(after int64, id task.ID, limit int) ([]journal.Row, <-chan struct{}, error)
	Measure  func(ctx context.Context, t *task.Task) (*overview.Work, error)
	Worktree func(t *task.Task) string              // folder, "" if it has none
	Output   func(id task.ID, attempt int) string   // file, "" if there are no agents
	Children func(t *task.Task) []signal.Child      // nil: nobody has any
	Absent   func(t *task.Task) []int               // attempts that have no process; nil: nobody knows
	Over     func(t *task.Task) bool                // nil: no task is
	Reasons  func(t *task.Task) []engine.WaitReason // nil: nothing waits
	Log      *slog.Logger
}

// A Service knows what the journals of tasks do not say. What git knows is measured in
// the background: when a task is first asked for, and again when its journal or its
// worktree says that something may have changed and somebody is there to see it. Nothing
// runs in between.
type Service struct {
	Options
	Watcher *filewatch.Watcher

	mu          sync.Mutex
	known       map[task.ID]*measurement
	checks      map[task.ID]string
	changes     *list.List // of *measurement, in the order in which they last changed
	mark        int64      // of the last change
	more        chan struct{}
	asked       time.Time // when somebody last wanted to know what is new
	queue       []*measurement
	work        chan struct{}
	watchFailed bool // something could not be watched, and that was said
}

// measurement is what is known of one task.
type measurement struct {
	id      task.ID
	phase   phase
	work    *overview.Work // never changed: a new one takes its place
	mark    int64
	place   *list.Element
	watches map[string]func() // by folder: stops watching it
}

// phase says how far the measuring of a task is.
type phase int

const (
	stale   phase = iota // it may be different by now, or was never looked at
	queued               // it will be looked at
	looking              // it is being looked at
	again                // likewise, and something happened meanwhile
	fresh
)

// A Store reads tasks, and keeps what nobody can measure again.
type Store interface {
	Task(id task.ID) (task.Task, bool, error)
	LastRow() (int64, error)
	Checks() (map[task.ID]string, error)
	SetChecks(id task.ID, word string) error
}

// New builds a Service. It measures nothing before Start.
func New(o Options) *Service {
	return &Service{
		Options: o, Watcher: filewatch.New(), known: map[task.ID]*measurement{}, checks: map[task.ID]string{}, changes: list.New(),
		more: make(chan struct{}), work: make(chan struct{}, 1),
	}
}

// Start begins to measure, and returns what ends it.
func (v *Service) Start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	if checks, err := v.Store.Checks(); err != nil {
		v.warn("read the checks of pull requests", err)
	} else {
		v.mu.Lock()
		maps.Copy(v.checks, checks)
		v.mu.Unlock()
	}
	for range measurers {
		wait.Go(func() { v.look(ctx) })
	}
	if row, err := v.Store.LastRow(); err != nil {
		v.warn("follow the journal", err)
	} else {
		wait.Go(func() { v.follow(ctx, row) })
	}
	return func() {
		cancel()
		wait.Wait()
		if err := v.Watcher.Close(); err != nil {
			v.warn("stop watching files", err)
		}
	}
}

func (v *Service) warn(msg string, err error) {
	v.Log.Warn(msg, "component", "measure", "error", err)
}

// Facts implements api.Sights. It starts nothing and waits for nothing. Of a task that is
// over and has no workspace any more it says what was measured before: whoever asks for
// all tasks there ever were does not make git look at each.
func (v *Service) Facts(t *task.Task) overview.Facts {
	gone := t.Workspace == "" && v.Over != nil && v.Over(t)
	v.mu.Lock()
	one := v.of(t.ID)
	if one.phase == stale && !gone {
		v.ask(one)
	}
	f := overview.Facts{Work: one.work, Checks: v.checks[t.ID]}
	v.mu.Unlock()
	f.Active = v.active(t)
	if v.Absent != nil {
		f.Absent = v.Absent(t)
	}
	if v.Children != nil {
		f.Children = v.Children(t)
	}
	if v.Reasons != nil {
		f.Reasons = v.Reasons(t)
	}
	return f
}

// active is when the living agents of a task last wrote anything.
func (v *Service) active(t *task.Task) map[int]time.Time {
	if len(t.Attempts) == 0 {
		return nil
	}
	out := make(map[int]time.Time, len(t.Attempts))
	for i := range t.Attempts {
		n := t.Attempts[i].Number
		if size, at, err := outputlog.Stat(v.Output(t.ID, n)); err == nil && size > 0 {
			out[n] = at.UTC()
		}
	}
	return out
}

// Since implements api.Sights. That an agent writes is told every now and then.
func (v *Service) Since(mark int64) (ids []task.ID, now int64, more <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked = time.Now()
	if mark < 0 || mark > v.mark {
		return nil, v.mark, v.more
	}
	for e := v.changes.Back(); e != nil; e = e.Prev() {
		one := e.Value.(*measurement)
		if one.mark <= mark {
			break
		}
		ids = append(ids, one.id)
	}
	return ids, v.mark, v.more
}

// of is what is known of a task. The caller holds the lock, as for all that follow here.
func (v *Service) of(id task.ID) *measurement {
	one := v.known[id]
	if one == nil {
		one = &measurement{id: id, watches: map[string]func(){}}
		v.known[id] = one
	}
	return one
}

// ask puts a task in line to be measured.
func (v *Service) ask(one *measurement) {
	one.phase = queued
	v.queue = append(v.queue, one)
	v.wake()
}

func (v *Service) wake() {
	select {
	case v.work <- struct{}{}:
	default:
	}
}

// changed tells whoever waits that something else is known of a task.
func (v *Service) changed(one *measurement) {
	v.mark++
	one.mark = v.mark
	if one.place == nil {
		one.place = v.changes.PushBack(one)
	} else {
		v.changes.MoveToBack(one.place)
	}
	close(v.more)
	v.more = make(chan struct{})
}

// hasViewers says whether somebody wants to know what is new.
func (v *Service) hasViewers() bool { return time.Since(v.asked) < viewerTime }

// touch says that a task's work may be different now. If nobody is there to see it, it is
// looked at when somebody asks.
func (v *Service) touch(id task.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	one := v.known[id]
	switch {
	case one == nil:
	case one.phase == looking:
		one.phase = again
	case (one.phase == fresh || one.phase == stale) && v.hasViewers():
		v.ask(one)
	case one.phase == fresh:
		one.phase = stale
	}
}

// wrote says that an agent of a task has written something.
func (v *Service) wrote(id task.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if one := v.known[id]; one != nil && v.hasViewers() {
		v.changed(one)
	}
}

// forget drops what is known of a task that is deleted.
func (v *Service) forget(id task.ID) {
	v.mu.Lock()
	one := v.known[id]
	delete(v.known, id)
	if one != nil && one.place != nil {
		v.changes.Remove(one.place)
	}
	if one != nil {
		one.unwatch(nil)
	}
	_, checked := v.checks[id]
	v.mu.Unlock()
	if checked {
		v.setChecks(id, "")
	}
}

// KeepPullRequest keeps how the checks of a task's pull request are.
func (v *Service) KeepPullRequest(id task.ID, pr tracker.PR) {
	v.setChecks(id, overview.SumChecks(pr.Checks))
}

func (v *Service) setChecks(id task.ID, word string) {
	v.mu.Lock()
	same := v.checks[id] == word
	if word == "" {
		delete(v.checks, id)
	} else {
		v.checks[id] = word
	}
	if one := v.known[id]; one != nil && !same {
		v.changed(one)
	}
	v.mu.Unlock()
	if same {
		return
	}
	if err := v.Store.SetChecks(id, word); err != nil {
		v.warn("keep the checks of a pull request", err)
	}
}
