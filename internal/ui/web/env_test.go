package web_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/api"
	"orange/internal/ui/apitest"
	"orange/internal/ui/client"
	"orange/internal/ui/web"
	"orange/internal/view/ansi"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

const token = "a-token-of-the-tests"

// epoch is when everything in the tests happened.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// backend is the API server, over tasks that the rules of the product move, and what was
// asked of it. The site is a client of it.
type backend struct {
	*apitest.DecidingEngine
	t      testing.TB
	api    *api.Server
	def    *workflow.Definition // of its tasks
	socket string

	mu      sync.Mutex
	facts   map[task.ID]overview.Facts
	heard   []signal.Signal
	created []signal.NewTask
	headers []http.Header // of every request
	paths   []string      // likewise, with their queries
	typed   []string      // into terminals, behind the role
	screen  wire.Screen   // of every terminal
	keys    []string      // pressed in terminals
	code    string        // that every signal must give back, "" for none
	refusal string        // why a signal is refused, in place of the engine's words
	read    func()        // called when a journal was read, unless nil
}

func newBackend(t testing.TB) *backend {
	t.Helper()
	w := &backend{t: t, facts: map[task.ID]overview.Facts{}, refusal: "gate: it has no <b>plan</b>: write one"}
	w.DecidingEngine = &apitest.DecidingEngine{FakeStore: apitest.NewStore(), Now: func() time.Time { return epoch }}
	w.def = w.AddWorkflow(t, "t.yaml", boardWorkflow)
	w.api = apitest.NewServer(w.FakeStore)
	w.api.Engine, w.api.Tasks, w.api.Measurements, w.api.Screens, w.api.Release = w, w, w, terminals{Screens: apitest.Screens{}, w: w}, "test"
	w.api.Projects = apitest.Projects{{Name: "shop", Path: "/src/shop", PoolSize: 4}, {Name: "api", Path: "/src/api", PoolSize: 2}}
	w.api.Library = apitest.FakeLibrary{{Name: "orange"}}
	w.api.Inbox = w.inbox
	handler := w.api.Handler()
	w.socket, _ = apitest.Listen(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.headers = append(w.headers, r.Header.Clone())
		w.paths = append(w.paths, r.URL.String())
		w.mu.Unlock()
		handler.ServeHTTP(rw, r)
	}))
	return w
}

// boardWorkflow is what the tasks of a backend follow.
const boardWorkflow = `name: t
version: 1
roles:
  worker: {describe: works, harness: task, prompt: worker}
gates:
  merged: {evidence: merged}
states:
  pending: {kind: queued}
  working: {kind: agent, role: worker, deadline: {wall: 5h}}
  reviewing: {kind: human}
  done: {kind: terminal}
  cancelled: {kind: terminal}
edges:
  - {from: new, to: pending, on: create, by: [human]}
  - {from: pending, to: working, on: [request, ready], as: complete, by: [human, engine]}
  - {from: working, to: reviewing, as: complete, by: [human]}
  - {from: reviewing, to: working, as: request-changes, by: [human]}
  - {from: reviewing, to: done, as: complete, by: [human], gate: merged}
  - {from: [pending, reviewing], to: cancelled, as: cancel, by: [human]}
prompts:
  worker: do it
`

// add puts tasks into the store, as if they were created in their states.
func (w *backend) add(tasks ...task.Task) {
	for _, t := range tasks {
		e := journal.Entry{Task: t.ID, Seq: 1, At: epoch, Type: journal.TaskCreated, Actor: task.Human, Rules: engine.Rules, Move: journal.Move{To: t.Status},
			Creation: journal.Creation{Workflow: w.def.Name, WorkflowHash: w.def.Hash, New: &signal.New{ID: t.ID, Project: t.Project, Branch: t.Branch, Summary: t.Summary}}}
		t.Workflow, t.WorkflowHash, t.Rules, t.Seq, t.Visit, t.CreatedAt, t.Since, t.UpdatedAt = w.def.Name, w.def.Hash, engine.Rules, 1, 1, epoch, epoch, epoch
		w.Put(t, e)
	}
}

// setFacts sets what is known of a task beside its journal.
func (w *backend) setFacts(id task.ID, f overview.Facts) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.facts[id] = f
}

// AbsentAttempts implements api.Measurements.
func (w *backend) AbsentAttempts(t *task.Task) []int { return w.TaskFacts(t).Absent }

// TaskFacts implements api.Measurements.
func (w *backend) TaskFacts(t *task.Task) overview.Facts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.facts[t.ID]
}

// ChangedSince implements api.Measurements.
func (*backend) ChangedSince(int64) ([]task.ID, int64, <-chan struct{}) { return nil, 1, nil }

// Journal implements api.Tasks.
func (w *backend) Journal(id task.ID, after int) ([]journal.Entry, error) {
	if w.read != nil {
		defer w.read()
	}
	return w.FakeStore.Journal(id, after)
}

// pause pauses or resumes all tasks, as somebody else would.
func (w *backend) pause(paused bool) {
	w.t.Helper()
	c := client.New(w.socket)
	defer c.Close()
	do := c.ResumeAll
	if paused {
		do = c.PauseAll
	}
	if err := do(w.t.Context()); err != nil {
		w.t.Error(err)
	}
}

func (w *backend) inbox(context.Context, string) (out []explain.Item, err error) {
	for i := range w.Tasks {
		if it, ok := explain.InboxItem(w.def, w.Tasks[i]); ok {
			out = append(out, it)
		}
	}
	return out, nil
}

