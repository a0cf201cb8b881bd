package server

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
	// breaths is the least time between two news that an agent has written something.
	breaths = 10 * time.Second
	// heed is how long after somebody asked what is new they are taken to be there still:
	// streams ask at least every 30 seconds.
	heed = 75 * time.Second
	// measurers is how many tasks are measured at once.
	measurers = 2
)

// sights are what is known of tasks beside their journals. What git knows is measured in
// the background: when a task is first asked for, and again when its journal or its
// worktree says that something may have changed and somebody is there to see it. Nothing
// runs in between.
type sights struct {
	store    sightStore
	rows     func(after int64, id task.ID, limit int) ([]journal.Row, <-chan struct{}, error)
	measure  func(ctx context.Context, t *task.Task) (*overview.Work, error)
	worktree func(t *task.Task) string              // folder, "" if it has none
	output   func(id task.ID, attempt int) string   // file, "" if there are no agents
	children func(t *task.Task) []signal.Child      // nil: nobody has any
	absent   func(t *task.Task) []int               // attempts that have no process; nil: nobody knows
	over     func(t *task.Task) bool                // nil: no task is
	reasons  func(t *task.Task) []engine.WaitReason // nil: nothing waits
	watcher  *filewatch.Watcher
	log      *slog.Logger

	mu      sync.Mutex
	known   map[task.ID]*sight
	checks  map[task.ID]string
	changes *list.List // of *sight, in the order in which they last changed
	mark    int64      // of the last change
	more    chan struct{}
	asked   time.Time // when somebody last wanted to know what is new
	queue   []*sight
	work    chan struct{}
	deaf    bool // something could not be watched, and that was said
}

// sight is what is known of one task.
type sight struct {
	id    task.ID
	phase phase
	work  *overview.Work // never changed: a new one takes its place
	mark  int64
	place *list.Element
	ears  map[string]func() // by folder: stops watching it
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

// sightStore reads tasks, and keeps what nobody can measure again.
type sightStore interface {
	Task(id task.ID) (task.Task, bool, error)
	LastRow() (int64, error)
	Checks() (map[task.ID]string, error)
	SetChecks(id task.ID, word string) error
}

// newSights looks at the tasks of a server.
func newSights(s *Server) *sights {
	return &sights{
		store: s.store, measure: s.measure, worktree: s.worktreeOf, output: s.outputOf, children: s.childrenOf, absent: s.absentOf, over: s.isOver, reasons: s.waitReasons, log: s.log,
		rows:    s.runtime.Follow,
		watcher: filewatch.New(), known: map[task.ID]*sight{}, checks: map[task.ID]string{}, changes: list.New(),
		more: make(chan struct{}), work: make(chan struct{}, 1),
	}
}

// start begins to look, and returns what ends it.
func (v *sights) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	if checks, err := v.store.Checks(); err != nil {
		v.warn("read the checks of pull requests", err)
	} else {
		v.mu.Lock()
		maps.Copy(v.checks, checks)
		v.mu.Unlock()
	}
	for range measurers {
		wait.Go(func() { v.look(ctx) })
	}
	if row, err := v.store.LastRow(); err != nil {
		v.warn("follow the journal", err)
	} else {
		wait.Go(func() { v.follow(ctx, row) })
	}
	return func() {
		cancel()
		wait.Wait()
		if err := v.watcher.Close(); err != nil {
			v.warn("stop watching files", err)
		}
	}
}

func (v *sights) warn(msg string, err error) {
	v.log.Warn(msg, "component", "sights", "error", err)
}

// Facts implements api.Sights. It starts nothing and waits for nothing. Of a task that is
// over and has no workspace any more it says what was measured before: whoever asks for
// all tasks there ever were does not make git look at each.
func (v *sights) Facts(t *task.Task) overview.Facts {
	gone := t.Workspace == "" && v.over != nil && v.over(t)
	v.mu.Lock()
	one := v.of(t.ID)
	if one.phase == stale && !gone {
		v.ask(one)
	}
	f := overview.Facts{Work: one.work, Checks: v.checks[t.ID]}
	v.mu.Unlock()
	f.Active = v.active(t)
	if v.absent != nil {
		f.Absent = v.absent(t)
	}
	if v.children != nil {
		f.Children = v.children(t)
	}
	if v.reasons != nil {
		f.Reasons = v.reasons(t)
	}
	return f
}

// active is when the living agents of a task last wrote anything.
func (v *sights) active(t *task.Task) map[int]time.Time {
	if len(t.Attempts) == 0 {
		return nil
	}
	out := make(map[int]time.Time, len(t.Attempts))
	for i := range t.Attempts {
		n := t.Attempts[i].Number
		if size, at, err := outputlog.Stat(v.output(t.ID, n)); err == nil && size > 0 {
			out[n] = at.UTC()
		}
	}
	return out
}

// Since implements api.Sights. That an agent writes is told every now and then.
func (v *sights) Since(mark int64) (ids []task.ID, now int64, more <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked = time.Now()
	if mark < 0 || mark > v.mark {
		return nil, v.mark, v.more
	}
	for e := v.changes.Back(); e != nil; e = e.Prev() {
		one := e.Value.(*sight)
		if one.mark <= mark {
			break
		}
		ids = append(ids, one.id)
	}
	return ids, v.mark, v.more
}

// of is what is known of a task. The caller holds the lock, as for all that follow here.
func (v *sights) of(id task.ID) *sight {
	one := v.known[id]
	if one == nil {
		one = &sight{id: id, ears: map[string]func(){}}
		v.known[id] = one
	}
	return one
}

// ask puts a task in line to be measured.
func (v *sights) ask(one *sight) {
	one.phase = queued
	v.queue = append(v.queue, one)
	v.wake()
}

func (v *sights) wake() {
	select {
	case v.work <- struct{}{}:
	default:
	}
}

// changed tells whoever waits that something else is known of a task.
func (v *sights) changed(one *sight) {
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

// heeded says whether somebody wants to know what is new.
func (v *sights) heeded() bool { return time.Since(v.asked) < heed }

// touch says that a task's work may be different now. If nobody is there to see it, it is
// looked at when somebody asks.
func (v *sights) touch(id task.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	one := v.known[id]
	switch {
	case one == nil:
	case one.phase == looking:
		one.phase = again
	case (one.phase == fresh || one.phase == stale) && v.heeded():
		v.ask(one)
	case one.phase == fresh:
		one.phase = stale
	}
}

// wrote says that an agent of a task has written something.
func (v *sights) wrote(id task.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if one := v.known[id]; one != nil && v.heeded() {
		v.changed(one)
	}
}

// forget drops what is known of a task that is deleted.
func (v *sights) forget(id task.ID) {
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

// saw keeps how the checks of a task's pull request are.
func (v *sights) saw(id task.ID, pr tracker.PR) { v.setChecks(id, overview.Checks(pr.Checks)) }

func (v *sights) setChecks(id task.ID, word string) {
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
	if err := v.store.SetChecks(id, word); err != nil {
		v.warn("keep the checks of a pull request", err)
	}
}
