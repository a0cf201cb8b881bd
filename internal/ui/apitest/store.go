package apitest

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// A FakeStore holds tasks, their journals and their workflows in memory. A test may set its fields while no request runs;
// Put and Change may be called at any time.
type FakeStore struct {
	Tasks     []task.Task // in order of creation
	Journals  map[task.ID][]journal.Entry
	Rows      []journal.Row                   // of all journals
	Workflows map[string]*workflow.Definition // by hash
	Err       error                           // returned by every read

	mu   sync.Mutex
	more chan struct{} // closes when there are more rows
}

// NewStore returns a store that has the given tasks, without journals.
func NewStore(tasks ...task.Task) *FakeStore {
	return &FakeStore{Tasks: tasks, Journals: map[task.ID][]journal.Entry{}, Workflows: map[string]*workflow.Definition{}, more: make(chan struct{})}
}

// AddWorkflow parses a workflow, so that tasks can be pinned to it.
func (s *FakeStore) AddWorkflow(t testing.TB, file, text string) *workflow.Definition {
	t.Helper()
	def, err := workflow.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Workflows[def.Hash] = def
	return def
}

// Put adds or replaces a task and appends entries to its journal. It wakes the streams, also
// without entries.
func (s *FakeStore) Put(t task.Task, entries ...journal.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(t, entries)
}

func (s *FakeStore) put(t task.Task, entries []journal.Entry) {
	if i := s.indexOf(t.ID); i >= 0 {
		s.Tasks[i] = t
	} else {
		s.Tasks = append(s.Tasks, t)
	}
	s.Journals[t.ID] = append(s.Journals[t.ID], entries...)
	if len(entries) == 0 {
		entries = []journal.Entry{{Task: t.ID, Seq: t.Seq}}
	}
	for i := range entries {
		text, err := journal.Encode(&entries[i])
		if err != nil {
			panic(err)
		}
		s.Rows = append(s.Rows, journal.Row{ID: s.lastRow() + 1, Entry: text})
	}
	close(s.more)
	s.more = make(chan struct{})
}

// Change changes a task without a journal entry, and wakes the streams.
func (s *FakeStore) Change(id task.ID, change func(*task.Task)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.Tasks[s.indexOf(id)]
	change(&t)
	t.Seq++
	s.put(t, nil)
}

// CutRows drops all rows but the first n, as if this were another store.
func (s *FakeStore) CutRows(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Rows = s.Rows[:n]
}

func (s *FakeStore) indexOf(id task.ID) int {
	return slices.IndexFunc(s.Tasks, func(t task.Task) bool { return t.ID == id })
}

func (s *FakeStore) lastRow() int64 {
	if len(s.Rows) == 0 {
		return 0
	}
	return s.Rows[len(s.Rows)-1].ID
}

// Definition returns the workflow of a task.
func (s *FakeStore) Definition(t *task.Task) (*workflow.Definition, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.definition(t)
}

func (s *FakeStore) definition(t *task.Task) (*workflow.Definition, error) {
	if def := s.Workflows[t.WorkflowHash]; def != nil {
		return def, nil
	}
	return nil, errors.New("there is no workflow " + t.WorkflowHash)
}

// isOver reports whether a task is in a terminal state.
func (s *FakeStore) isOver(t *task.Task) bool {
	def, err := s.definition(t)
	if err != nil {
		return false
	}
	state, ok := def.StateNamed(t.Status)
	return ok && state.Kind == workflow.Terminal
}

// Task implements api.Tasks.
func (s *FakeStore) Task(id task.ID) (task.Task, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.indexOf(id)
	if i < 0 {
		return task.Task{}, false, s.Err
	}
	return s.Tasks[i], true, s.Err
}

// NamedTasks implements api.Tasks.
func (s *FakeStore) NamedTasks(string) (out []task.Named, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.Tasks {
		t := &s.Tasks[i]
		out = append(out, task.Named{ID: t.ID, Project: t.Project, Branch: t.Branch, Status: t.Status, Summary: t.Summary, Over: s.isOver(t)})
	}
	return out, s.Err
}

// EachTask implements api.Tasks.
func (s *FakeStore) EachTask(f task.Filter, yield func(fold []byte) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if f.Project != "" && f.Project != t.Project || f.Status != "" && f.Status != t.Status || !f.All && f.Status == "" && s.isOver(t) && (f.OverSince.IsZero() || t.Since.Before(f.OverSince)) {
			continue
		}
		fold, err := json.Marshal(t)
		if err == nil {
			err = yield(fold)
		}
		if err != nil {
			return err
		}
	}
	return s.Err
}

// Journal implements api.Tasks.
func (s *FakeStore) Journal(id task.ID, after int) (out []journal.Entry, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.Journals[id] {
		if e.Seq > after {
			out = append(out, e)
		}
	}
	return out, s.Err
}

// UnsettledFinished implements api.Tasks.
func (s *FakeStore) UnsettledFinished() (out []task.Task, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.Tasks {
		if t := &s.Tasks[i]; len(t.Pending)+len(t.Attempts) > 0 && !t.Deleted && s.isOver(t) {
			out = append(out, *t)
		}
	}
	return out, s.Err
}

