package agents_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/host/agents"
	"orange/internal/server/prompts"
	"orange/internal/view/ansi"
)

const id = task.ID("0123456789abcdefghijk")

// env plays everything around the agents.
type env struct {
	*agents.Agents
	t   *testing.T
	def *workflow.Definition

	mu       sync.Mutex
	task     task.Task
	phases   map[string]agent.Phase
	over     map[string]func(agent.Exit)
	orders   []agent.Orders
	launches []agent.Launch
	signals  []signal.Signal
	typed    []string
	acks     bool // programs acknowledge what is typed into them
	failing  error
	read     agent.Notice
	parents  map[int]int
	marks    map[int]string
	blind    int // how often nothing can be read
	swept    []string
	pane     string
	line     string // in the input line
	inMode   bool
	taken    string // what a person types while a message is pasted
	moves    int    // how often the window changes between a look and a key
	retried  int
	watching func() // says that something was drawn
	captured func() // happens after the screen was captured
	said     agent.Conversation
	converse func(after string) agent.Conversation // instead of said
}

func newEnv(t *testing.T, terminal bool) *env {
	t.Helper()
	text, _ := builtin.Text("orange")
	def, err := workflow.Parse("orange.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	c := &env{t: t, def: def, phases: map[string]agent.Phase{}, over: map[string]func(agent.Exit){}, parents: map[int]int{}, marks: map[int]string{}}
	c.task = task.Task{
		ID: id, Project: "p", Branch: "b", Summary: "s", Status: "working", Resources: task.Resources{Workspace: "p--2", TmuxSession: "p/b"}, Setup: task.Setup{Harness: "claude", ReviewHarness: "pi"},
		Agents:  task.Agents{Attempts: []task.Attempt{{Number: 1, Role: "worker", Running: true}}, AttemptCounts: []task.AttemptTally{{Role: "worker", Count: 1}}},
		Pending: []task.Effect{tellOf(0)},
	}
	o := agents.AgentOptions{
		Root: t.TempDir(), ID: "here", Tmux: filepath.Join(t.TempDir(), "tmux"), Key: []byte(strings.Repeat("k", 32)), Processes: starter{c}, Harnesses: c, Workspaces: c, Engine: c, Task: c.Task, Log: slog.New(slog.DiscardHandler),
		Env: func(string) []string { return []string{"PATH=/bin"} }, Term: "dumb",
		Prompts: prompts.Renderer{Task: c.taskWithWorkflow, Definition: c.Definition, Project: c.Project},
		WatchOutput: func(_ string, changed func()) (func(), error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.watching = changed
			return func() {}, nil
		},
	}
	if terminal {
		o.Terminal = window{c}
	}
	c.Agents = agents.New(o)
	t.Cleanup(c.Close)
	return c
}

func effectOf(attempt int) task.Effect {
	return task.Effect{ID: fmt.Sprintf("%s/9/%d", id, attempt), Do: "spawn_agent", Role: "worker", Attempt: attempt, Start: true, Window: "worker", Prompt: "worker"}
}

func (c *env) start(attempt int) {
	c.t.Helper()
	if _, err := c.Agents.StartAgent(c.t.Context(), c.task, effectOf(attempt)); err != nil {
		c.t.Fatal(err)
	}
}

// ends lets an attempt's process end and waits until that is reported.
func (c *env) ends(attempt int, x agent.Exit) {
	c.mu.Lock()
	dir := c.Folder(agents.Key{Task: id, Number: attempt})
	c.phases[dir] = agent.Gone
	over := c.over[dir]
	c.mu.Unlock()
	over(x)
}

func (c *env) submitted(kind signal.Kind) []signal.Signal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.signals), func(s signal.Signal) bool { return s.Kind != kind })
}

// The ports.

func (c *env) Submit(_ context.Context, _ task.ID, s signal.Signal) (out engine.Answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.failing; err != nil {
		c.failing = nil
		return out, err
	}
	c.signals = append(c.signals, s)
	if s.Kind == signal.Notice && s.Condition != nil && len(c.task.Attempts) > 0 {
		c.task.Attempts = slices.Clone(c.task.Attempts)
		now := *s.Condition
		now.Detail, now.Since = strings.Join(strings.Fields(now.Detail), " "), time.Now() // as the engine keeps it
		c.task.Attempts[0].Condition = now
	}
	return out, nil
}

func (c *env) taskWithWorkflow(want task.ID) (task.Task, *workflow.Definition, bool, error) {
	t, ok, err := c.Task(want)
	return t, c.def, ok, err
}

func (c *env) Definition(*task.Task) (*workflow.Definition, error) { return c.def, nil }

func (c *env) Task(want task.ID) (task.Task, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.task, want == id, nil
}

// drops removes the pending effects of the task, as a move of the task does.
func (c *env) drops() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.task.Pending = nil
}

func (c *env) Project(string) (task.Project, bool) {
	return task.Project{Name: "p", DefaultBranch: "main"}, true
}

func (c *env) Path(name string) string         { return "/workspaces/" + name }
func (c *env) LandingPath(t *task.Task) string { return "/landing/" + t.Project }

func (c *env) Watch(dir string, over func(agent.Exit)) error {
	c.mu.Lock()
	c.over[dir] = over
	gone := c.phases[dir] == agent.Gone
	c.mu.Unlock()
	if gone {
		go over(agent.Exit{Code: 7})
	}
	return nil
}

func (c *env) End(_ context.Context, dir string) error {
	c.mu.Lock()
	over := c.over[dir]
	c.phases[dir] = agent.Gone
	c.mu.Unlock()
	if over != nil {
		over(agent.Exit{Code: 143})
	}
	return nil
}

func (c *env) HasProcess(dir string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phases[dir] == agent.Alive
}

