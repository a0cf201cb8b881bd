package web_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/ui/web"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

const token = "a-token-of-the-tests"

// epoch is when everything in the tests happened.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a server that keeps a state and speaks the API: what the site is a client of.
type world struct {
	t      testing.TB
	socket string

	mu      sync.Mutex
	state   overview.State
	changed []task.ID     // by row of the journal
	more    chan struct{} // closes when there are more rows
	heard   []signal.Signal
	wishes  []signal.NewTask
	headers []http.Header // of every request
	paths   []string      // likewise, with their queries
	asked   string        // what every task asks for approval of, "" for nothing
	typed   []string      // into terminals, behind the role
	code    string        // that every signal must give back, "" for none
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, more: make(chan struct{})}
	w.begin(t)
	return w
}

// begin lets the world answer.
func (w *world) begin(t testing.TB) {
	t.Helper()
	w.socket = filepath.Join(t.TempDir(), "s")
	w.state = overview.State{At: epoch, Version: "test", Projects: []overview.Project{{Name: "shop", Path: "/src/shop", Pool: 4}, {Name: "api", Path: "/src/api", Pool: 2}}}
	l, err := net.Listen("unix", w.socket)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(w.routes())
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
}

func (w *world) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/state", w.getState)
	mux.HandleFunc("GET /v1/state/events", w.events)
	mux.HandleFunc("POST /v1/tasks/{id}/signals", w.signals)
	mux.HandleFunc("POST /v1/tasks", w.create)
	mux.HandleFunc("GET /v1/tasks/{id}", w.getTask)
	mux.HandleFunc("POST /v1/tasks/{id}/type", w.typeIn)
	mux.HandleFunc("GET /v1/inbox", func(rw http.ResponseWriter, _ *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		answer(rw, 200, map[string]any{"items": w.state.InboxItems()})
	})
	mux.HandleFunc("GET /v1/projects", func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, 200, map[string]any{"projects": []task.Project{{Name: "shop"}, {Name: "api"}}})
	})
	mux.HandleFunc("GET /v1/workflows", func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, 200, map[string]any{"workflows": []wire.WorkflowInfo{{Name: "orange"}}})
	})
	mux.HandleFunc("GET /v1/workflows/{hash}", func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, 200, wire.WorkflowText{Name: "t", File: "t.yaml", Text: boardWorkflow})
	})
	mux.HandleFunc("POST /v1/pause", func(rw http.ResponseWriter, _ *http.Request) { w.pause(true); answer(rw, 200, nil) })
	mux.HandleFunc("POST /v1/resume", func(rw http.ResponseWriter, _ *http.Request) { w.pause(false); answer(rw, 200, nil) })
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.headers = append(w.headers, r.Header.Clone())
		w.paths = append(w.paths, r.URL.String())
		w.mu.Unlock()
		if path, ok := strings.CutPrefix(r.URL.Path, "/api/"); ok {
			r.URL.Path = "/" + path
		}
		mux.ServeHTTP(rw, r)
	})
}

// boardWorkflow is what the tasks of the world follow.
const boardWorkflow = `name: t
version: 1
roles:
  worker: {describe: works, harness: task, prompt: worker}
states:
  pending: {kind: queued}
  working: {kind: agent, role: worker}
  reviewing: {kind: human}
  done: {kind: terminal}
  cancelled: {kind: terminal}
edges:
  - {from: new, to: pending, on: create, by: [human]}
  - {from: pending, to: working, on: [request, ready], as: complete, by: [human, engine]}
  - {from: working, to: reviewing, as: complete, by: [human]}
  - {from: reviewing, to: working, as: request-changes, by: [human]}
  - {from: reviewing, to: done, as: complete, by: [human]}
  - {from: [pending, reviewing], to: cancelled, as: cancel, by: [human]}
prompts:
  worker: do it
`

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// add puts tasks into the world.
func (w *world) add(rows ...overview.Row) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range rows {
		if r.Kind == "" {
			r.Kind, r.Moves, r.Owner, r.Life = stateOf(r.Status)
		}
		if r.Created.IsZero() {
			r.Created = epoch.Add(time.Duration(len(w.state.Tasks)) * time.Second)
		}
		r.Since, r.Active, r.WorkflowHash, r.Seq = epoch, epoch, "h1", 1
		w.state.Tasks = append(w.state.Tasks, r)
		w.note(r.ID)
	}
}

