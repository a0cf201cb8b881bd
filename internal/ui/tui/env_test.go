package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	charm "github.com/charmbracelet/x/ansi"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
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

// fake is a client of the API server, whose parts remember what they were asked. What the
// dashboard follows, the state and the screens, is told by the test.
type fake struct {
	*client.Client
	mu      sync.Mutex
	asked   []string
	no      error           // why everything that is to change something is refused
	reasons []engine.Reason // of that refusal
	view    wire.TaskDetails
	argv    []string
	feed    func(context.Context, client.FollowOptions) error
	state   overview.State
	fails   error // of everything that is read
}

func newFake(t testing.TB, state overview.State) *fake {
	t.Helper()
	f := &fake{state: state}
	p := parts{Engine: apitest.Engine{FakeStore: apitest.NewStore()}, f: f}
	s := apitest.NewServer(p.FakeStore)
	s.Engine, s.Tasks, s.Workflows, s.Folders, s.Changes, s.Control = p, p, p, p, p, p
	s.Attempts, s.Screens, s.Trackers = attempts{f: f}, screens{f: f}, trackers{f: f}
	s.Library = apitest.FakeLibrary{{Name: "orange", Hash: "h1", Origin: "built-in"}, {Name: "linear-sdlc", Hash: "h2", Origin: "built-in"}, {Name: "orange", Hash: "h3", Origin: "pinned"}}
	socket, _ := apitest.Listen(t, s.Handler())
	f.Client = client.New(socket)
	t.Cleanup(f.Close)
	return f
}

func (f *fake) hear(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, fmt.Sprintf(format, args...))
}

func (f *fake) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.asked
	f.asked = nil
	return out
}

func (f *fake) ReadState(context.Context, client.StateQuery) (overview.State, error) {
	f.hear("state")
	out := f.state
	out.Tasks = slices.Clone(f.state.Tasks)
	return out, f.fails
}

func (f *fake) FollowState(ctx context.Context, l client.FollowOptions) error {
	if f.feed != nil {
		return f.feed(ctx, l)
	}
	<-ctx.Done()
	return ctx.Err()
}

func (f *fake) WatchScreen(_ context.Context, id, _ string, each func(wire.Screen) error) error {
	f.hear("watch %s", id)
	return each(wire.Screen{Attempt: 1, Role: "worker", Harness: "claude", Alive: true, Lines: ansi.ParseLines("\x1b[32mreading\x1b[0m the form\n> ")})
}

// parts are what the server serves. There is a task of every id.
type parts struct {
	apitest.Engine
	f *fake
}

func (p parts) NamedTasks(name string) ([]task.Named, error) {
	return []task.Named{{ID: task.ID(name)}}, nil
}

func (p parts) Task(id task.ID) (task.Task, bool, error) {
	t := p.f.view.Task
	t.ID, t.Status = id, "working"
	return t, true, p.f.fails
}

func (p parts) Path(string, task.ID) string { return "" }

func (p parts) ReadTaskFile(_ string, id task.ID) (taskfile.Document, error) {
	p.f.hear("task %s", id)
	return taskfile.Parse([]byte(p.f.view.Body))
}

func (p parts) Journal(id task.ID, _ int) ([]journal.Entry, error) {
	p.f.hear("journal %s", id)
	at := noon.Add(-2 * time.Hour)
	return []journal.Entry{
		{Task: id, Seq: 1, At: at, Type: journal.TaskCreated, Actor: task.Human, Move: journal.Move{To: "pending"}},
		{Task: id, Seq: 2, At: at.Add(time.Second), Type: journal.StatusChanged, Actor: task.Human, Move: journal.Move{From: "pending", To: "planning"}},
		{Task: id, Seq: 3, At: at.Add(time.Minute), Type: journal.StatusChanged, Actor: "worker", Move: journal.Move{From: "planning", To: "working"}},
	}, p.f.fails
}

