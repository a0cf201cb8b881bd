package tui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/transcript"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/ui/apitest"
	"orange/internal/ui/client"
	"orange/internal/view/ansi"
	"orange/internal/view/diff"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// noon is the present of these tests.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// server is the API server and a client of it. The tasks and everything that the dashboard reads of them come from a
// store. The server records what it is asked, and decides nothing.
type server struct {
	*client.Client
	store *apitest.FakeStore
	def   *workflow.Definition // of its tasks
	http  *httptest.Server

	streams atomic.Int32 // of the state that were opened
	board   testBoard

	mu          sync.Mutex
	asked       []string
	no          error           // why every change is refused
	reasons     []engine.Reason // of that refusal
	body        string          // of every TASK.md
	diffProblem string
	notes       []string     // about every new task
	argv        []string     // attaches to a terminal
	dialog      *wire.Screen // of every terminal; nil for one without a dialog
	facts       map[task.ID]overview.Facts
}

// newServer returns a server whose store has no tasks.
func newServer(t testing.TB, projects ...task.Project) *server {
	t.Helper()
	f := &server{store: apitest.NewStore(), facts: map[task.ID]overview.Facts{}}
	text, _ := builtin.Text("orange")
	f.def = f.store.AddWorkflow(t, "orange.yaml", text)
	p := parts{DecidingEngine: &apitest.DecidingEngine{FakeStore: f.store, Now: func() time.Time { return noon }}, Control: &apitest.Control{}, f: f}
	s := apitest.NewServer(f.store)
	s.Engine, s.Tasks, s.Workflows, s.Folders, s.Changes, s.Control, s.Measurements = p, p, p, p, p, p, p
	s.Attempts, s.Screens, s.Trackers, s.Boards = attempts{f: f}, screens{f: f}, trackers{f: f}, &f.board
	f.board.f = f
	s.Hints = func(context.Context, *signal.NewTask, *task.Task) []string { return f.notes }
	s.Projects = projectList{apitest.Projects(projects), f}
	s.Library = apitest.FakeLibrary{{Name: "orange", Hash: "h1", Origin: "built-in"}, {Name: "linear-sdlc", Hash: "h2", Origin: "built-in"}, {Name: "orange", Hash: "h3", Origin: "pinned"}}
	handler := s.Handler()
	var socket string
	socket, f.http = apitest.Listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case wire.Root + wire.PathState:
			f.hear("state")
		case wire.Root + wire.PathStateEvents:
			f.streams.Add(1)
		}
		handler.ServeHTTP(w, r)
	}))
	f.Client = client.New(socket)
	t.Cleanup(f.Close)
	return f
}

// newSampleServer returns a server that has one task of every kind.
func newSampleServer(t testing.TB) *server {
	t.Helper()
	f := newServer(t, task.Project{Name: "shop", Path: "/srv/shop", PoolSize: 6}, task.Project{Name: "site", Path: "/srv/site", PoolSize: 2})
	f.addSamples()
	return f
}

func (f *server) hear(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, fmt.Sprintf(format, args...))
}

func (f *server) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.asked
	f.asked = nil
	return out
}

// add puts a task into the store, with the beginning of a journal.
func (f *server) add(t task.Task, facts overview.Facts) {
	t.Workflow, t.WorkflowHash, t.Rules, t.Seq, t.Harness = f.def.Name, f.def.Hash, engine.Rules, 3, "claude"
	if t.CreatedAt.IsZero() {
		t.CreatedAt = noon.Add(-100 * time.Hour)
	}
	f.setFacts(t.ID, facts)
	at := noon.Add(-2 * time.Hour)
	f.store.Put(t,
		journal.Entry{Task: t.ID, Seq: 1, At: at, Type: journal.TaskCreated, Actor: task.Human, Move: journal.Move{To: "pending"}},
		journal.Entry{Task: t.ID, Seq: 2, At: at.Add(time.Second), Type: journal.StatusChanged, Actor: task.Human, Move: journal.Move{From: "pending", To: "planning"}},
		journal.Entry{Task: t.ID, Seq: 3, At: at.Add(time.Minute), Type: journal.StatusChanged, Actor: "worker", Move: journal.Move{From: "planning", To: "working"}})
}

