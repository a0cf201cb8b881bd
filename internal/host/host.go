// Package host is the machine on which work happens: worktrees, the folders of tasks, attempts and their
// processes, terminals, logs, screens, diffs, and the evidence that only this machine has. It decides
// nothing: it reports what happens to the server and does what the server orders.
package host

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"orange/internal/adapter/filewatch"
	"orange/internal/adapter/git"
	"orange/internal/adapter/harness"
	"orange/internal/adapter/shim"
	"orange/internal/adapter/taskdir"
	"orange/internal/adapter/tmux"
	"orange/internal/adapter/worktree"
	"orange/internal/core/task"
	"orange/internal/host/agents"
)

// Names of the hidden commands of this program that run on a host.
const (
	ShimCommand   = "shim"          // the parent of an agent
	OutputCommand = "record-output" // writes the log of a window
	HookCommand   = "hook"          // reports how an agent is doing
)

// Parts are what New needs to make a Host.
type Parts struct {
	Home        string          // the data folder
	Self        string          // this program
	Socket      string          // the socket of the server
	Data        shim.DataFolder // the processes of the data folder
	Terminal    string          // socket of the tmux of agents
	Headless    bool            // agents run without a terminal
	Tmux        string          // folder of the folders in which agents may start their own tmux
	Recording   bool            // effects are only recorded: no agents run
	Git         *git.Git
	Getenv      func(name string) string
	Programs    func(harness string) string   // the path of its program that a person set, "" for the one in PATH
	ToolEnv     func() []string               // what set-up commands inherit
	AgentEnv    func(harness string) []string // what an agent inherits
	TerminalEnv func() []string               // what the tmux of agents inherits
	ServerEnv   func() []string               // what a server inherits that a shim starts
	Project     func(name string) (task.Project, bool)
	Engine      agents.Engine
	Task        func(id task.ID) (task.Task, bool, error) // the record of a task
	Prompts     agents.Prompts
	Log         *slog.Logger
}

// Host is the machine on which work happens.
type Host struct {
	Parts
	Agents  *agents.Agents // nil: no agents run
	Folders Folders
	Watcher *filewatch.Watcher

	pool       *worktree.Pool
	exclude    []string // files that harnesses write and that are not part of the work
	supervisor *shim.Supervisor
	terminal   *tmux.Server // nil: agents run without a terminal
}

// New returns a Host. It starts nothing.
func New(o Parts) (*Host, error) {
	h := &Host{
		Parts: o, Watcher: filewatch.New(), pool: worktree.New(filepath.Join(o.Home, "workspaces"), o.Git), exclude: harness.ExcludedPaths(),
		Folders: Folders{Dir: taskdir.New(TasksFolder(o.Home)), attempts: o.Data.Attempts},
	}
	h.pool.Holds = h.holdsWorkspace
	if o.Recording {
		return h, nil
	}
	return h, h.newAgents()
}

// newAgents sets h.Agents and what they need: keys, supervisor and terminal.
func (h *Host) newAgents() error {
	key, err := agents.LoadKey(filepath.Join(h.Home, "token.key"))
	if err != nil {
		return err
	}
	id, err := h.Data.EnsureIdentity(h.Home)
	if err != nil {
		return err
	}
	h.supervisor = shim.New([]string{h.Self, ShimCommand}, h.Data)
	if h.Headless {
		h.Log.Info("agents run without a terminal", "component", "serve")
	} else {
		if err := os.MkdirAll(filepath.Dir(h.Terminal), 0o700); err != nil {
			return err
		}
		h.terminal = tmux.New(h.Terminal, append(h.TerminalEnv(), "ORANGE_HOME="+h.Home, agents.ServerMark(id)))
	}
	running := &shim.Processes{
		Supervisor: h.supervisor, Data: h.Data, ID: id, Socket: h.Socket, Wake: []string{h.Self, "serve", "--detached"},
		WakeEnv: func() []string { return append(h.ServerEnv(), "ORANGE_HOME="+h.Home) }, Window: h.launchInWindow, Boot: shim.BootID(), Self: os.Getpid(),
	}
	if h.terminal != nil {
		running.Terminal = h.Terminal
	}
	o := agents.AgentOptions{
		Root: h.Data.Attempts, ID: id, Key: key, Tmux: h.Tmux, Log: h.Log,
		Processes: running,
		Harnesses: harness.Registry{
			Call: func(name string) []string { return []string{h.Self, HookCommand, name} }, Env: h.Getenv,
			Path: func(name string) string { return envValue(inPath(h.AgentEnv(name), h.Self), "PATH") }, Programs: h.Programs,
		},
		Workspaces: h, Engine: h.Engine, Task: h.Task, Prompts: h.Prompts, Term: tmux.Terminal,
		Env:       func(name string) []string { return append(inPath(h.AgentEnv(name), h.Self), "ORANGE_HOME="+h.Home) },
		LastLines: h.lastLines, Mask: h.maskAgentSecrets, WatchOutput: h.watchOutput,
		CheckArgv: []string{h.Self, CheckCommand}, CheckEnv: func() []string { return append(inPath(h.ToolEnv(), h.Self), "ORANGE_HOME="+h.Home) },
		MaskCheck: func(text string) string { return MaskSecrets(h.ToolEnv(), text) },
	}
	if h.terminal != nil {
		o.Terminal = terminal{h.terminal}
	}
	h.Agents = agents.New(o)
	return nil
}