// Submit implements api.Engine.
func (w *backend) Submit(ctx context.Context, id task.ID, sig signal.Signal) (engine.Answer, error) {
	w.mu.Lock()
	w.heard = append(w.heard, sig)
	code, refusal := w.code, w.refusal
	w.mu.Unlock()
	if code != "" && sig.Confirm != code {
		return engine.Answer{Decision: engine.Decision{Verdict: engine.Refuse, Refused: "a code was sent by notification", Reasons: []engine.Reason{{Rule: engine.RuleConfirm}}}}, nil
	}
	a, err := w.DecidingEngine.Submit(ctx, id, sig)
	if a.Decision.Verdict == engine.Refuse && refusal != "" {
		a.Decision.Refused = refusal
	}
	if a.Decision.Verdict != engine.Refuse && sig.Verb == engine.VerbAnswer {
		w.Change(id, func(t *task.Task) { // the agent continues
			t.Attempts = slices.Clone(t.Attempts)
			for i := range t.Attempts {
				t.Attempts[i].Condition = task.Condition{Name: task.Running}
			}
		})
	}
	return a, err
}

// Create implements api.Engine.
func (w *backend) Create(_ context.Context, n signal.NewTask) (engine.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.created = append(w.created, n)
	return engine.Answer{Task: task.Task{ID: "Anewtask0000000000000", Project: n.Project, Branch: n.Branch, Status: "pending"}}, nil
}

// terminals are those of agents that ask something.
type terminals struct {
	apitest.Screens
	w *backend
}

// TypeText implements api.Screens.
func (s terminals) TypeText(_ context.Context, t task.Task, role, text string) error {
	asks := func(a task.Attempt) bool {
		return a.Condition.Name == task.WaitingPermission || a.Condition.Name == task.WaitingInput
	}
	if !slices.ContainsFunc(t.Attempts, asks) {
		return task.Mistakef("no agent of it asks at a terminal")
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.typed = append(s.w.typed, role+": "+text)
	return nil
}

// ReadScreen implements api.Screens.
func (s terminals) ReadScreen(context.Context, task.Task, string) (wire.Screen, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	return s.w.screen, nil
}

// PressKey implements api.Screens.
func (s terminals) PressKey(_ context.Context, t task.Task, in wire.KeyInput) error {
	s.w.mu.Lock()
	shown := s.w.screen.Seen
	if shown == in.Seen {
		s.w.keys = append(s.w.keys, in.Role+": "+in.Key)
	}
	s.w.mu.Unlock()
	if shown != in.Seen {
		return task.Mistakef("the terminal shows something else now: look again")
	}
	s.w.Change(t.ID, func(t *task.Task) { // the agent continues
		t.Attempts = slices.Clone(t.Attempts)
		t.Attempts[0].Condition = task.Condition{Name: task.Running}
	})
	return nil
}

// askPermission lets the worker of a task open a dialog.
func (w *backend) askPermission(id task.ID) {
	w.mu.Lock()
	w.screen = wire.Screen{Attempt: 1, Role: "worker", Alive: true, Dialog: true, Seen: "dialog-1", Lines: []ansi.Line{{{Text: "rm -rf <build>"}}, {{Text: "Do you want to proceed?"}}, {}},
		Choices: []ansi.DialogChoice{{Key: "1", Label: "Yes"}, {Key: "2", Label: "No, <b>stop</b>"}}}
	w.mu.Unlock()
	w.Change(id, func(t *task.Task) {
		t.Attempts = slices.Clone(t.Attempts)
		t.Attempts[0].Condition = task.Condition{Name: task.WaitingPermission, Since: epoch}
	})
}

// last returns the last signal that was submitted.
func (w *backend) last() signal.Signal {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.heard) == 0 {
		return signal.Signal{}
	}
	return w.heard[len(w.heard)-1]
}

// env is a site of a backend on a listener of its own.
type env struct {
	*httptest.Server
	backend *backend
	addr    string
	opts    web.SiteOptions
}

// newEnv opens a site of the backend.
func newEnv(t testing.TB, w *backend, change ...func(*web.SiteOptions)) *env {
	t.Helper()
	h := &env{backend: w}
	h.opts = options(h, w)
	for _, f := range change {
		f(&h.opts)
	}
	h.open(t, "127.0.0.1:0")
	t.Cleanup(func() { h.shut() })
	return h
}

func options(h *env, w *backend) web.SiteOptions {
	now := func() time.Time { return epoch.Add(3 * time.Hour) }
	return web.SiteOptions{
		API: client.New(w.socket), Socket: func() string { return w.socket }, Log: slog.New(slog.DiscardHandler), Token: token, Codes: web.NewCodes(now),
		Address: func() string { return h.addr }, Now: now,
	}
}

// open listens at an address.
func (h *env) open(t testing.TB, addr string) {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	h.addr = l.Addr().String()
	h.Server = &httptest.Server{Listener: l, Config: &http.Server{Handler: web.New(h.opts).Handler()}}
	h.Start()
}

// shut ends the site and every connection to it.
func (h *env) shut() {
	h.CloseClientConnections()
	h.Close()
}

// visitor is somebody with a browser that has no script.
func (h *env) visitor(t testing.TB) *visitor {
	t.Helper()
	v := &visitor{t: t, env: h, client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	res, _ := v.get("/?token=" + token)
	if res.StatusCode != http.StatusSeeOther {
		t.Fatalf("login: status %d", res.StatusCode)
	}
	v.cookies = res.Cookies()
	return v
}

type visitor struct {
	t       testing.TB
	env     *env
	client  *http.Client
	cookies []*http.Cookie
	csrf    string
}
