package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/config"
	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/ui/cli"
	"orange/internal/ui/client"
	"orange/internal/wire"
)

const (
	idOne = "oneAAAAAAAAAAAAAAAAAA"
	idTwo = "twoBBBBBBBBBBBBBBBBBB"
)

// now is the moment at which every test runs.
func now() time.Time { return time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) }

// env is a fake server and a person at the command line.
type env struct {
	cli.Deps
	out, err bytes.Buffer

	mu       sync.Mutex
	asked    []string // what changed something: method, path, body
	tasks    []task.Task
	projects []task.Project
	place    wire.Place
	refuse   string            // what every signal is answered with
	answers  map[string]string // by path: the whole answer
	codes    map[string]int    // by path: the status of the answer, if it is none of success
	handle   http.HandlerFunc  // what a test answers itself, nil for nothing
	tokens   map[string]bool   // that were shown
	events   []string          // what the stream sends
	server   *httptest.Server  // nil once stopped
	socket   string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	dir, err := os.MkdirTemp("", "o")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := &env{socket: filepath.Join(dir, "s"), asked: []string{}, answers: map[string]string{}, codes: map[string]int{}, tokens: map[string]bool{}}
	w.Deps = cli.Deps{
		Config: config.Config{Home: filepath.Join(dir, "home"), Socket: w.socket},
		Stdin:  strings.NewReader(""), Stdout: &w.out, Stderr: &w.err, Cwd: "/repo/sub", Version: "1.2.3", Now: now,
		Start: func() (client.Child, error) { return nil, fmt.Errorf("no program") },
	}
	w.tasks = []task.Task{{
		ID: idOne, Project: "proj", Branch: "feature", Summary: "Do it", Status: "working", Workflow: "orange", Harness: "claude",
		Counters: []task.Counter{{Name: "review_round", Value: 1, Total: 3}}, Seq: 4, Visit: 2,
		CreatedAt: now().Add(-2 * time.Hour), Since: now().Add(-3 * time.Minute),
		Attempts: []task.Attempt{{Number: 1, Role: "worker", Running: true, Since: now().Add(-time.Hour)}},
	}}
	w.listen(t)
	return w
}

func (w *env) listen(t *testing.T) {
	l, err := net.Listen("unix", w.socket)
	if err != nil {
		t.Fatal(err)
	}
	w.server = &httptest.Server{Listener: l, Config: &http.Server{Handler: w.handler()}}
	w.server.Start()
	t.Cleanup(w.server.Close)
}

// run executes one command line and returns its exit code.
func (w *env) run(t *testing.T, args ...string) int {
	t.Helper()
	w.out.Reset()
	w.err.Reset()
	return cli.Run(t.Context(), w.Deps, args)
}

func (w *env) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/hello", func(rw http.ResponseWriter, _ *http.Request) {
		reply(rw, wire.Hello{Version: "1.2.3", API: 1, PID: 7})
	})
	mux.HandleFunc("GET /v1/where", func(rw http.ResponseWriter, _ *http.Request) { reply(rw, w.place) })
	mux.HandleFunc("GET /v1/tasks", w.list)
	mux.HandleFunc("GET /v1/tasks/{id}", w.task)
	mux.HandleFunc("POST /v1/tasks", w.create)
	mux.HandleFunc("POST /v1/tasks/{id}/signals", w.signal)
	mux.HandleFunc("GET /v1/projects", func(rw http.ResponseWriter, _ *http.Request) {
		reply(rw, map[string]any{"projects": w.projects})
	})
	mux.HandleFunc("POST /v1/projects", w.addProject)
	mux.HandleFunc("GET /v1/events", w.stream)
	mux.HandleFunc("POST /v1/stop", func(rw http.ResponseWriter, _ *http.Request) {
		reply(rw, map[string]bool{"stopped": true})
		go w.server.Config.Close()
	})
	mux.HandleFunc("/", w.canned)
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.tokens[r.Header.Get("Orange-Token")] = true
		w.mu.Unlock()
		mux.ServeHTTP(rw, r)
	})
}

func reply(rw http.ResponseWriter, v any) { _ = json.NewEncoder(rw).Encode(v) }

func no(rw http.ResponseWriter, status int, why string) {
	rw.WriteHeader(status)
	reply(rw, map[string]string{"error": why})
}