func (p parts) Explain(_ context.Context, id task.ID) (explain.Explanation, error) {
	p.f.hear("explain %s", id)
	return explain.Explanation{Task: id, Workflow: "orange", Status: "reviewing", Kind: "human", Since: noon.Add(-time.Minute), Visit: 5, Owner: "a person", Why: "it waits for a person's decision", Do: "orange task merge " + string(id)}, nil
}

func (p parts) TaskDiff(_ context.Context, t task.Task) (base string, files []diff.File, cut bool, err error) {
	p.f.hear("diff %s", t.ID)
	return "", diff.Parse("diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"), false, nil
}

func (p parts) Workflow(hash string) (name, file, text string, ok bool, err error) {
	p.f.hear("workflow %s", hash)
	text, _ = builtin.Text("orange")
	return "orange", "orange.yaml", text, true, p.f.fails
}

func (p parts) Submit(_ context.Context, id task.ID, s signal.Signal) (engine.Answer, error) {
	p.f.hear("%s", strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %s %s %s", s.Kind, id, s.Verb, s.To, s.Note, s.Actor, s.Confirm)), " "))
	a := engine.Answer{Task: task.Task{ID: id, Status: "working"}}
	if p.f.no != nil {
		a.Decision = engine.Decision{Verdict: engine.Refuse, Refused: p.f.no.Error(), Reasons: p.f.reasons}
	}
	return a, nil
}

func (p parts) Create(_ context.Context, n signal.NewTask) (engine.Answer, error) {
	p.f.hear("create %s|%s|%s|%s|%s|%s|%t|%s", n.Project, n.Branch, n.Summary, n.Harness, n.Workflow, n.Status, n.Spawn, n.Actor)
	return engine.Answer{Task: task.Task{ID: "new", Project: n.Project, Branch: n.Branch}}, p.f.no
}

func (p parts) SetPaused(paused bool) error {
	p.f.hear("%s all", map[bool]string{true: "pause", false: "resume"}[paused])
	return p.f.no
}

func (parts) Paused() bool { return false }
func (parts) Busy() bool   { return false }

type attempts struct {
	apitest.Attempts
	f *fake
}

func (a attempts) AttachCommand(t task.Task, _ string) ([]string, error) {
	a.f.hear("attach %s", t.ID)
	return a.f.argv, a.f.no
}

type screens struct {
	apitest.Screens
	f *fake
}

func (s screens) TypeText(_ context.Context, t task.Task, _, text string) error {
	s.f.hear("type %s %s", t.ID, text)
	return s.f.no
}

type trackers struct {
	apitest.Trackers
	f *fake
}

func (t trackers) SyncForges(context.Context) ([]string, error) {
	t.f.hear("sync")
	return []string{"#7 was merged"}, t.f.no
}

// env is a dashboard without a terminal.
type env struct {
	t    *testing.T
	m    *model
	api  *fake
	said []tea.Msg // to Bubble Tea
	quit bool
}

func newEnv(t *testing.T, width, height int, more ...func(*DashboardOptions)) *env {
	t.Helper()
	r := &env{t: t, api: newFake(t, overview.State{})}
	r.api.argv, r.api.view = []string{"tmux", "attach"}, wire.TaskDetails{Body: "## Plan\n\nAPPROACH: a form\n"}
	o := DashboardOptions{API: r.api, Now: func() time.Time { return noon }}
	for _, f := range more {
		f(&o)
	}
	r.m = newModel(t.Context(), o)
	r.m.send = func(msg tea.Msg) { r.tell(msg) }
	r.m.tick = func(_ time.Duration, msg tea.Msg) tea.Cmd {
		if _, ok := msg.(alarmMsg); ok {
			return nil
		}
		return func() tea.Msg { return msg }
	}
	r.tell(tea.WindowSizeMsg{Width: width, Height: height})
	r.tell(stateMsg{sampleState()})
	r.tell(linkMsg{})
	r.api.take()
	return r
}

// tell hands a message over and carries out what comes of it.
func (r *env) tell(msg tea.Msg) {
	r.t.Helper()
	_, cmd := r.m.Update(msg)
	r.m.View()
	r.run(cmd)
}

func (r *env) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			r.run(c)
		}
	case tea.QuitMsg:
		r.quit = true
	case settledMsg, loadedMsg, screenMsg, watchedMsg, doneMsg, attachMsg, textMsg, workflowsMsg, wokenMsg:
		r.tell(msg)
	default:
		r.said = append(r.said, msg)
	}
}

