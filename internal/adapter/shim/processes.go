package shim

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"orange/internal/core/agent"
)

// grace is how long an agent has to exit after it was told to.
const grace = 5 * time.Second

// Processes supervises the processes of attempts with shims, in windows of tmux or without. The fields are set
// once.
type Processes struct {
	Supervisor *Supervisor
	Data       DataFolder
	ID         string                    // of the data folder
	Socket     string                    // where this server answers
	Wake       []string                  // starts a server, if this one is gone when an agent ends
	WakeEnv    func() []string           // of that
	Window     func(agent.Orders) Launch // launches a shim in a window
	Terminal   string                    // socket of the tmux of agents; "" without one
	Boot       string                    // as BootID says
	Self       int                       // this server
	running    sync.Map                  // folder -> Process: agents that were seen to run
}

// Start implements agents.Processes.
func (p *Processes) Start(ctx context.Context, dir string, o agent.Orders) ([]int, error) {
	f := Folder(dir)
	if err := f.PrepareStart(); err != nil {
		return nil, err
	}
	launch := p.Supervisor.PlainLaunch()
	if o.Window != nil {
		launch = p.Window(o)
	}
	started, err := p.Supervisor.StartAttempt(ctx, f, Orders{
		Orders: o, Grace: grace, Socket: p.Socket, Wake: p.Wake, WakeEnv: p.WakeEnv(),
	}, launch)
	if err != nil {
		return nil, err
	}
	return pidsOf(started), nil
}

func pidsOf(s Started) []int {
	var out []int
	for _, pid := range []int{s.Shim.PID, s.Child.PID} {
		if pid > 0 {
			out = append(out, pid)
		}
	}
	return out
}

// Watch implements agents.Processes.
func (p *Processes) Watch(dir string, over func(agent.Exit)) error {
	return p.Supervisor.WatchAttempt(Folder(dir), func(x agent.Exit) {
		p.running.Delete(dir)
		over(x)
	})
}

// End implements agents.Processes.
func (p *Processes) End(ctx context.Context, dir string) error {
	_, err := p.Supervisor.EndAttempt(ctx, Folder(dir))
	return err
}

// ReadPhase implements agents.Processes. An attempt whose process could not be started may be started again, and
// a shim that is starting waits for its orders: both count as absent.
func (p *Processes) ReadPhase(dir string) (agent.Phase, []int, error) {
	s, err := Folder(dir).ReadState(p.Boot)
	switch {
	case err != nil || s.Phase == None || s.Phase == Starting:
		return agent.Absent, nil, err
	case s.Phase == Over && s.Started.Child.PID == 0 && !s.Started.Ended:
		return agent.Absent, nil, nil
	case s.Phase == Running:
		return agent.Alive, pidsOf(s.Started), nil
	}
	return agent.Gone, nil, nil
}

// HasProcess implements agents.Processes. It checks the process itself, by pid and start time.
func (p *Processes) HasProcess(dir string) bool {
	if child, ok := p.running.Load(dir); ok {
		return p.stillThere(dir, child.(Process))
	}
	s, err := Folder(dir).ReadState(p.Boot)
	switch {
	case err != nil:
		return true
	case s.Phase != Running && s.Phase != Lost || s.Started.Child.PID == 0:
		return false
	}
	p.running.Store(dir, s.Started.Child)
	return p.stillThere(dir, s.Started.Child)
}

func (p *Processes) stillThere(dir string, child Process) bool {
	if child.Alive() {
		return true
	}
	p.running.Delete(dir)
	return false
}

// EndKeyCarriers implements agents.Processes.
func (p *Processes) EndKeyCarriers(ctx context.Context, key string) error {
	return p.Supervisor.EndKeyCarriers(ctx, key)
}

// Ancestry implements agents.Processes. The line ends at this server, because the parents of the server do not
// speak for it. The server's own requests are made for people at its page.
func (p *Processes) Ancestry(pid int) (line []int, origin agent.Origin) {
	if pid == p.Self {
		return nil, agent.Outside
	}
	line, whole := Ancestry(pid)
	if !whole {
		origin = agent.UnknownLine
	}
	if i := slices.Index(line, p.Self); i >= 0 {
		line, origin = line[:i], agent.FromServer
	}
	if p.Terminal != "" {
		if i := slices.Index(line, ListenerPID(p.Terminal)); i >= 0 {
			line, origin = line[:i], agent.FromTmux
		}
	}
	return line, origin
}

// MarkOf implements agents.Processes. It identifies a shim by the record of its attempt, because the shim may outlive
// the attempt of the agent that started it.
func (p *Processes) MarkOf(pid int) string {
	if f, ok := p.Data.ShimFolder(pid); ok {
		return p.ID + "/" + filepath.Base(filepath.Dir(string(f))) + "/" + filepath.Base(string(f))
	}
	return MarkOf(pid)
}