// stateOf is what the workflow says of a state.
func stateOf(status string) (workflow.Kind, []explain.Move, string, overview.Life) {
	switch status {
	case "pending":
		return workflow.Queued, []explain.Move{{To: "working", As: "complete"}}, "a person", overview.None
	case "working":
		return workflow.Agent, []explain.Move{{To: "reviewing", As: "complete"}}, "worker", overview.Alive
	case "reviewing":
		return workflow.HumanDo, []explain.Move{{To: "working", As: "request-changes"}, {To: "done", As: "complete"}}, "a person", overview.None
	}
	return workflow.Terminal, nil, "nobody", overview.None
}

// note says that something became of a task. The lock is held.
func (w *world) note(id task.ID) {
	w.changed = append(w.changed, id)
	w.state.Row = int64(len(w.changed))
	close(w.more)
	w.more = make(chan struct{})
}

// change changes a task.
func (w *world) change(id task.ID, f func(*overview.Row)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.state.Tasks, func(r overview.Row) bool { return r.ID == id })
	f(&w.state.Tasks[i])
	w.state.Tasks[i].Seq++
	w.note(id)
}

func (w *world) pause(paused bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.Paused = paused
	w.note("")
}

// getTask is the record of a task, as far as its row has it.
func (w *world) getTask(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.state.Tasks, func(row overview.Row) bool { return strings.HasPrefix(string(row.ID), r.PathValue("id")) })
	if i < 0 {
		answer(rw, 404, map[string]string{"error": "task not found: see orange task list"})
		return
	}
	row := &w.state.Tasks[i]
	t := task.Task{ID: row.ID, Project: row.Project, Branch: row.Branch, Summary: row.Summary, Status: row.Status, WorkflowHash: row.WorkflowHash, Seq: row.Seq}
	if w.asked != "" {
		t.Asked = &task.Asked{To: w.asked}
	}
	answer(rw, 200, map[string]any{"task": t})
}

// typeIn takes what is typed for an agent that asks at its terminal.
func (w *world) typeIn(rw http.ResponseWriter, r *http.Request) {
	var in struct{ Role, Text string }
	json.NewDecoder(r.Body).Decode(&in)
	w.mu.Lock()
	defer w.mu.Unlock()
	asks := func(row overview.Row) bool {
		return string(row.ID) == r.PathValue("id") && (row.Wants == explain.ItemPermission || row.Wants == explain.ItemInput)
	}
	if !slices.ContainsFunc(w.state.Tasks, asks) {
		answer(rw, 404, map[string]string{"error": "no agent of it asks at a terminal"})
		return
	}
	w.typed = append(w.typed, in.Role+": "+in.Text)
	answer(rw, 200, map[string]bool{"typed": true})
}

func (w *world) getState(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.state
	out.Tasks = []overview.Row{}
	for _, row := range w.state.Tasks {
		if p := r.URL.Query().Get("project"); (p == "" || p == row.Project) && shows(r, &row) {
			out.Tasks = append(out.Tasks, row)
		}
	}
	if at, _ := strconv.ParseInt(r.URL.Query().Get("at"), 10, 64); at > 0 {
		out.Row, out.Tasks = at, out.Tasks[:min(int(at), len(out.Tasks))]
	}
	answer(rw, 200, out)
}

// shows says whether a request wants to see a row: what is over only if it asks for all.
func shows(r *http.Request, row *overview.Row) bool {
	return r.URL.Query().Get("all") == "1" || row.Kind != workflow.Terminal
}