func (c *env) ReadPhase(dir string) (agent.Phase, []int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.blind > 0 {
		c.blind--
		return agent.Absent, nil, errors.New("too many open files")
	}
	return c.phases[dir], []int{100}, nil
}

func (c *env) EndKeyCarriers(_ context.Context, key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.swept = append(c.swept, key)
	return nil
}

func (c *env) Ancestry(pid int) ([]int, agent.Origin) {
	switch pid {
	case 404:
		return nil, agent.UnknownLine
	case 405:
		return []int{405}, agent.FromServer
	case 406:
		return []int{406}, agent.FromTmux
	}
	chain := []int{pid}
	for c.parents[pid] != 0 {
		pid = c.parents[pid]
		chain = append(chain, pid)
	}
	return chain, agent.Outside
}

func (c *env) MarkOf(pid int) string { return c.marks[pid] }

func (c *env) PlanLaunch(l agent.Launch) (agent.Plan, error) {
	c.launches = append(c.launches, l)
	if l.Harness == "missing" {
		return agent.Plan{}, errors.New("missing is not installed")
	}
	return agent.Plan{Argv: []string{l.Harness, l.Prompt}, Env: []string{"MORE=1"}}, nil
}

func (c *env) ParseHook(_, event string, payload []byte) (agent.Notice, error) {
	switch event {
	case "prompt":
		return agent.Notice{Prompted: true}, nil
	case "session":
		return agent.Notice{Session: string(payload), Transcript: "/t"}, nil
	case "name":
		return agent.Notice{Session: string(payload)}, nil
	case "idle":
		return agent.Notice{Condition: task.Condition{Name: task.Idle}}, nil
	case "ask":
		return agent.Notice{Condition: task.Condition{Name: task.WaitingPermission, Detail: string(payload)}}, nil
	}
	return agent.Notice{}, errors.New("odd event")
}

func (c *env) ReadOutput(string, agent.Output) agent.Notice { return c.read }

func (c *env) ReadScreen(_, pane string) (agent.Notice, bool) {
	return agent.Notice{Condition: task.Condition{Name: task.WaitingInput, Detail: "it asks"}}, strings.Contains(pane, "?")
}

func (c *env) TrustDialogKeys(_, pane string) (string, bool) {
	return "\r", strings.Contains(pane, "trust")
}

func (c *env) AsksFirst(string) bool { return true }

// ReadInput implements Harnesses: a question is a dialog, "..." is unknown, and all else is a prompt.
func (c *env) ReadInput(string, ansi.View) ansi.Input {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case strings.Contains(c.pane, "?"):
		return ansi.Input{Kind: ansi.Dialog}
	case strings.Contains(c.pane, "..."), c.pane == blank:
		return ansi.Input{}
	}
	return ansi.Input{Kind: ansi.Prompt, Line: c.line}
}

func (c *env) RetryEffect(task.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retried++
}

// blank is an unknown screen that shows nothing.
const blank = " \n "

// draws changes what the agent's screen shows.
func (c *env) draws(pane, line string) {
	c.mu.Lock()
	c.pane, c.line = pane, line
	changed := c.watching
	c.mu.Unlock()
	if changed != nil {
		changed()
	}
}

func (c *env) ReadConversation(_ string, _ agent.Output, after string) agent.Conversation {
	if c.converse != nil {
		return c.converse(after)
	}
	return c.said
}

// HidesFailures implements agents.Harnesses.
func (c *env) HidesFailures(harness string) bool { return false }

func (c *env) SeparatesMessages(harness string) bool { return harness != "command:x" }

func (c *env) AcknowledgesPrompts(string) bool { return true }

// window is the terminal.
type window struct{ c *env }

func (s window) SessionName(project, branch string) string { return project + "/" + branch }

func (s window) add(what string) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.typed = append(s.c.typed, what)
}

func (s window) ReadView(context.Context, string, string) (ansi.View, error) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return ansi.View{Text: s.c.pane + s.c.line, InMode: s.c.inMode}, nil
}

// moved reports whether the window changed since it was read.
func (s window) moved() bool {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.moves--
	return s.c.moves >= 0
}

func (s window) PasteAt(_ context.Context, session, window string, _ ansi.View, text string) (bool, error) {
	if s.moved() {
		return false, nil
	}
	s.add("paste " + session + " " + window + " " + text)
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.line = s.c.taken + text
	return true, nil
}

func (s window) EnterAt(ctx context.Context, _, _ string, _ ansi.View) (bool, error) {
	if s.moved() {
		return false, nil
	}
	s.add("enter")
	if !s.c.acks {
		return true, nil
	}
	s.c.draws("", "")
	return true, s.c.ReceiveHook(ctx, agents.Key{Task: id, Number: 1}, "claude", "prompt", nil)
}

func (s window) TypeKeys(context.Context, string, string, string) error { return nil }

func (s window) CaptureText(context.Context, string, string) (string, error) {
	s.c.mu.Lock()
	pane, then := s.c.pane, s.c.captured
	s.c.captured = nil
	s.c.mu.Unlock()
	if then != nil {
		then()
	}
	return pane, nil
}

func (s window) CloseWindow(_ context.Context, _, window string) error {
	s.add("close " + window)
	return nil
}

func (s window) CloseSession(_ context.Context, session string) error {
	s.add("close session " + session)
	return nil
}

func (s window) RenameSession(_ context.Context, from, to string) error {
	s.add("rename " + from + " " + to)
	return nil
}

// starter is the crew's way of starting processes: the name is taken by the test's own.
type starter struct{ *env }

func (s starter) Start(_ context.Context, dir string, o agent.Orders) ([]int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orders = append(s.orders, o)
	s.phases[dir] = agent.Alive
	return []int{100}, nil
}
