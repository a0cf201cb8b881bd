package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"orange/internal/adapter/shim"
	"orange/internal/adapter/tmux"
	"orange/internal/core/agent"
	"orange/internal/view/ansi"
)

// grace is how long an agent has to exit after it was told to.
const grace = 5 * time.Second

// processes supervises the processes of attempts with shims, in windows of tmux or without.
type processes struct {
	*Host
	id      string // of the data folder
	boot    string
	self    int
	running sync.Map // folder -> shim.Process: agents that ran when they were last checked
}

// Start implements agents.Processes.
func (p *processes) Start(ctx context.Context, dir string, o agent.Orders) ([]int, error) {
	f := shim.Folder(dir)
	if err := f.PrepareStart(); err != nil {
		return nil, err
	}
	launch := p.supervisor.PlainLaunch()
	if o.Window != nil {
		launch = p.launchInWindow(o)
	}
	started, err := p.supervisor.StartAttempt(ctx, f, shim.Orders{
		Orders: o, Grace: grace, Socket: p.Socket, Wake: []string{p.Self, "serve", "--detached"}, WakeEnv: append(p.ServerEnv(), "ORANGE_HOME="+p.Home),
	}, launch)
	if err != nil {
		return nil, err
	}
	return pidsOf(started), nil
}

// launchInWindow opens a window for a shim. It first closes a window of the same name that an earlier attempt left.
func (p *processes) launchInWindow(o agent.Orders) shim.Launch {
	return func(ctx context.Context, argv []string) error {
		w := tmux.Window{Session: o.Window.Session, Name: o.Window.Name, Dir: o.Dir, Argv: argv, Log: o.Window.Log, Recorder: []string{p.Self, OutputCommand}, Width: ansi.TerminalWidth, Height: ansi.TerminalHeight}
		err := p.terminal.OpenWindow(ctx, w)
		if !errors.Is(err, tmux.ErrOpen) {
			return err
		}
		if err := p.terminal.CloseWindow(ctx, w.Session, w.Name); err != nil {
			return err
		}
		return p.terminal.OpenWindow(ctx, w)
	}
}

func pidsOf(s shim.Started) []int {
	var out []int
	for _, pid := range []int{s.Shim.PID, s.Child.PID} {
		if pid > 0 {
			out = append(out, pid)
		}
	}
	return out
}

// Watch implements agents.Processes.
func (p *processes) Watch(dir string, over func(agent.Exit)) error {
	return p.supervisor.WatchAttempt(shim.Folder(dir), func(x agent.Exit) {
		p.running.Delete(dir)
		over(x)
	})
}

// End implements agents.Processes.
func (p *processes) End(ctx context.Context, dir string) error {
	_, err := p.supervisor.EndAttempt(ctx, shim.Folder(dir))
	return err
}

// ReadPhase implements agents.Processes. An attempt whose process could not be started may be started again, and
// a shim that is starting waits for its orders: both count as absent.
func (p *processes) ReadPhase(dir string) (agent.Phase, []int, error) {
	s, err := shim.Folder(dir).ReadState(p.boot)
	switch {
	case err != nil || s.Phase == shim.None || s.Phase == shim.Starting:
		return agent.Absent, nil, err
	case s.Phase == shim.Over && s.Started.Child.PID == 0 && !s.Started.Ended:
		return agent.Absent, nil, nil
	case s.Phase == shim.Running:
		return agent.Alive, pidsOf(s.Started), nil
	}
	return agent.Gone, nil, nil
}

// HasProcess implements agents.Processes. It checks the process itself, by pid and start time.
func (p *processes) HasProcess(dir string) bool {
	if child, ok := p.running.Load(dir); ok {
		return p.stillThere(dir, child.(shim.Process))
	}
	s, err := shim.Folder(dir).ReadState(p.boot)
	switch {
	case err != nil:
		return true
	case s.Phase != shim.Running && s.Phase != shim.Lost || s.Started.Child.PID == 0:
		return false
	}
	p.running.Store(dir, s.Started.Child)
	return p.stillThere(dir, s.Started.Child)
}

func (p *processes) stillThere(dir string, child shim.Process) bool {
	if child.Alive() {
		return true
	}
	p.running.Delete(dir)
	return false
}

// EndKeyCarriers implements agents.Processes.
func (p *processes) EndKeyCarriers(ctx context.Context, key string) error {
	return p.supervisor.EndKeyCarriers(ctx, key)
}

// Ancestry implements agents.Processes. The line ends at this server, because the parents of the server do not
// speak for it. The server's own requests are made for people at its page.
func (p *processes) Ancestry(pid int) (line []int, origin agent.Origin) {
	if pid == p.self {
		return nil, agent.Outside
	}
	line, whole := shim.Ancestry(pid)
	if !whole {
		origin = agent.UnknownLine
	}
	if i := slices.Index(line, p.self); i >= 0 {
		line, origin = line[:i], agent.FromServer
	}
	if p.terminal != nil {
		if i := slices.Index(line, shim.ListenerPID(p.Terminal)); i >= 0 {
			line, origin = line[:i], agent.FromTmux
		}
	}
	return line, origin
}

// MarkOf implements agents.Processes. It identifies a shim by the record of its attempt, because the shim may outlive
// the attempt of the agent that started it.
func (p *processes) MarkOf(pid int) string {
	if f, ok := p.Data.ShimFolder(pid); ok {
		return p.id + "/" + filepath.Base(filepath.Dir(string(f))) + "/" + filepath.Base(string(f))
	}
	return shim.MarkOf(pid)
}

// terminal implements agents.Terminal with tmux.
type terminal struct{ *tmux.Server }

// SessionName implements agents.Terminal.
func (terminal) SessionName(project, branch string) string { return tmux.SessionName(project, branch) }

// inPath returns env with the folder of this program first in PATH.
func inPath(env []string, self string) []string {
	dir := filepath.Dir(self)
	out := make([]string, 0, len(env)+1)
	found := false
	for _, kv := range env {
		if value, ok := cutVariable(kv, "PATH"); ok {
			kv, found = "PATH="+dir+string(os.PathListSeparator)+value, true
		}
		out = append(out, kv)
	}
	if !found {
		out = append(out, "PATH="+dir)
	}
	return out
}

// envValue returns the value of a variable in an environment.
func envValue(env []string, name string) string {
	for _, kv := range env {
		if value, ok := cutVariable(kv, name); ok {
			return value
		}
	}
	return ""
}

func cutVariable(kv, name string) (string, bool) {
	if len(kv) > len(name) && kv[:len(name)] == name && kv[len(name)] == '=' {
		return kv[len(name)+1:], true
	}
	return "", false
}
