// Package measure measures the work of tasks in their repositories and reports when it changed.
package measure

import (
	"container/list"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"orange/internal/adapter/filewatch"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/lazy"
	"orange/internal/outputlog"
	"orange/internal/view/ansi"
	"orange/internal/view/overview"
)

const (
	// settling is how long to wait after a change of a task before its work is measured, because changes seldom come
	// alone.
	settling = 150 * time.Millisecond
	// outputInterval is the least time between two reports that an agent has written something.
	outputInterval = 10 * time.Second
	// viewerTime is how long after a call of ChangedSince somebody counts as watching. Streams call it at least every
	// 30 seconds.
	viewerTime = 75 * time.Second
	// measurers is how many tasks are measured at the same time.
	measurers = 2
)

// MeasureOptions are what a Service needs.
type MeasureOptions struct {
	Store    MeasurementStore
	Watcher  *filewatch.Watcher // watches the worktrees and the output of agents
	Rows     func(after int64, id task.ID, limit int) ([]journal.Row, <-chan struct{}, error)
	Measure  func(ctx context.Context, t *task.Task) (*overview.Work, error)
	Worktree func(t *task.Task) string               // folder, "" if it has none
	Output   func(id task.ID, attempt int) string    // file, "" if there are no agents
	Children func(t *task.Task) []signal.Child       // nil: no task has any
	Absent   func(t *task.Task) []int                // attempts that have no process; nil: unknown
	Over     func(t *task.Task) bool                 // nil: no task is over
	Reasons  func(t *task.Task) []explain.WaitReason // nil: nothing waits
	Log      *slog.Logger
}

// A Service provides facts about tasks that their journals do not contain. It runs git in the background: when the facts
// of a task are first read, and again when the journal or the worktree may have changed and somebody is watching. Nothing
// runs in between.
type Service struct {
	MeasureOptions

	mu          sync.Mutex
	known       map[task.ID]*measurement
	checks      map[task.ID]string
	changes     *list.List // of *measurement, in the order in which they last changed
	mark        int64      // of the last change
	more        chan struct{}
	asked       time.Time // when ChangedSince was last called
	queue       []*measurement
	work        chan struct{}
	watchFailed bool // something could not be watched, and that was logged
}

// measurement is what is known about one task.
type measurement struct {
	id      task.ID
	phase   phase
	work    *overview.Work // never modified, only replaced
	mark    int64
	place   *list.Element
	watches map[string]func() // by folder: stops watching it
}

// phase is the state of a measurement.
type phase int

const (
	stale     phase = iota // out of date, or never measured
	queued                 // waiting to be measured
	measuring              // being measured
	again                  // being measured, and something changed meanwhile
	fresh
)

// A MeasurementStore reads tasks, and keeps what cannot be measured again.
type MeasurementStore interface {
	Task(id task.ID) (task.Task, bool, error)
	LastRow() (int64, error)
	Checks() (map[task.ID]string, error)
	SetChecks(id task.ID, word string) error
}

// New returns a Service. It measures nothing before Start.
func New(o MeasureOptions) *Service {
	return &Service{
		MeasureOptions: o, known: map[task.ID]*measurement{}, checks: map[task.ID]string{}, changes: list.New(),
		more: make(chan struct{}), work: make(chan struct{}, 1),
	}
}

// Start begins to measure, and returns a function that ends it.
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

// TaskFacts implements api.Measurements. It does not wait for git. It never measures a task that is over and has no
// workspace any more, so that listing all tasks does not run git for each.
func (s *Service) TaskFacts(t *task.Task) overview.Facts {
	gone := t.Workspace == "" && s.Over != nil && s.Over(t)
	s.mu.Lock()
	one := s.measurementOf(t.ID)
	if one.phase == stale && !gone {
		s.enqueueTask(one)
	}
	f := overview.Facts{Work: one.work, Checks: s.checks[t.ID]}
	s.mu.Unlock()
	f.Active, f.Output = s.lastOutput(t)
	f.Absent = s.AbsentAttempts(t)
	if s.Children != nil {
		f.Children = s.Children(t)
	}
	if s.Reasons != nil {
		f.Reasons = s.Reasons(t)
	}
	return f
}