// setFacts sets what is known of a task beside its journal.
func (f *server) setFacts(id task.ID, facts overview.Facts) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.facts[id] = facts
}

// errScreen ends a stream of screens.
var errScreen = errors.New("one screen is enough")

// oneScreen is a server whose streams of screens end after the first screen, because an env runs one command at a time.
type oneScreen struct{ *server }

func (f oneScreen) WatchScreen(ctx context.Context, id, role string, each func(wire.Screen) error) error {
	err := f.server.WatchScreen(ctx, id, role, func(s wire.Screen) error {
		if err := each(s); err != nil {
			return err
		}
		return errScreen
	})
	if errors.Is(err, errScreen) {
		return nil
	}
	return err
}

// parts are what the server serves.
type parts struct {
	*apitest.DecidingEngine
	*apitest.Control
	f *server
}

func (p parts) Path(string, task.ID) string { return "" }

func (p parts) ReadTaskFile(_ string, id task.ID) (taskfile.Document, error) {
	p.f.hear("task %s", id)
	return taskfile.Parse([]byte(p.f.body))
}

func (p parts) Journal(id task.ID, after int) ([]journal.Entry, error) {
	p.f.hear("journal %s", id)
	return p.FakeStore.Journal(id, after)
}

func (p parts) Explain(ctx context.Context, id task.ID) (explain.Explanation, error) {
	p.f.hear("explain %s", id)
	return p.DecidingEngine.Explain(ctx, id)
}

func (p parts) TaskDiff(_ context.Context, t task.Task) (diff.Comparison, error) {
	p.f.hear("diff %s", t.ID)
	return diff.Comparison{Problem: p.f.diffProblem, Files: diff.Parse("diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n")}, nil
}

func (p parts) TaskFile(context.Context, task.Task, string, bool) (content []byte, cut bool, err error) {
	return nil, false, nil
}

func (p parts) Workflow(hash string) (name, file, text string, ok bool, err error) {
	p.f.hear("workflow")
	if _, known := p.f.store.Workflows[hash]; !known { // of the library
		hash = p.f.def.Hash
	}
	return p.FakeStore.Workflow(hash)
}

