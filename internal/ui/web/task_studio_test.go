package web_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
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
	"orange/internal/view/ansi"
	"orange/internal/view/diff"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

const (
	studioTask = "T0000000000000000000t"
	hostile    = `<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>`
)

// studioWorkflow is what the task of a studio follows.
const studioWorkflow = `name: studio
version: 1
describe: "` + `<script>window.harmed=1</script>` + `"
roles:
  worker: {describe: works, harness: task, prompt: worker, session: persistent}
states:
  pending: {kind: queued}
  working: {kind: agent, role: worker, deadline: {wall: 1h}}
  reviewing: {kind: human}
  asking: {kind: waiting}
  done: {kind: terminal}
  cancelled: {kind: terminal}
edges:
  - {from: new, to: pending, on: create, by: [human]}
  - {from: pending, to: working, on: [request, ready], as: complete, by: [human, engine]}
  - {from: working, to: reviewing, on: [request, exit], as: complete, by: [human, worker]}
  - {from: working, to: asking, as: ask, by: [human, worker]}
  - {from: asking, to: working, as: complete, by: [human]}
  - {from: reviewing, to: working, as: request-changes, by: [human]}
  - {from: reviewing, to: done, as: complete, by: [human]}
  - {from: [pending, working, reviewing, asking], to: cancelled, as: cancel, by: [human]}
prompts:
  worker: "do it <b>well</b>"
`

// studio is a server with one task. What becomes of the task is decided by the engine.
type studio struct {
	t      *testing.T
	socket string

	mu      sync.Mutex
	def     *workflow.Definition
	task    task.Task
	entries []journal.Entry
	refused []journal.Refusal
	heard   []signal.Signal
	body    string
	diff    string
	screen  string
	typed   []string
	work    overview.Work
	now     time.Time
	more    chan struct{} // closes when anything is different
	read    func()        // called when the journal was read, unless nil
	watched int           // how many streams of the terminal are open
}

func newStudio(t *testing.T) *studio {
	t.Helper()
	s := &studio{t: t, socket: filepath.Join(t.TempDir(), "s"), now: epoch, more: make(chan struct{}), diff: studioDiff, work: overview.Work{Commits: 2, Added: 3, Deleted: 1}}
	var err error
	if s.def, err = workflow.Parse("studio.yaml", studioWorkflow); err != nil {
		t.Fatal(err)
	}
	d := s.send(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{ID: studioTask, Project: "shop", Branch: "fix-login", Summary: "Fix " + hostile, Harness: "script:x"}})
	if d.Verdict == engine.Refuse {
		t.Fatal(d.Refused)
	}
	s.task.Branch, s.entries[0].New.Branch = hostile, hostile
	l, err := net.Listen("unix", s.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(s.routes())
	server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return s
}

const studioDiff = `diff --git a/src/<b>login.go b/src/<b>login.go
--- a/src/<b>login.go
+++ b/src/<b>login.go
@@ -1,3 +1,4 @@ func <script>
 package login
-var old = 1
+var new = "<script>window.harmed=1</script>"
+var more = 2
 // end
diff --git a/README b/README
--- a/README
+++ b/README
@@ -1 +1 @@
-shop
+the shop
`

// house opens a site of the studio.
func (s *studio) house(input bool) *env {
	h := newEnv(s.t, &world{t: s.t, socket: s.socket})
	if input {
		h.shut()
		h.opts.Input = true
		h.open(s.t, "127.0.0.1:0")
	}
	return h
}

// send lets something happen. Effects are done at once.
func (s *studio) send(sig signal.Signal) engine.Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.decide(sig)
	for range 20 {
		e, ok := engine.NextEffect(&s.task)
		if !ok {
			break
		}
		s.decide(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: e.ID, OK: true}})
	}
	close(s.more)
	s.more = make(chan struct{})
	return d
}

func (s *studio) decide(sig signal.Signal) engine.Decision {
	s.now = s.now.Add(time.Second)
	sig.At, sig.Free = s.now, []string{"shop--1"}
	d := engine.Decide(s.def, s.task, sig)
	if d.Verdict == engine.Refuse {
		s.refused = append(s.refused, journal.NewRefusal(studioTask, &sig, d.Refused))
		return d
	}
	next, err := journal.Fold(s.task, d.Entries)
	if err != nil {
		s.t.Error(err)
	}
	s.task, s.entries = next, append(s.entries, d.Entries...)
	return d
}

// ask is a person asking for a verb.
func (s *studio) ask(verb string) {
	s.t.Helper()
	if d := s.send(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: verb}); d.Verdict == engine.Refuse {
		s.t.Fatalf("%s: %s", verb, d.Refused)
	}
}

func (s *studio) status() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.task.Status
}

func (s *studio) last() signal.Signal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.heard) == 0 {
		return signal.Signal{}
	}
	return s.heard[len(s.heard)-1]
}

// shows changes what the terminal of the agent shows.
func (s *studio) shows(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.screen = text
	close(s.more)
	s.more = make(chan struct{})
}

