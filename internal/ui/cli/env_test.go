package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/config"
	"orange/internal/core/agent"
	"orange/internal/core/board"
	"orange/internal/core/boardcheck"
	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow/builtin"
	"orange/internal/doctor"
	"orange/internal/ui/api"
	"orange/internal/ui/apitest"
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

// env is a person at the command line and the API server over fake parts.
type env struct {
	cli.Deps
	out, err bytes.Buffer

	store  *apitest.FakeStore
	api    *api.Server
	server *httptest.Server

	t        *testing.T
	mu       sync.Mutex
	asked    []string // what changed something: method, path, body
	projects []task.Project
	place    wire.Location
	refuse   string            // why every request is refused
	answers  map[string]string // by path: what the part behind it answers, as JSON
	fails    map[string]error  // by path: what the part behind it fails with
	handle   http.HandlerFunc  // a server that misbehaves, nil for none
	tokens   map[string]bool   // that were shown
	spent    wire.DailySpend   // what a project has spent today
}

func newEnv(t *testing.T) *env {
	t.Helper()
	w := &env{t: t, asked: []string{}, answers: map[string]string{}, fails: map[string]error{}, tokens: map[string]bool{}}
	w.store = apitest.NewStore(task.Task{
		ID: idOne, Project: "proj", Branch: "feature", Summary: "Do it", Status: "working",
		Counters: []task.Counter{{Name: "review_round", Value: 1, Total: 3}}, Seq: 4, CreatedAt: now().Add(-2 * time.Hour),
		Setup:        task.Setup{Workflow: "orange", Harness: "claude"},
		CurrentVisit: task.CurrentVisit{Visit: 2, Since: now().Add(-3 * time.Minute)},
		Agents:       task.Agents{Attempts: []task.Attempt{{Number: 1, Role: "worker", Running: true, Since: now().Add(-time.Hour)}}},
	})
	p := parts{w}
	w.api = apitest.NewServer(w.store)
	w.api.Engine, w.api.Projects, w.api.Transfer, w.api.Tasks, w.api.Workflows = p, p, p, p, p
	w.api.Attempts, w.api.Workspaces, w.api.Boards, w.api.Trackers = p, p, p, p
	w.api.Folders = apitest.FakeFolders{Dir: "/home/tasks/proj/one", Body: "## Plan\n\nAPPROACH: \x1b[31mred\x1b[0m\n"}
	w.api.Inbox, w.api.VerifyChain, w.api.Checks = p.inbox, p.verifyChain, p.checks
	w.api.Where = func(context.Context, string) (wire.Location, error) { return w.place, nil }
	w.api.Stop = func() { go w.server.Config.Close() }
	socket, server := apitest.Listen(t, w.record(w.api.Handler()))
	w.server = server
	w.Deps = cli.Deps{
		Config: config.Config{Home: filepath.Join(filepath.Dir(socket), "home"), Socket: socket},
		Stdin:  strings.NewReader(""), Stdout: &w.out, Stderr: &w.err, Cwd: "/repo/sub", Version: "1.2.3", Now: now,
		Start: func() (client.Child, error) { return nil, fmt.Errorf("no program") },
	}
	return w
}

// run executes one command line and returns its exit code.
func (w *env) run(t *testing.T, args ...string) int {
	t.Helper()
	w.out.Reset()
	w.err.Reset()
	return cli.Run(t.Context(), w.Deps, args)
}

// record notes what is asked for before the server answers it.
func (w *env) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.mu.Lock()
		w.tokens[r.Header.Get(wire.HeaderToken)] = true
		switch {
		case r.URL.Path == wire.Root+wire.PathStop:
		case r.Method != http.MethodGet:
			w.asked = append(w.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
		case r.URL.Path == wire.Root+wire.PathStateTasks:
			w.asked = append(w.asked, "GET "+r.URL.RequestURI())
		}
		w.mu.Unlock()
		if w.handle != nil && r.URL.Path != wire.Root+wire.PathHello {
			w.handle(rw, r)
			return
		}
		next.ServeHTTP(rw, r)
	})
}