var named = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift},
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp},
	"backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete}, "space": {Code: ' ', Text: " "}, "alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+p": {Code: 'p', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl},
}

// press presses keys, each by its name.
func (r *env) press(keys ...string) {
	r.t.Helper()
	for _, k := range keys {
		msg, ok := named[k]
		if !ok {
			msg = tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
		}
		r.tell(msg)
	}
}

func (r *env) write(text string) {
	r.t.Helper()
	for _, c := range text {
		r.tell(tea.KeyPressMsg{Code: c, Text: string(c)})
	}
}

// on puts the cursor on a task.
func (r *env) on(branch string) {
	r.t.Helper()
	r.press("home")
	for range r.m.lines {
		if s := r.m.selectedRow(); s != nil && s.Branch == branch {
			r.api.take()
			return
		}
		r.press("j")
	}
	r.t.Fatalf("%s is not in the list", branch)
}

// text is the screen without its looks.
func (r *env) text() string { return charm.Strip(r.m.View().Content) }

func (r *env) shows(words ...string) {
	r.t.Helper()
	for _, w := range words {
		if !strings.Contains(r.text(), w) {
			r.t.Errorf("%q is not on the screen:\n%s", w, r.text())
		}
	}
}

func (r *env) hides(words ...string) {
	r.t.Helper()
	for _, w := range words {
		if strings.Contains(r.text(), w) {
			r.t.Errorf("%q is on the screen:\n%s", w, r.text())
		}
	}
}