// AbsentAttempts implements api.Measurements.
func (s *Service) AbsentAttempts(t *task.Task) []int {
	if s.Absent == nil {
		return nil
	}
	return s.Absent(t)
}

// lastOutput returns when the running agents of a task last wrote anything, and the last lines of those that write lines.
func (s *Service) lastOutput(t *task.Task) (times map[int]time.Time, lines map[int]string) {
	if len(t.Attempts) == 0 {
		return nil, nil
	}
	times, lines = make(map[int]time.Time, len(t.Attempts)), map[int]string{}
	for i := range t.Attempts {
		n := t.Attempts[i].Number
		file := s.Output(t.ID, n)
		size, at, err := outputlog.Stat(file)
		if err != nil || size == 0 {
			continue
		}
		times[n] = at.UTC()
		if !t.Attempts[i].Ending {
			if line := lastLine(file); line != "" {
				lines[n] = line
			}
		}
	}
	return times, lines
}

// maxTail is how much of the end of an output is read for its last line, in bytes.
const maxTail = 2 << 10

// cursorMoves matches what programs write that draw a screen instead of lines: sequences that move the cursor or erase.
var cursorMoves = lazy.NewRegexp(`\x1b\[[0-9;?]*[A-HJKSTf]|\x1b\[\?[0-9;]*[hl]|\x1b[78M]`)

// lastLine returns the last line of an output that has text, or "" if the program draws a screen: its output is then no
// text to read from the end.
func lastLine(file string) string {
	log, err := outputlog.Open(file)
	if err != nil {
		return ""
	}
	defer log.Close()
	tail := make([]byte, min(maxTail, log.Size()))
	n, err := log.ReadAt(tail, log.Size()-int64(len(tail)))
	if err != nil && !errors.Is(err, io.EOF) || cursorMoves.Match(tail[:n]) {
		return ""
	}
	lines := strings.Split(strings.ToValidUTF8(string(tail[:n]), ""), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(ansi.OneLine(lines[i])); line != "" && (i > 0 || int64(n) == log.Size()) {
			return line
		}
	}
	return ""
}

// ChangedSince implements api.Measurements. A task whose agent writes output counts as changed every outputInterval.
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

// measurementOf returns the measurement of a task, and makes it if there is none. The caller holds s.mu.
func (s *Service) measurementOf(id task.ID) *measurement {
	one := s.known[id]
	if one == nil {
		one = &measurement{id: id, watches: map[string]func(){}}
		s.known[id] = one
	}
	return one
}

// enqueueTask queues a task to be measured. The caller holds s.mu.
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

// markChanged wakes the callers that wait for a change of a task. The caller holds s.mu.
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

// hasViewers reports whether somebody is watching. The caller holds s.mu.
func (s *Service) hasViewers() bool { return time.Since(s.asked) < viewerTime }

// markStale marks that a task's work may have changed. If nobody is watching, it is measured when its facts are read.
func (s *Service) markStale(id task.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.known[id]
	switch {
	case one == nil:
	case one.phase == measuring:
		one.phase = again
	case (one.phase == fresh || one.phase == stale) && s.hasViewers():
		s.enqueueTask(one)
	case one.phase == fresh:
		one.phase = stale
	}
}

// markOutput marks that an agent of a task has written something.
func (s *Service) markOutput(id task.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.known[id]; one != nil && s.hasViewers() {
		s.markChanged(one)
	}
}

// forgetTask drops the measurement of a task that was deleted.
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

// KeepPullRequest stores the result of the checks of a task's pull request.
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
		s.logWarning("store the checks of a pull request", err)
	}
}