// asOrange pins tasks to the workflow orange.
func (w *env) asOrange(tasks ...task.Task) {
	text, _ := builtin.Text("orange")
	def := w.store.AddWorkflow(w.t, "orange.yaml", text)
	for i := range tasks {
		tasks[i].Workflow, tasks[i].WorkflowHash = def.Name, def.Hash
	}
	w.store.Tasks = tasks
}

// asAttempt lets the server take everybody for an attempt.
func (w *env) asAttempt(c agent.Caller) { w.api.Identity = identity{caller: &c} }

// identity says the same about everybody.
type identity struct {
	caller *agent.Caller
	err    error
}

func (i identity) IdentifyCaller(string, int) (*agent.Caller, error) { return i.caller, i.err }

// parts are what the server serves: what a test has laid down for a path, in the types of
// the API. Without an answer there is nothing.
type parts struct{ w *env }

// answerOf decodes the answer for a path. A name that the API does not have fails the test.
func answerOf[T any](p parts, pattern string, values ...string) (out T, err error) {
	path := wire.Root + wire.FillPath(pattern, values...)
	if err := p.w.fails[path]; err != nil {
		return out, err
	}
	text, ok := p.w.answers[path]
	if !ok {
		return out, fmt.Errorf("%w: %s", task.ErrNotFound, path)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		p.w.t.Errorf("the answer for %s: %v", path, err)
	}
	return out, nil
}

func (p parts) FollowJournal(after int64, id task.ID, limit int) ([]journal.Row, <-chan struct{}, error) {
	return p.w.store.FollowJournal(after, id, limit)
}

func (p parts) Create(_ context.Context, n signal.NewTask) (engine.Answer, error) {
	if n.Status == "working" {
		return refusal(task.Task{}, `Invalid status "working": a task of workflow orange begins in pending`), nil
	}
	if n.Branch == "" {
		n.Branch = "orange-tasks/" + idTwo
	}
	return engine.Answer{Task: task.Task{ID: idTwo, Project: n.Project, Branch: n.Branch, Summary: n.Summary, Status: "pending", Waiting: task.Waiting{Queued: n.Spawn}}}, nil
}

func refusal(t task.Task, why string) engine.Answer {
	return engine.Answer{Task: t, Decision: engine.Decision{Verdict: engine.Refuse, Refused: why}}
}

// Submit refuses what the test wants refused. Else it writes a person's action down, moves
// the task to the state asked for, or for another verb to "next".
func (p parts) Submit(_ context.Context, id task.ID, sig signal.Signal) (engine.Answer, error) {
	t, _, err := p.w.store.Task(id)
	if err != nil || p.w.refuse != "" && sig.Kind == signal.Request {
		return refusal(t, p.w.refuse), err
	}
	a := engine.Answer{Task: t}
	switch {
	case sig.Verb == engine.VerbMerge || sig.Verb == engine.VerbPush || sig.Verb == engine.VerbCreatePR:
		a.Decision.Entries = []journal.Entry{{Task: t.ID, Seq: 5, Type: journal.EffectAsked, EffectChanges: journal.EffectChanges{Effects: []task.Effect{{ID: idOne + "/5/0", By: task.ByPerson}}}}}
	case sig.Verb == engine.Respawn:
		a.Decision.Entries = []journal.Entry{{Task: t.ID, Seq: 5, Type: journal.AgentRespawn, AttemptChanges: journal.AttemptChanges{Started: []task.Attempt{{Number: 2, Role: "worker"}}}}}
	case sig.Kind == signal.Request || sig.Kind == signal.Ready:
		to := sig.To
		if to == "" {
			to = "next"
		}
		a.Decision.Entries = []journal.Entry{{Move: journal.Move{From: t.Status, To: to}}}
	}
	return a, nil
}

func (p parts) Explain(_ context.Context, id task.ID) (explain.Explanation, error) {
	return answerOf[explain.Explanation](p, wire.PathTaskExplain, string(id))
}

func (p parts) ForkTask(_ context.Context, id task.ID, _ int, _ signal.NewTask) (engine.Answer, error) {
	a, err := answerOf[wire.Answer](p, wire.PathTaskFork, string(id))
	return engine.Answer{Task: a.Task}, err
}

func (parts) RecordRefusal(task.ID, signal.Signal, string) {}