func (w *world) events(rw http.ResponseWriter, r *http.Request) {
	after, _ := strconv.Atoi(r.URL.Query().Get("after"))
	if n, err := strconv.Atoi(r.Header.Get("Last-Event-ID")); err == nil {
		after = n
	}
	w.mu.Lock()
	last := len(w.changed)
	w.mu.Unlock()
	if after > last {
		answer(rw, 400, map[string]string{"error": "that row is not in this journal: ask for the state again"})
		return
	}
	rw.Header().Set("Content-Type", "text/event-stream")
	rw.WriteHeader(200)
	rw.(http.Flusher).Flush()
	for {
		w.mu.Lock()
		change := overview.Change{Row: int64(len(w.changed)), At: epoch, Paused: w.state.Paused, Projects: w.state.Projects}
		fresh := len(w.changed) > after
		for _, row := range w.state.Tasks {
			switch {
			case !fresh || !slices.Contains(w.changed[after:], row.ID):
			case shows(r, &row):
				change.Tasks = append(change.Tasks, row)
			default:
				change.Gone = append(change.Gone, row.ID)
			}
		}
		after = len(w.changed)
		more := w.more
		w.mu.Unlock()
		if fresh {
			body, _ := json.Marshal(change)
			fmt.Fprintf(rw, "id: %d\nevent: change\ndata: %s\n\n", after, body)
			rw.(http.Flusher).Flush()
		}
		select {
		case <-r.Context().Done():
			return
		case <-more:
		}
	}
}

// signals moves a task if its row says that it may, and refuses otherwise.
func (w *world) signals(rw http.ResponseWriter, r *http.Request) {
	var sig signal.Signal
	if err := json.NewDecoder(r.Body).Decode(&sig); err != nil {
		answer(rw, 400, map[string]string{"error": err.Error()})
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = append(w.heard, sig)
	i := slices.IndexFunc(w.state.Tasks, func(row overview.Row) bool { return string(row.ID) == r.PathValue("id") })
	if i < 0 {
		answer(rw, 404, map[string]string{"error": "task not found: see orange task list"})
		return
	}
	if w.code != "" && sig.Confirm != w.code {
		answer(rw, 409, map[string]any{"error": "a code was sent by notification", "decision": map[string]any{"reasons": []engine.Reason{{Rule: engine.RuleConfirm}}}})
		return
	}
	row := &w.state.Tasks[i]
	from := row.Status
	for _, m := range row.Moves {
		if m.To == sig.To || m.As == sig.Verb {
			row.Status, row.Wants = m.To, ""
			row.Kind, row.Moves, row.Owner, row.Life = stateOf(m.To)
			row.Seq++
			w.note(row.ID)
			answer(rw, 200, map[string]any{"task": task.Task{ID: row.ID, Branch: row.Branch, Status: row.Status}, "decision": map[string]any{"entries": []map[string]any{{"from": from, "to": row.Status}}}})
			return
		}
	}
	if sig.Verb == engine.VerbAnswer || sig.Kind != signal.Request {
		row.Wants = ""
		row.Seq++
		w.note(row.ID)
		answer(rw, 200, map[string]any{"task": task.Task{ID: row.ID, Branch: row.Branch, Status: row.Status}, "decision": map[string]any{}})
		return
	}
	answer(rw, 409, map[string]string{"error": "gate: it has no <b>plan</b>: write one"})
}

func (w *world) create(rw http.ResponseWriter, r *http.Request) {
	var wish signal.NewTask
	if err := json.NewDecoder(r.Body).Decode(&wish); err != nil {
		answer(rw, 400, map[string]string{"error": err.Error()})
		return
	}
	w.mu.Lock()
	w.wishes = append(w.wishes, wish)
	w.mu.Unlock()
	answer(rw, 200, map[string]any{"task": task.Task{ID: "Anewtask0000000000000", Project: wish.Project, Branch: wish.Branch, Status: "pending"}})
}

// last is the signal that was heard last.
func (w *world) last() signal.Signal {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.heard) == 0 {
		return signal.Signal{}
	}
	return w.heard[len(w.heard)-1]
}

// env is a site of a world on a listener of its own.
type env struct {
	*httptest.Server
	world *world
	addr  string
	opts  web.Options
}

// newEnv opens a site of the world.
func newEnv(t testing.TB, w *world, change ...func(*web.Options)) *env {
	t.Helper()
	h := &env{world: w}
	h.opts = options(h, w)
	for _, f := range change {
		f(&h.opts)
	}
	h.open(t, "127.0.0.1:0")
	t.Cleanup(func() { h.shut() })
	return h
}

func options(h *env, w *world) web.Options {
	now := func() time.Time { return epoch.Add(3 * time.Hour) }
	return web.Options{
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