func (s *studio) routes() http.Handler {
	mux := http.NewServeMux()
	of := func(path string, what func() any) {
		mux.HandleFunc("GET /v1/tasks/{id}"+path, func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(studioTask, r.PathValue("id")) {
				answer(w, 404, map[string]string{"error": "task not found: see orange task list"})
				return
			}
			s.mu.Lock()
			now, read := what(), s.read
			answer(w, 200, now)
			s.mu.Unlock()
			if path == "/journal" && read != nil {
				read()
			}
		})
	}
	of("", func() any { return wire.TaskShown{Task: s.task, Body: s.body, Dir: "/tasks/t"} })
	of("/journal", func() any { return map[string]any{"entries": s.entries} })
	of("/explain", func() any {
		return explain.TaskWithPast(s.def, s.task, signal.Signal{At: s.now}, explain.Past{Entries: s.entries, Refusals: s.refused})
	})
	of("/attempts", func() any { return map[string]any{"attempts": s.attempts()} })
	of("/diff", func() any { return wire.Diff{Base: "0123456789abcdef", Files: diff.Parse(s.diff)} })
	of("/screen", func() any { return s.look() })
	mux.HandleFunc("GET /v1/tasks/{id}/screen/events", s.screens)
	mux.HandleFunc("POST /v1/tasks/{id}/type", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Role, Text string }
		json.NewDecoder(r.Body).Decode(&in)
		s.mu.Lock()
		s.typed = append(s.typed, in.Text)
		s.mu.Unlock()
		answer(w, 200, map[string]bool{"typed": true})
	})
	mux.HandleFunc("POST /v1/tasks/{id}/signals", s.signals)
	mux.HandleFunc("GET /v1/state", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		answer(w, 200, overview.State{Row: int64(len(s.entries)), At: s.now, Projects: []overview.Project{{Name: "shop"}}, Tasks: []overview.Row{overview.NewRow(s.def, &s.task, overview.Facts{Work: &s.work}, s.now)}})
	})
	mux.HandleFunc("GET /v1/state/events", s.events)
	mux.HandleFunc("GET /v1/projects", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"projects": []task.Project{{Name: "shop"}}})
	})
	mux.HandleFunc("GET /v1/workflows", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"workflows": []wire.WorkflowInfo{{Name: "studio", Hash: s.def.Hash, Origin: "user", File: "/x/" + hostile, Tasks: 1}}})
	})
	mux.HandleFunc("GET /v1/workflows/{hash}", func(w http.ResponseWriter, r *http.Request) {
		switch hash := r.PathValue("hash"); hash {
		case s.def.Hash:
			answer(w, 200, wire.WorkflowText{Hash: hash, Name: "studio", File: "studio.yaml", Text: studioWorkflow})
		case "flawed":
			answer(w, 200, wire.WorkflowText{Hash: hash, Name: "flawed", File: "f.yaml", Text: "name: flawed\nversion: 1\nstates:\n  trap: {kind: human}\n  done: {kind: terminal}\nedges:\n  - {from: new, to: trap, on: create, by: [human]}\n"})
		case "broken":
			answer(w, 200, wire.WorkflowText{Hash: hash, Name: hostile, File: "b.yaml", Text: "name: " + hostile + "\nstates: 1\n"})
		default:
			answer(w, 404, map[string]string{"error": "no task is pinned to it"})
		}
	})
	return mux
}

func (s *studio) attempts() []wire.Attempt {
	var out []wire.Attempt
	for _, a := range s.task.Attempts {
		out = append(out, wire.Attempt{Number: a.Number, Role: a.Role, State: a.State, Harness: "script", Alive: true, Since: a.Since, Log: "/x/log", Final: hostile, Usage: &task.Usage{Input: 120_000, Output: 3_400, Micros: 420_000}})
	}
	return out
}

func (s *studio) look() wire.Screen {
	return wire.Screen{Attempt: 1, Role: "worker", Harness: "script", Alive: true, Lines: ansi.ParseLines(s.screen), At: s.now}
}

func (s *studio) signals(w http.ResponseWriter, r *http.Request) {
	var sig signal.Signal
	if err := json.NewDecoder(r.Body).Decode(&sig); err != nil {
		answer(w, 400, map[string]string{"error": err.Error()})
		return
	}
	s.mu.Lock()
	s.heard = append(s.heard, sig)
	s.mu.Unlock()
	sig.Actor = task.Human
	d := s.send(sig)
	s.mu.Lock()
	defer s.mu.Unlock()
	status := 200
	if d.Verdict == engine.Refuse {
		status = 409
	}
	answer(w, status, map[string]any{"task": s.task, "decision": d, "error": d.Refused})
}

// stream writes an event whenever anything is different.
func (s *studio) stream(w http.ResponseWriter, r *http.Request, event func() string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(200)
	for last := ""; ; {
		s.mu.Lock()
		text, more := event(), s.more
		s.mu.Unlock()
		if text != last {
			fmt.Fprint(w, text)
		}
		last = text
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-more:
		}
	}
}

func (s *studio) events(w http.ResponseWriter, r *http.Request) {
	s.stream(w, r, func() string {
		body, _ := json.Marshal(overview.Change{Row: int64(len(s.entries)), At: s.now, Tasks: []overview.Row{overview.NewRow(s.def, &s.task, overview.Facts{}, s.now)}})
		return fmt.Sprintf("id: %d\nevent: change\ndata: %s\n\n", len(s.entries), body)
	})
}

func (s *studio) screens(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != studioTask {
		answer(w, 400, map[string]string{"error": "this server starts no agents"})
		return
	}
	s.watchers(1)
	defer s.watchers(-1)
	s.stream(w, r, func() string {
		body, _ := json.Marshal(s.look())
		return fmt.Sprintf("event: screen\ndata: %s\n\n", body)
	})
}

// watchers counts the streams of the terminal, more by n.
func (s *studio) watchers(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched += n
	return s.watched
}