// canned gives the answer a test has laid down for a path.
func (w *env) canned(rw http.ResponseWriter, r *http.Request) {
	w.note(r)
	if w.handle != nil {
		w.handle(rw, r)
		return
	}
	answer, ok := w.answers[r.URL.Path]
	if !ok {
		no(rw, http.StatusNotFound, r.URL.Path+" not found")
		return
	}
	if code := w.codes[r.URL.Path]; code != 0 {
		rw.WriteHeader(code)
	}
	fmt.Fprint(rw, answer)
}

// note keeps a request that may change something, and returns its body.
func (w *env) note(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Method != http.MethodGet {
		w.asked = append(w.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
	}
	return body
}

func (w *env) list(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked = append(w.asked, "GET "+r.URL.RequestURI())
	w.mu.Unlock()
	tasks := w.tasks
	if tasks == nil {
		tasks = []task.Task{}
	}
	reply(rw, map[string]any{"tasks": tasks})
}

func (w *env) find(id string) (*task.Task, bool) {
	for i := range w.tasks {
		if strings.HasPrefix(string(w.tasks[i].ID), id) {
			return &w.tasks[i], true
		}
	}
	return nil, false
}

func (w *env) task(rw http.ResponseWriter, r *http.Request) {
	t, ok := w.find(r.PathValue("id"))
	if !ok {
		no(rw, http.StatusNotFound, fmt.Sprintf("task %s not found", r.PathValue("id")))
		return
	}
	reply(rw, wire.TaskShown{Task: *t, Body: "## Plan\n\nAPPROACH: \x1b[31mred\x1b[0m\n", Dir: "/home/tasks/proj/one"})
}

func (w *env) create(rw http.ResponseWriter, r *http.Request) {
	var n signal.NewTask
	_ = json.Unmarshal(w.note(r), &n)
	if n.Status == "working" {
		no(rw, http.StatusConflict, `Invalid status "working": a task of workflow orange begins in pending`)
		return
	}
	if n.Branch == "" {
		n.Branch = "orange-tasks/" + idTwo
	}
	reply(rw, wire.Answer{Task: task.Task{ID: idTwo, Project: n.Project, Branch: n.Branch, Summary: n.Summary, Status: "pending", Queued: n.Spawn}})
}

// signal refuses what the test wants refused; else a deed is written down, a request
// moves the task to the state asked for, and another verb to "next".
func (w *env) signal(rw http.ResponseWriter, r *http.Request) {
	var sig signal.Signal
	_ = json.Unmarshal(w.note(r), &sig)
	t, ok := w.find(r.PathValue("id"))
	if !ok {
		no(rw, http.StatusNotFound, fmt.Sprintf("task %s not found", r.PathValue("id")))
		return
	}
	if w.refuse != "" && sig.Kind == signal.Request {
		rw.WriteHeader(http.StatusConflict)
		reply(rw, map[string]any{"error": w.refuse, "decision": map[string]string{"verdict": "refuse", "refused": w.refuse}})
		return
	}
	a := wire.Answer{Task: *t}
	switch sig.Verb {
	case engine.VerbMerge, engine.VerbPush, engine.VerbCreatePR:
		a.Decision.Entries = []journal.Entry{{Task: t.ID, Seq: 5, Type: journal.EffectAsked, Effects: []task.Effect{{ID: idOne + "/5/0", By: task.ByPerson}}}}
		reply(rw, a)
		return
	}
	if sig.Verb == engine.Respawn {
		a.Decision.Entries = []journal.Entry{{Task: t.ID, Seq: 5, Type: journal.AgentRespawn, Started: []task.Attempt{{Number: 2, Role: "worker"}}}}
		reply(rw, a)
		return
	}
	if sig.Kind == signal.Request || sig.Kind == signal.Ready {
		to := sig.To
		if to == "" {
			to = "next"
		}
		a.Decision.Entries = []journal.Entry{{From: t.Status, To: to}}
	}
	reply(rw, a)
}

func (w *env) addProject(rw http.ResponseWriter, r *http.Request) {
	var p task.Project
	_ = json.Unmarshal(w.note(r), &p)
	for _, have := range w.projects {
		if have.Name == p.Name {
			no(rw, http.StatusConflict, fmt.Sprintf("project %s already exists", p.Name))
			return
		}
	}
	reply(rw, map[string]any{"project": p})
}

// stream sends the events and stays open.
func (w *env) stream(rw http.ResponseWriter, r *http.Request) {
	for _, e := range w.events {
		fmt.Fprint(rw, e)
	}
	rw.(http.Flusher).Flush()
	<-r.Context().Done()
}