func (r *env) heard(want ...string) {
	r.t.Helper()
	var got []string
	for _, a := range r.api.take() {
		if word, _, _ := strings.Cut(a, " "); !strings.Contains("task journal explain diff workflow watch state", word) {
			got = append(got, a)
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		r.t.Errorf("asked %q, want %q", got, want)
	}
}

var errNo = errors.New("a gate is not met: write ## Plan")

// sampleState is a state with one task of every sort.
func sampleState() overview.State {
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	moves := func(list ...string) []explain.Move {
		var out []explain.Move
		for _, m := range list {
			as, to, _ := strings.Cut(m, ":")
			out = append(out, explain.Move{As: as, To: to})
		}
		return out
	}
	alive := func(n int, role, mood string) []overview.Attempt {
		return []overview.Attempt{{Number: n, Role: role, Since: ago(time.Hour), Mood: mood}}
	}
	cancel := "cancel:cancelled"
	rows := []overview.Row{
		{ID: "id0login", Branch: "login", Summary: "Let customers log in", Status: "reviewing", Kind: workflow.HumanDo, Workspace: "shop--1", Life: overview.Alive, Attempts: alive(1, "worker", "idle"),
			Owner: "a person", Why: "it waits for a person's decision", Wants: explain.ItemReview, Text: "the work waits for a decision", Do: "orange task merge id0login", Verb: engine.VerbMerge, Asked: ago(time.Minute),
			PR: &overview.PR{Number: 7, URL: "https://example.com/pull/7", State: "OPEN", Checks: "passed"}, Work: &overview.Work{Commits: 3, Added: 120, Deleted: 34, Files: 4}, Spent: task.Usage{CostMicroUSD: 1_230_000}, Active: ago(90 * time.Second), Moves: moves("complete:done", "request-changes:working", cancel)},
		{ID: "id0search", Branch: "search", Summary: "Let customers search the catalogue by name, colour and size", Status: "working", Kind: workflow.Agent, Workspace: "shop--2", Life: overview.Alive, Attempts: alive(3, "worker", "busy"),
			Owner: "worker", Why: "attempt 3 is at work", Work: &overview.Work{Commits: 1, Added: 12345, Deleted: 2}, Spent: task.Usage{CostMicroUSD: 12_510_000}, Active: ago(5 * time.Second), Moves: moves("stuck:stuck", cancel), Deadline: &engine.Timer{At: noon.Add(2 * time.Hour)}},
		{ID: "id0colours", Branch: "colours", Summary: "Pick the colours of the landing page", Status: "clarification", Kind: workflow.Waiting, Workspace: "shop--3", Life: overview.Alive, Attempts: alive(1, "worker", "idle"),
			Owner: "a person", Wants: explain.ItemQuestion, Text: "questions wait for an answer: see ## Questions in TASK.md", Do: "orange task answer id0colours \"...\"", Verb: engine.VerbAnswer, Answers: true, Asked: ago(10 * time.Minute), Active: ago(10 * time.Minute), Moves: moves("complete:planning", cancel)},
		{ID: "id0clean", Branch: "build/clean", Summary: "Clean the build", Status: "planning", Kind: workflow.Agent, Workspace: "shop--4", Life: overview.Alive, Attempts: alive(1, "worker", "waiting-permission"),
			Owner: "a person", Wants: explain.ItemPermission, Text: "the worker: waiting-permission: May I run rm -r build?", Do: "orange task attach id0clean", Verb: explain.VerbAttach, Asked: ago(3 * time.Minute), Active: ago(3 * time.Minute), Moves: moves(cancel)},
		{ID: "id0index", Branch: "index", Summary: "Build an index", Status: "working", Kind: workflow.Agent, Workspace: "shop--5", Life: overview.Dead,
			Owner: "a person", Wants: explain.ItemCrashed, Text: "the worker died: killed by SIGKILL", Do: "orange task respawn id0index", Verb: engine.Respawn, Asked: ago(time.Hour), Active: ago(time.Hour), Crashes: 1, Moves: moves(cancel)},
		{ID: "id0mail", Branch: "mail", Summary: "Send mail", Status: "stuck", Kind: workflow.Halt, Workspace: "shop--6", Life: overview.None,
			Owner: "a person", Wants: explain.ItemConfirm, Text: "the fixer asks for reviewing", Do: "orange task approve id0mail", Verb: explain.VerbApprove, Answers: true, Asked: ago(2 * time.Hour), Active: ago(2 * time.Hour), Moves: moves("resume:working", cancel)},
		{ID: "id0later", Branch: "later", Summary: "Something for later", Status: "pending", Kind: workflow.Queued, Life: overview.None,
			Owner: "a person", Wants: explain.ItemStart, Text: "it was created and not started", Do: "orange task spawn id0later", Verb: explain.VerbSpawn, Asked: ago(26 * time.Hour), Active: ago(26 * time.Hour), Moves: moves("complete:planning", cancel)},
		{ID: "id0push", Branch: "push", Summary: "Push notifications", Status: "working", Kind: workflow.Agent, Life: overview.None, Paused: true,
			Owner: "a person", Why: "the task is paused", Active: ago(72 * time.Hour), Moves: moves(cancel)},
		{ID: "id0old", Branch: "old", Summary: "Something that is over", Status: "done", Kind: workflow.Terminal, Life: overview.None,
			Owner: "nobody", PR: &overview.PR{Number: 3, URL: "https://example.com/pull/3", State: "MERGED"}, Active: ago(240 * time.Hour)},
	}
	for i := range rows {
		rows[i].Project, rows[i].Workflow, rows[i].WorkflowHash, rows[i].Harness = "shop", "orange", "hash", "claude"
		rows[i].Created, rows[i].Seq = ago(time.Duration(100-i)*time.Hour), 5
	}
	rows[5].Project = "site"
	return overview.State{Row: 100, At: noon, Projects: []overview.Project{{Name: "shop", Path: "/srv/shop", Pool: 6}, {Name: "site", Path: "/srv/site", Pool: 2}}, Tasks: rows}
}