// AdoptAttempts watches the attempts of tasks that are not over.
func (h *Host) AdoptAttempts(ctx context.Context, tasks []task.Task) {
	if h.Agents != nil {
		h.Agents.AdoptAttempts(tasks)
	}
	if h.terminal != nil && len(tasks) > 0 {
		if err := h.terminal.Configure(ctx); err != nil {
			h.Log.Warn("prepare the agents' terminals", "component", "agents", "error", err)
		}
	}
}

// StopWaiting ends every wait for an agent.
func (h *Host) StopWaiting() {
	if h.Agents != nil {
		h.Agents.StopWaiting()
	}
}

// Close stops watching agents. They keep running.
func (h *Host) Close() error {
	if h.Agents != nil {
		h.Agents.Close()
		h.supervisor.Close()
	}
	if err := h.Watcher.Close(); err != nil {
		return fmt.Errorf("stop watching files: %w", err)
	}
	return nil
}

// AbsentAttempts lists the attempts of a task that have no process.
func (h *Host) AbsentAttempts(t *task.Task) []int {
	if h.Agents == nil {
		return nil
	}
	return h.Agents.AttemptsWithoutProcess(t)
}

// OutputFile returns the path of an attempt's output, or "" if no agents run here.
func (h *Host) OutputFile(id task.ID, attempt int) string {
	if h.Agents == nil {
		return ""
	}
	return h.Agents.OutputFile(agents.Key{Task: id, Number: attempt})
}

// TasksFolder returns the folder of a data folder that holds the folders of tasks.
func TasksFolder(home string) string { return filepath.Join(home, "tasks") }

// Folders are the folders of tasks. Removing one removes the folders of its attempts too.
type Folders struct {
	*taskdir.Dir
	attempts string
}

// RemoveFolder implements local.Files.
func (f Folders) RemoveFolder(project string, id task.ID) error {
	if err := f.Dir.RemoveFolder(project, id); err != nil || !id.IsValid() {
		return err
	}
	return os.RemoveAll(filepath.Join(f.attempts, string(id)))
}

// AttemptFolders lists the folders of all attempts of a data folder.
func AttemptFolders(home string) []string {
	found, _ := fs.Glob(os.DirFS(home), "attempts/*/*") // a folder that cannot be read counts as empty
	for i := range found {
		found[i] = filepath.Join(home, found[i])
	}
	return found
}

// RequireNoAgents returns an error if agents run in a data folder. A server that only records effects trusts every
// caller, including agents, and never ends an agent.
func RequireNoAgents(home string) error {
	boot := shim.BootID()
	for _, dir := range AttemptFolders(home) {
		state, err := shim.Folder(dir).ReadState(boot)
		if err == nil && (state.Phase == shim.Running || state.Phase == shim.Starting) {
			return fmt.Errorf("cannot only record effects, because agents run in %s: set ORANGE_HOME to another data folder, or unset ORANGE_EFFECTS", home)
		}
	}
	return nil
}