// Children implements api.Tasks.
func (s *FakeStore) Children(parent task.ID) (out []task.Reference, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.Parent == parent && !t.Deleted {
			out = append(out, task.Reference{ID: t.ID, Branch: t.Branch, Status: t.Status})
		}
	}
	return out, s.Err
}

// LastRow implements api.Rows.
func (s *FakeStore) LastRow() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastRow(), s.Err
}

// MovedRows implements api.Rows. It returns all rows with a move.
func (s *FakeStore) MovedRows(int) (out []int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range s.Rows {
		if strings.Contains(string(row.Entry), `"type":"`+string(journal.StatusChanged)+`"`) {
			out = append(out, row.ID)
		}
	}
	return out, s.Err
}

// Workflow implements api.Workflows.
func (s *FakeStore) Workflow(hash string) (name, file, text string, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	def := s.Workflows[hash]
	if def == nil {
		return "", "", "", false, s.Err
	}
	return def.Name, def.File, def.Text, true, s.Err
}

// FailReads makes every read return an error from now on; nil ends that. Tests whose server already runs use it instead of
// the field.
func (s *FakeStore) FailReads(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Err = err
}

// FollowJournal implements the part of api.Engine that reads the rows.
func (s *FakeStore) FollowJournal(after int64, id task.ID, limit int) (out []journal.Row, more <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range s.Rows {
		if row.ID <= after || len(out) == limit {
			continue
		}
		var e struct{ Task task.ID }
		if err := json.Unmarshal(row.Entry, &e); err != nil {
			return nil, nil, err
		}
		if id == "" || id == e.Task {
			out = append(out, row)
		}
	}
	return out, s.more, s.Err
}

// DecidingEngine decides signals by the rules of the product over the tasks of a store. Every
// branch is merged, and every effect succeeds immediately.
type DecidingEngine struct {
	*FakeStore
	Now func() time.Time

	refusals map[task.ID][]journal.Refusal
}

// Submit implements api.Engine.
func (e *DecidingEngine) Submit(_ context.Context, id task.ID, sig signal.Signal) (engine.Answer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.indexOf(id)
	if i < 0 {
		return engine.Answer{}, task.ErrNotFound
	}
	def, err := e.definition(&e.Tasks[i])
	if err != nil {
		return engine.Answer{}, err
	}
	return e.decide(def, e.Tasks[i], sig)
}

// Begin creates a task that follows a workflow.
func (e *DecidingEngine) Begin(def *workflow.Definition, n signal.New) (engine.Answer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.decide(def, task.Task{}, signal.Signal{Kind: signal.Create, Actor: task.Human, New: &n})
}

// decide decides a signal and records its effects as done.
func (e *DecidingEngine) decide(def *workflow.Definition, t task.Task, sig signal.Signal) (engine.Answer, error) {
	first, entries := engine.Decision{}, []journal.Entry(nil)
	for range 20 {
		sig.At, sig.Free, sig.Evidence = e.Now(), []string{"pool--1"}, []signal.Evidence{{Name: workflow.Merged, Holds: true}}
		d := engine.Decide(def, &t, sig)
		if len(entries) == 0 {
			first = d
		}
		if d.Verdict == engine.Refuse {
			if e.refusals == nil {
				e.refusals = map[task.ID][]journal.Refusal{}
			}
			e.refusals[t.ID] = append(e.refusals[t.ID], journal.NewRefusal(t.ID, &sig, d.Refused))
			break
		}
		next, err := journal.Fold(t, d.Entries)
		if err != nil {
			return engine.Answer{}, err
		}
		t, entries = next, append(entries, d.Entries...)
		owed, ok := engine.NextEffect(&t)
		if !ok {
			break
		}
		sig = signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: owed.ID, OK: true}}
	}
	if len(entries) > 0 {
		e.put(t, entries)
	}
	return engine.Answer{Task: t, Decision: first}, nil
}

// Create implements api.Engine. It refuses: a test that needs it defines what a new task is.
func (e *DecidingEngine) Create(context.Context, signal.NewTask) (engine.Answer, error) {
	return engine.Answer{}, task.Mistakef("no task can be created here")
}

// Explain implements api.Engine.
func (e *DecidingEngine) Explain(_ context.Context, id task.ID) (explain.Explanation, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.indexOf(id)
	if i < 0 {
		return explain.Explanation{}, task.ErrNotFound
	}
	def, err := e.definition(&e.Tasks[i])
	if err != nil {
		return explain.Explanation{}, err
	}
	return explain.TaskWithPast(def, e.Tasks[i], signal.Signal{At: e.Now()}, explain.Past{Entries: e.Journals[id], Refusals: e.refusals[id]}), nil
}

// ForkTask implements api.Engine. It refuses.
func (e *DecidingEngine) ForkTask(context.Context, task.ID, int, signal.NewTask) (engine.Answer, error) {
	return engine.Answer{}, task.Mistakef("no task can be forked here")
}

// RecordRefusal implements api.Engine.
func (e *DecidingEngine) RecordRefusal(task.ID, signal.Signal, string) {}

// Listen serves a handler on a unix socket until the test ends.
func Listen(t testing.TB, h http.Handler) (socket string, server *httptest.Server) {
	t.Helper()
	dir, err := os.MkdirTemp("", "o") // a socket's path may have 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server = &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	})
	return socket, server
}