func (p parts) Submit(_ context.Context, id task.ID, s signal.Signal) (engine.Answer, error) {
	to := s.To
	for _, f := range s.Fields {
		to += f.Name + "=" + f.To
	}
	p.f.hear("%s", strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %s %s %s %s", s.Kind, id, s.Verb, s.Arg, to, s.Note, s.Actor, s.Confirm)), " "))
	t, _, err := p.Task(id)
	a := engine.Answer{Task: t}
	if p.f.no != nil {
		a.Decision = engine.Decision{Verdict: engine.Refuse, Refused: p.f.no.Error(), Reasons: p.f.reasons}
	}
	return a, err
}

func (p parts) Create(_ context.Context, n signal.NewTask) (engine.Answer, error) {
	p.f.hear("create %s|%s|%s|%s|%s|%s|%t|%s", n.Project, n.Branch, n.Summary, n.Harness, n.Workflow, n.Status, n.Spawn, n.Actor)
	if len(n.After) > 0 {
		p.f.hear("after %s stack=%t", n.After, n.Stack)
	}
	if n.Requirements != "" {
		p.f.hear("requirements %q", n.Requirements)
	}
	return engine.Answer{Task: task.Task{ID: "new", Project: n.Project, Branch: n.Branch}}, p.f.no
}

func (p parts) SetPaused(paused bool) error {
	p.f.hear("%s all", map[bool]string{true: "pause", false: "resume"}[paused])
	if p.f.no != nil {
		return p.f.no
	}
	return p.Control.SetPaused(paused)
}

// TaskFacts implements api.Measurements.
func (p parts) TaskFacts(t *task.Task) overview.Facts {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	return p.f.facts[t.ID]
}

// AbsentAttempts implements api.Measurements.
func (p parts) AbsentAttempts(t *task.Task) []int { return p.TaskFacts(t).Absent }

// ChangedSince implements api.Measurements. Facts change together with their task.
func (parts) ChangedSince(int64) ([]task.ID, int64, <-chan struct{}) { return nil, 1, nil }

type attempts struct {
	apitest.Attempts
	f *server
}

// ListAttempts returns two attempts that have ended.
func (a attempts) ListAttempts(t task.Task) ([]wire.Attempt, error) {
	a.f.hear("attempts %s", t.ID)
	zero, signalled := 0, 143
	return []wire.Attempt{
		{Number: 1, Role: "worker", Harness: "claude", Code: &zero}, {Number: 2, Role: "reviewer", Harness: "codex", Code: &signalled},
	}, nil
}

func (a attempts) AttemptLog(t task.Task, number int, _, _ string) (wire.Log, error) {
	a.f.hear("log %s %d", t.ID, number)
	if number == 1 {
		return wire.Log{Attempt: 1, Form: wire.FormTranscript, Turns: []transcript.Turn{
			{At: ago(time.Hour), Who: transcript.User, Text: "Write the form"}, {Who: transcript.Agent, Tool: "Edit", Argument: "form.go"},
			{At: ago(50 * time.Minute), Who: transcript.Agent, Text: "The form \x1b[31mis written"},
		}}, nil
	}
	return wire.Log{Attempt: number, Form: wire.FormOutput, Lines: []string{"reading the diff", "\x1b[2Jit is good"}}, nil
}

type fixedProjects = apitest.Projects

type projectList struct {
	fixedProjects
	f *server
}

func (p projectList) ChangeProject(_ context.Context, name string, c wire.ProjectChange) (task.Project, error) {
	if c.HoldLanding != nil {
		p.f.hear("hold %s %t", name, *c.HoldLanding)
	}
	return task.Project{Name: name}, p.f.no
}

func (a attempts) AttachCommand(t task.Task, _ string) ([]string, error) {
	a.f.hear("attach %s", t.ID)
	return a.f.argv, a.f.no
}

type screens struct {
	apitest.Screens
	f *server
}

func (s screens) ReadScreen(context.Context, task.Task, string) (wire.Screen, error) {
	if s.f.dialog != nil {
		return *s.f.dialog, nil
	}
	return wire.Screen{Attempt: 1, Role: "worker", Harness: "claude", Alive: true, Lines: ansi.ParseLines("\x1b[32mreading\x1b[0m the form\n> ")}, nil
}

func (s screens) WatchOutput(_ context.Context, t task.Task, _ string) (<-chan struct{}, error) {
	s.f.hear("watch %s", t.ID)
	return nil, nil
}

func (s screens) PressKey(_ context.Context, t task.Task, in wire.KeyInput) error {
	s.f.hear("press %s %s %s %s %t", t.ID, in.Role, in.Key, in.Seen, in.Dialog)
	return s.f.no
}

func (s screens) TypeText(_ context.Context, t task.Task, _, text string) error {
	s.f.hear("type %s %s", t.ID, text)
	return s.f.no
}

type trackers struct {
	apitest.Trackers
	f *server
}

func (t trackers) SyncForges(context.Context) ([]string, error) {
	t.f.hear("sync")
	return []string{"#7 was merged"}, t.f.no
}

// ago is a moment before noon.
func ago(d time.Duration) time.Time { return noon.Add(-d) }

// agentIn returns the only attempt of a task, in a condition.
func agentIn(number int, c task.Condition) task.Agents {
	return task.Agents{Attempts: []task.Attempt{{Number: number, Role: "worker", State: "planning", Since: ago(time.Hour), Running: true, Condition: c}}}
}

// addSamples adds one task of every kind.
func (f *server) addSamples() {
	visit := func(d time.Duration) task.CurrentVisit { return task.CurrentVisit{Visit: 5, Since: ago(d)} }
	active := func(number int, d time.Duration) map[int]time.Time { return map[int]time.Time{number: ago(d)} }
	add := func(id, project, summary string, t task.Task, updated time.Duration, facts overview.Facts) {
		name := id
		if id == "clean" {
			name = "build/clean"
		}
		t.ID, t.Project, t.Branch, t.Summary, t.UpdatedAt = task.ID("id0"+id), project, name, summary, ago(updated)
		t.CreatedAt = ago(time.Duration(100-len(f.store.Tasks)) * time.Hour)
		f.add(t, facts)
	}
	login := task.Task{Status: "reviewing", CurrentVisit: visit(time.Minute), Agents: agentIn(1, task.Condition{Name: task.Idle, Since: ago(90 * time.Second)}),
		Resources: task.Resources{Workspace: "shop--1", PRURL: "https://example.com/pull/7", PRState: "OPEN"}}
	login.Spent.Usage = task.Usage{CostMicroUSD: 1_230_000}
	add("login", "shop", "Let customers log in", login, 90*time.Second, overview.Facts{Work: &overview.Work{Commits: 3, Added: 120, Deleted: 34, Files: 4}, Checks: "passed"})

	search := task.Task{Status: "working", CurrentVisit: visit(2 * time.Hour), Agents: agentIn(3, task.Condition{Name: task.Running, Since: ago(time.Hour)}), Resources: task.Resources{Workspace: "shop--2"}}
	search.Spent.Usage = task.Usage{CostMicroUSD: 12_510_000}
	add("search", "shop", "Let customers search the catalogue by name, colour and size", search, time.Hour, overview.Facts{Work: &overview.Work{Commits: 1, Added: 12345, Deleted: 2}, Active: active(3, 5*time.Second)})

	add("colours", "shop", "Pick the colours of the landing page", task.Task{Status: "clarification", CurrentVisit: visit(10 * time.Minute), Agents: agentIn(1, task.Condition{Name: task.Idle, Since: ago(10 * time.Minute)}),
		Resources: task.Resources{Workspace: "shop--3"}}, 10*time.Minute, overview.Facts{})
	add("clean", "shop", "Clean the build", task.Task{Status: "planning", CurrentVisit: visit(time.Hour), Resources: task.Resources{Workspace: "shop--4"},
		Agents: agentIn(1, task.Condition{Name: task.WaitingPermission, Detail: "May I run rm -r build?", Since: ago(3 * time.Minute)})}, 3*time.Minute, overview.Facts{})

	index := task.Task{Status: "working", CurrentVisit: visit(3 * time.Hour), Resources: task.Resources{Workspace: "shop--5"}, Counters: []task.Counter{{Name: "crash_count", Value: 1, Total: 1}}}
	index.Crashed, index.StateReason = "worker", "killed by SIGKILL"
	add("index", "shop", "Build an index", index, time.Hour, overview.Facts{})

	add("mail", "site", "Send mail", task.Task{Status: "stuck", CurrentVisit: visit(3 * time.Hour), Resources: task.Resources{Workspace: "shop--6"},
		Waiting: task.Waiting{Asked: &task.Asked{To: "reviewing", By: "fixer", At: ago(2 * time.Hour)}}}, 2*time.Hour, overview.Facts{})
	add("later", "shop", "Something for later", task.Task{Status: "pending", CurrentVisit: visit(26 * time.Hour)}, 26*time.Hour, overview.Facts{})
	add("push", "shop", "Push notifications", task.Task{Status: "working", CurrentVisit: visit(80 * time.Hour), Waiting: task.Waiting{Paused: true}}, 72*time.Hour, overview.Facts{})
	add("old", "shop", "Something that is over", task.Task{Status: "done", CurrentVisit: visit(240 * time.Hour), Resources: task.Resources{PRURL: "https://example.com/pull/3", PRState: "MERGED"}}, 240*time.Hour, overview.Facts{})
}