func (p parts) Task(id task.ID) (task.Task, bool, error)     { return p.w.store.Task(id) }
func (p parts) NamedTasks(name string) ([]task.Named, error) { return p.w.store.NamedTasks(name) }
func (p parts) UnsettledFinished() ([]task.Task, error)      { return p.w.store.UnsettledFinished() }
func (p parts) EachTask(f task.Filter, yield func([]byte) error) error {
	return p.w.store.EachTask(f, yield)
}

func (p parts) Children(parent task.ID) ([]task.Reference, error) {
	return p.w.store.Children(parent)
}

func (p parts) Journal(id task.ID, after int) ([]journal.Entry, error) {
	if have, err := p.w.store.Journal(id, after); len(have) > 0 || err != nil {
		return have, err
	}
	a, err := answerOf[wire.Journal](p, wire.PathTaskJournal, string(id))
	return a.Entries, err
}

func (p parts) SpentOn(string, string) (int, int64, error) {
	return p.w.spent.Attempts, p.w.spent.Micros, nil
}

func (p parts) Workflow(hash string) (name, file, text string, ok bool, err error) {
	if name, file, text, ok, err = p.w.store.Workflow(hash); ok {
		return name, file, text, ok, err
	}
	a, err := answerOf[wire.WorkflowText](p, wire.PathWorkflow, hash)
	if errors.Is(err, task.ErrNotFound) {
		return "", "", "", false, nil
	}
	return a.Name, a.File, a.Text, true, err
}

func (p parts) Projects() []task.Project { return p.w.projects }

func (p parts) RegisterProject(_ context.Context, n task.Project) (task.Project, error) {
	for _, have := range p.w.projects {
		if have.Name == n.Name {
			return n, task.Mistakef("project %s already exists", n.Name)
		}
	}
	return n, nil
}

func (p parts) ChangeProject(_ context.Context, name string, _ wire.ProjectChange) (task.Project, error) {
	a, err := answerOf[wire.ProjectDetails](p, wire.PathProject, name)
	return a.Project, err
}

func (p parts) UnregisterProject(_ context.Context, name, _ string) error {
	_, err := answerOf[wire.ProjectDetails](p, wire.PathProject, name)
	return err
}

func (p parts) Export(_ context.Context, out io.Writer) error {
	text, ok := p.w.answers[wire.Root+wire.PathExport]
	if !ok {
		return errors.New("there is nothing to export")
	}
	_, err := io.WriteString(out, text)
	return err
}

func (p parts) Import(_ context.Context, r io.Reader) (wire.Imported, error) {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return wire.Imported{}, err
	}
	return answerOf[wire.Imported](p, wire.PathImport)
}

func (p parts) ImportFolder(context.Context, string) (wire.Imported, error) {
	return answerOf[wire.Imported](p, wire.PathImport)
}

func (p parts) ListAttempts(t task.Task) ([]wire.Attempt, error) {
	a, err := answerOf[wire.AttemptList](p, wire.PathTaskAttempts, string(t.ID))
	return a.Attempts, err
}

func (p parts) AttachCommand(t task.Task, _ string) ([]string, error) {
	a, err := answerOf[wire.AttachCommand](p, wire.PathTaskAttach, string(t.ID))
	return a.Argv, err
}

func (p parts) AttemptLog(t task.Task, _ int, _, _ string) (wire.Log, error) {
	return answerOf[wire.Log](p, wire.PathTaskLog, string(t.ID))
}

func (p parts) LastMessage(t task.Task, _ int, _ string) (wire.Message, error) {
	return answerOf[wire.Message](p, wire.PathTaskOutput, string(t.ID))
}

func (p parts) HandleHook(context.Context, agent.Caller, string, string, []byte) error {
	return p.w.fails[wire.Root+wire.PathHooks]
}

func (p parts) ListWorkspaces(context.Context) ([]wire.Workspace, error) {
	a, err := answerOf[wire.WorkspaceList](p, wire.PathWorkspaces)
	return a.Workspaces, err
}

func (p parts) InitPool(context.Context, string, int) ([]wire.Workspace, error) {
	a, err := answerOf[wire.WorkspaceList](p, wire.PathWorkspacesInit)
	return a.Workspaces, err
}

func (p parts) CleanWorkspaces(context.Context, wire.CleanRequest) (removed, kept []wire.CleanedWorkspace, err error) {
	a, err := answerOf[wire.CleanResult](p, wire.PathWorkspacesGC)
	return a.Removed, a.Kept, err
}

