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
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/outputlog"
	"orange/internal/view/overview"
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
	Watcher  *filewatch.Watcher // watches the worktrees and the output of agents
	Rows     func(after int64, id task.ID, limit int) ([]journal.Row, <-chan struct{}, error)
	Measure  func(ctx context.Context, t *task.Task) (*overview.Work, error)
	Worktree func(t *task.Task) string               // folder, "" if it has none
	Output   func(id task.ID, attempt int) string    // file, "" if there are no agents
	Children func(t *task.Task) []signal.Child       // nil: nobody has any
	Absent   func(t *task.Task) []int                // attempts that have no process; nil: nobody knows
	Over     func(t *task.Task) bool                 // nil: no task is
	Reasons  func(t *task.Task) []explain.WaitReason // nil: nothing waits
	Log      *slog.Logger
}

// A Service knows what the journals of tasks do not say. What git knows is measured in
// the background: when a task is first asked for, and again when its journal or its
// worktree says that something may have changed and somebody is there to see it. Nothing
// runs in between.
type Service struct {
	Options

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
		Options: o, known: map[task.ID]*measurement{}, checks: map[task.ID]string{}, changes: list.New(),
		more: make(chan struct{}), work: make(chan struct{}, 1),
	}
}

// Start begins to measure, and returns what ends it.
func (s *Service) Start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	if checks, err := s.Store.Checks(); err != nil {
		s.logWarning("read the checks of pull requests", err)
	} else {
		s.mu.Lock()
		maps.Copy(s.checks, checks)
		s.mu.Unlock()
	}
	for range measurers {
		wait.Go(func() { s.measureTasks(ctx) })
	}
	if row, err := s.Store.LastRow(); err != nil {
		s.logWarning("follow the journal", err)
	} else {
		wait.Go(func() { s.followJournal(ctx, row) })
	}
	return func() {
		cancel()
		wait.Wait()
	}
}

func (s *Service) logWarning(msg string, err error) {
	s.Log.Warn(msg, "component", "measure", "error", err)
}

// TaskFacts implements api.Measurements. It starts nothing and waits for nothing. Of a task that is
// over and has no workspace any more it says what was measured before: whoever asks for
// all tasks there ever were does not make git look at each.
func (s *Service) TaskFacts(t *task.Task) overview.Facts {
	gone := t.Workspace == "" && s.Over != nil && s.Over(t)
	s.mu.Lock()
	one := s.measurementOf(t.ID)
	if one.phase == stale && !gone {
		s.enqueueTask(one)
	}
	f := overview.Facts{Work: one.work, Checks: s.checks[t.ID]}
	s.mu.Unlock()
	f.Active = s.lastOutputTimes(t)
	if s.Absent != nil {
		f.Absent = s.Absent(t)
	}
	if s.Children != nil {
		f.Children = s.Children(t)
	}
	if s.Reasons != nil {
		f.Reasons = s.Reasons(t)
	}
	return f
}

// lastOutputTimes returns when the living agents of a task last wrote anything.
func (s *Service) lastOutputTimes(t *task.Task) map[int]time.Time {
	if len(t.Attempts) == 0 {
		return nil
	}
	out := make(map[int]time.Time, len(t.Attempts))
	for i := range t.Attempts {
		n := t.Attempts[i].Number
		if size, at, err := outputlog.Stat(s.Output(t.ID, n)); err == nil && size > 0 {
			out[n] = at.UTC()
		}
	}
	return out
}

// ChangedSince implements api.Measurements. That an agent writes is told every now and then.
func (s *Service) ChangedSince(mark int64) (ids []task.ID, now int64, more <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = time.Now()
	if mark < 0 || mark > s.mark {
		return nil, s.mark, s.more
	}
	for e := s.changes.Back(); e != nil; e = e.Prev() {
		one := e.Value.(*measurement)
		if one.mark <= mark {
			break
		}
		ids = append(ids, one.id)
	}
	return ids, s.mark, s.more
}

// measurementOf returns what is known of a task. The caller holds the lock, as for all that follow here.
func (s *Service) measurementOf(id task.ID) *measurement {
	one := s.known[id]
	if one == nil {
		one = &measurement{id: id, watches: map[string]func(){}}
		s.known[id] = one
	}
	return one
}

// enqueueTask puts a task in line to be measured.
func (s *Service) enqueueTask(one *measurement) {
	one.phase = queued
	s.queue = append(s.queue, one)
	s.wakeWorker()
}

func (s *Service) wakeWorker() {
	select {
	case s.work <- struct{}{}:
	default:
	}
}

// markChanged tells whoever waits that something else is known of a task.
func (s *Service) markChanged(one *measurement) {
	s.mark++
	one.mark = s.mark
	if one.place == nil {
		one.place = s.changes.PushBack(one)
	} else {
		s.changes.MoveToBack(one.place)
	}
	close(s.more)
	s.more = make(chan struct{})
}

// hasViewers reports whether somebody wants to know what is new.
func (s *Service) hasViewers() bool { return time.Since(s.asked) < viewerTime }

// markStale says that a task's work may be different now. If nobody is there to see it, it is
// looked at when somebody asks.
func (s *Service) markStale(id task.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.known[id]
	switch {
	case one == nil:
	case one.phase == looking:
		one.phase = again
	case (one.phase == fresh || one.phase == stale) && s.hasViewers():
		s.enqueueTask(one)
	case one.phase == fresh:
		one.phase = stale
	}
}

// markOutput says that an agent of a task has written something.
func (s *Service) markOutput(id task.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.known[id]; one != nil && s.hasViewers() {
		s.markChanged(one)
	}
}

// forgetTask drops what is known of a task that is deleted.
func (s *Service) forgetTask(id task.ID) {
	s.mu.Lock()
	one := s.known[id]
	delete(s.known, id)
	if one != nil && one.place != nil {
		s.changes.Remove(one.place)
	}
	if one != nil {
		one.stopUnwanted(nil)
	}
	_, checked := s.checks[id]
	s.mu.Unlock()
	if checked {
		s.setChecks(id, "")
	}
}

// KeepPullRequest keeps how the checks of a task's pull request are.
func (s *Service) KeepPullRequest(id task.ID, pr tracker.PR) {
	s.setChecks(id, overview.SumChecks(pr.Checks))
}

func (s *Service) setChecks(id task.ID, word string) {
	s.mu.Lock()
	same := s.checks[id] == word
	if word == "" {
		delete(s.checks, id)
	} else {
		s.checks[id] = word
	}
	if one := s.known[id]; one != nil && !same {
		s.markChanged(one)
	}
	s.mu.Unlock()
	if same {
		return
	}
	if err := s.Store.SetChecks(id, word); err != nil {
		s.logWarning("keep the checks of a pull request", err)
	}
}
