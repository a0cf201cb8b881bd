package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"orange/internal/adapter/filewatch"
	"orange/internal/adapter/harness"
	"orange/internal/adapter/shim"
	"orange/internal/adapter/tmux"
	"orange/internal/config"
	"orange/internal/core/agent"
	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/prompt"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/outputlog"
	"orange/internal/runtime/agents"
	"orange/internal/runtime/effect"
	"orange/internal/ui/api"
	"orange/internal/wire"
)

// agentHost is everything that runs agents on this machine.
type agentHost struct {
	agents     *agents.Agents
	supervisor *shim.Supervisor
	terminal   *tmux.Server
	worktrees  worktrees
	doer       effect.Executor
}

// Names of hidden commands: programs that are parts of this one.
const (
	attendCommand = "attend"
	recordOutput  = "record-output"
	hookCommand   = "hook"
	playCommand   = "play"
)

// newAgentHost puts together what runs agents. It starts nothing.
func (s *Server) newAgentHost(w worktrees) (*agentHost, error) {
	key, err := agents.LoadKey(filepath.Join(s.cfg.Home, "token.key"))
	if err != nil {
		return nil, err
	}
	data := dataFolder(s.cfg.Home)
	if s.id, err = data.EnsureIdentity(s.cfg.Home); err != nil {
		return nil, err
	}
	c := &agentHost{supervisor: shim.New([]string{s.self, attendCommand}, data), worktrees: w}
	if s.isHeadless() {
		s.log.Info("agents run without a terminal", "component", "serve")
	} else {
		if err := os.MkdirAll(filepath.Dir(s.cfg.Terminal), 0o700); err != nil {
			return nil, err
		}
		c.terminal = tmux.New(s.cfg.Terminal, append(config.TerminalEnv(config.Environ()), "ORANGE_HOME="+s.cfg.Home, agents.ServerMark(s.id)))
	}
	o := agents.Options{
		Root: data.Attempts, ID: s.id, Key: key, Tmux: s.cfg.Tmux, Log: s.log,
		Processes: &processes{
			supervisor: c.supervisor, data: data, id: s.id, terminal: c.terminal, recorder: []string{s.self, recordOutput}, tmuxSocket: s.cfg.Terminal, socket: s.cfg.Socket, boot: shim.BootID(), self: os.Getpid(),
			wake: []string{s.self, "serve", "--detached"}, wakeEnv: append(s.ownEnv(), "ORANGE_HOME="+s.cfg.Home),
		},
		Harnesses: harness.Registry{
			Call: func(name string) []string { return []string{s.self, hookCommand, name} }, Env: config.Getenv,
			Path: func(name string) string { return envValue(inPath(s.agentEnv(name), s.self), "PATH") },
		},
		Workspaces: c.worktrees, Engine: agentEngine{s},
		Env:   func(name string) []string { return append(inPath(s.agentEnv(name), s.self), "ORANGE_HOME="+s.cfg.Home) },
		Words: repositoryPromptText, Term: tmux.Terminal, OnBoard: allCards{local: cards{s.newBoards()}, trackerService: s.trackerService}.promptCard,
		About: s.gatherPromptFacts, PullRequest: s.trackerService.PullRequest, LastLines: s.lastLines, Mask: s.maskAgentSecrets, WatchOutput: s.watchOutput,
	}
	if c.terminal != nil {
		o.Terminal = terminal{c.terminal}
	}
	c.agents = agents.New(o)
	c.doer = effect.Executor{Agents: c.agents, Workspaces: c.worktrees, Delivery: delivery{s}, Sections: s.folders, Cards: allCards{local: cards{s.newBoards()}, trackerService: s.trackerService}}
	return c, nil
}

// watchOutput implements agents.Options.
func (s *Server) watchOutput(file string, changed func()) (stop func(), err error) {
	return s.measure.Watcher.Add(filewatch.Watch{Folder: filepath.Dir(file), Names: []string{outputlog.NamePattern(file)}, Pause: pasteDelay, Changed: changed})
}

// isHeadless says whether agents run without a terminal.
func (s *Server) isHeadless() bool {
	if s.cfg.Sessions != "" {
		return s.cfg.Sessions == "headless"
	}
	_, err := exec.LookPath("tmux")
	return err != nil
}

// ownEnv is what a server, and what it starts for itself, inherits.
func (s *Server) ownEnv() []string {
	return config.ServerEnv(config.Environ(), s.cfg.AgentEnv...)
}

// agentEnv is what an agent of a harness inherits of this server.
func (s *Server) agentEnv(name string) []string {
	return config.AgentEnv(config.Environ(), name, s.cfg.AgentEnv...)
}

// stopListening stops listening to agents. They go on.
func (c *agentHost) stopListening() {
	c.agents.Close()
	c.supervisor.Close()
}

// agentEngine is the runtime as agents see it.
type agentEngine struct{ s *Server }

// Submit implements agents.Engine.
func (e agentEngine) Submit(ctx context.Context, id task.ID, sig signal.Signal) (string, error) {
	a, err := e.s.runtime.Submit(ctx, id, sig)
	if errors.Is(err, task.ErrNotFound) {
		return err.Error(), nil
	}
	return a.Decision.Refused, err
}

// Definition implements agents.Engine.
func (e agentEngine) Definition(t *task.Task) (*workflow.Definition, error) {
	return e.s.runtime.Definition(t)
}

// Task implements agents.Engine.
func (e agentEngine) Task(id task.ID) (task.Task, bool, error) { return e.s.store.Task(id) }

// Project implements agents.Engine.
func (e agentEngine) Project(name string) (task.Project, bool) { return e.s.runtime.Project(name) }