func (p parts) ListSalvages(context.Context, string) ([]wire.Salvage, error) {
	a, err := answerOf[wire.SalvageList](p, wire.PathSalvages)
	return a.Salvages, err
}

func (parts) BoardMark(string) int64           { return 0 }
func (parts) NextBoardChange() <-chan struct{} { return nil }

func (p parts) ReadBoard(_ context.Context, project string) (board.Vocabulary, []board.Card, error) {
	a, err := answerOf[wire.Board](p, wire.PathBoard, project)
	return board.Vocabulary{Columns: a.Columns, Tags: a.Tags}, a.Cards, err
}

func (p parts) AddCard(_ context.Context, project string, _ wire.NewCard) (wire.AddedCard, error) {
	return answerOf[wire.AddedCard](p, wire.PathCards, project)
}

func (p parts) ReadCard(_ context.Context, project string, number int) (board.Card, []board.Comment, error) {
	a, err := answerOf[wire.CardDetails](p, wire.PathCard, project, fmt.Sprint(number))
	return a.Card, a.Comments, err
}

func (p parts) ChangeCard(_ context.Context, project string, number int, _ board.Change, _ string) (board.Card, bool, error) {
	a, err := answerOf[wire.ChangedCard](p, wire.PathCard, project, fmt.Sprint(number))
	return a.Card, a.Changed, err
}

func (p parts) CardHistory(_ context.Context, project string, number int) ([]board.Event, error) {
	a, err := answerOf[wire.CardHistory](p, wire.PathCardHistory, project, fmt.Sprint(number))
	return a.History, err
}

func (p parts) List() ([]tracker.Reading, error) {
	a, err := answerOf[wire.TrackerList](p, wire.PathTrackers)
	return a.Trackers, err
}

func (parts) SaveTracker(_ context.Context, c tracker.Config) (tracker.Config, error) { return c, nil }
func (parts) RemoveTracker(context.Context, string) error                             { return nil }
func (parts) IssueStatus(*task.Task) *tracker.IssueStatus                             { return nil }

func (p parts) ListIssues(name string) ([]tracker.Issue, error) {
	a, err := answerOf[wire.IssueList](p, wire.PathTrackerIssues, name)
	return a.Issues, err
}

func (p parts) Sync(_ context.Context, name string, _ bool) (tracker.Report, error) {
	return answerOf[tracker.Report](p, wire.PathTrackerSync, name)
}

func (p parts) Test(_ context.Context, name string) (tracker.Trial, error) {
	return answerOf[tracker.Trial](p, wire.PathTrackerTest, name)
}

func (p parts) Dispatch(_ context.Context, name string, _ bool) (tracker.Round, error) {
	return answerOf[tracker.Round](p, wire.PathTrackerDispatch, name)
}

func (p parts) SyncForges(context.Context) ([]string, error) {
	a, err := answerOf[wire.SyncReport](p, wire.PathForgesSync)
	return a.News, err
}

func (p parts) CheckBoard(context.Context, wire.BoardCheckRequest) ([]boardcheck.Finding, error) {
	a, err := answerOf[wire.BoardCheckResult](p, wire.PathDoctorBoard)
	return a.Findings, err
}

func (p parts) inbox(_ context.Context, project string) ([]explain.Item, error) {
	a, err := answerOf[wire.InboxList](p, wire.PathInbox)
	var out []explain.Item
	for _, it := range a.Items {
		if project == "" || project == it.Project {
			out = append(out, it)
		}
	}
	return out, err
}

func (p parts) verifyChain(_ context.Context, id task.ID) (journal.Chain, error, error) {
	a, err := answerOf[wire.Chain](p, wire.PathTaskChain, string(id))
	var broken error
	if a.Broken != nil {
		broken = a.Broken
	}
	return journal.Chain{Rows: a.Rows, Head: a.Head}, broken, err
}

func (p parts) checks(context.Context) []doctor.Result {
	a, err := answerOf[wire.HealthReport](p, wire.PathDoctor)
	if err != nil {
		return []doctor.Result{{Name: "answer", Detail: err.Error()}}
	}
	return a.Checks
}