// Retry implements agents.Engine.
func (e agentEngine) Retry(id task.ID) { e.s.runtime.RetryEffect(id) }

// maxWords bounds a prompt that a repository brings.
const maxWords = 256 << 10

// repositoryPromptText finds a prompt of the repository's own: .orange/prompts/NAME.md in
// the project's checkout.
func repositoryPromptText(p task.Project, name string) (string, bool) {
	if name == "" || strings.ContainsAny(name, "/\\") {
		return "", false
	}
	root, err := os.OpenRoot(p.Path)
	if err != nil {
		return "", false
	}
	defer root.Close() //nolint:errcheck // read only
	text, err := root.ReadFile(filepath.Join(".orange", "prompts", name+".md"))
	return string(text), err == nil && len(text) > 0 && len(text) <= maxWords
}

// checkHarness says what is wrong with a task's choice of an agent. It is read in forms
// too: no word of flags.
func (s *Server) checkHarness(name, effort string) error {
	found, err := harness.Find(name)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(found.Program()); err != nil && found.Program() != "" {
		if _, some := harness.FirstInstalled(exec.LookPath); !some && s.cfg.Harness == "" && name == agent.HarnessNames()[0] { // as if none was chosen
			return errNoAgent
		}
		return fmt.Errorf("%s is not in the PATH of the server: install %s, or run orange stop and try again where it is in PATH; or choose another agent", found.Program(), found.Name())
	}
	if err := harness.CheckScript(found, config.Getenv); err != nil {
		return err
	}
	return harness.CheckEffort(found, effort)
}

// errNoAgent says that there is nobody who could work.
var errNoAgent = errors.New("no coding agent is installed here: install " + anyHarness() + ", or choose script:FILE or command:PROGRAM")

// anyHarness names the agents of which one is enough.
func anyHarness() string {
	names := agent.HarnessNames()
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// attemptsView shows attempts to people.
type attemptsView struct{ c *agentHost }

// ListAttempts implements api.Attempts.
func (v attemptsView) ListAttempts(t task.Task) ([]wire.Attempt, error) {
	var out []wire.Attempt
	for _, n := range v.c.agents.AttemptNumbers(&t) {
		k := agents.Key{Task: t.ID, Number: n}
		card, err := v.c.agents.LoadCard(k)
		if err != nil {
			return nil, err
		}
		a := wire.Attempt{
			Number: n, Role: card.Role, Harness: card.Harness, Model: card.Model, Window: card.Window, Session: card.Session,
			Log: v.c.agents.OutputFile(k), Code: card.Code, Final: card.Final, Usage: card.Usage,
		}
		if live, ok := t.AttemptByNumber(n); ok {
			a.Alive, a.Since, a.Condition = true, live.Since, live.Condition
		}
		out = append(out, a)
	}
	return out, nil
}

// AttachCommand implements api.Attempts.
func (v attemptsView) AttachCommand(t task.Task, role string) ([]string, error) {
	if v.c.terminal == nil {
		return nil, task.Mistakef("agents run without a terminal here: see orange task log -f %s", t.ID)
	}
	if t.Session == "" {
		return nil, task.Mistakef("task %s has no terminal session: start its agent with orange task spawn %s", t.ID, t.ID)
	}
	window := ""
	for _, a := range t.Attempts {
		card, err := v.c.agents.LoadCard(agents.Key{Task: t.ID, Number: a.Number})
		if err == nil && card.Window != "" && (role == "" || role == a.Role) {
			window = card.Window
		}
	}
	if role != "" && window == "" {
		return nil, task.Mistakef("no %s of task %s is alive", role, t.ID)
	}
	return v.c.terminal.AttachArgv(t.Session, window), nil
}

// HandleHook implements api.Attempts.
func (v attemptsView) HandleHook(ctx context.Context, c api.Caller, name, event string, payload []byte) error {
	return v.c.agents.ReceiveHook(ctx, agents.Key{Task: c.Task, Number: c.Attempt}, name, event, payload)
}

// gatherPromptFacts is what an agent of a role is told about a task besides its record.
func (s *Server) gatherPromptFacts(t *task.Task, role string) (out prompt.Known) {
	doc, err := s.folders.ReadTaskFile(t.Project, t.ID)
	if err != nil {
		s.log.Error("read TASK.md for a prompt", "component", "serve", "task", t.ID, "error", err)
	}
	out.Requirements, out.Context = prompt.ReadGiven(doc.Sections())
	def, err := s.runtime.Definition(t)
	var entries []journal.Entry
	if err == nil {
		entries, err = s.store.Journal(t.ID, 0)
	}
	if err != nil {
		s.log.Error("read the last report", "component", "serve", "task", t.ID, "error", err)
		return out
	}
	out.Last = prompt.FindLast(def, t, role, entries, func(section string) string {
		found, _ := taskfile.FindSection(doc.Sections(), section)
		return found.Text
	})
	if at, ok := def.StateNamed(t.Status); ok && at.Kind == workflow.Halt { // its role, or the one that stands in for it
		out.Why = whyHalted(s.waitReasons(t))
	}
	return out
}

// whyHalted is what the helper of a halted task is told besides the last report.
func whyHalted(reasons []engine.WaitReason) string {
	var out []string
	for _, r := range reasons {
		if r.Kind == engine.BecauseOfNote || r.Kind == engine.BecauseOfCrash {
			title := r.Kind.Title()
			if r.By != "" {
				title += " of the " + r.By
			}
			out = append(out, title+": "+r.Text)
		}
	}
	return strings.Join(out, "\n\n")
}
