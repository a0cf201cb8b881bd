// Package agents runs attempts: it starts the agent of a role, tells it things, ends
// it, hears from its hooks how it is doing, and learns when it is over. What follows
// from that is the engine's to decide: all of it is submitted as signals.
package agents

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/view/ansi"
)

// A Key names an attempt.
type Key struct {
	Task   task.ID
	Number int
}

// Processes supervises the processes of attempts, each by its folder.
type Processes interface {
	Start(ctx context.Context, dir string, o agent.Orders) (pids []int, err error) // the attendant's first; does nothing for one that runs
	Watch(dir string, over func(agent.Exit)) error
	End(ctx context.Context, dir string) error // returns when every process is gone
	ReadPhase(dir string) (agent.Phase, []int, error)
	HasProcess(dir string) bool                           // the agent's process is there now; true if that cannot be told
	EndKeyCarriers(ctx context.Context, key string) error // ends whatever carries the key, without any records
	Ancestry(pid int) (line []int, origin agent.Origin)   // pid and its parents up to its origin, nearest first
	MarkOf(pid int) string                                // the key that a process was started with, "" without one
}

// A Terminal holds the windows of agents that have one.
type Terminal interface {
	SessionName(project, branch string) string
	TypeKeys(ctx context.Context, session, window, keys string) error
	CaptureText(ctx context.Context, session, window string) (string, error)
	ReadView(ctx context.Context, session, window string) (ansi.View, error)
	// PasteAt and EnterAt do nothing if something was drawn since the window was seen, or if tmux takes keys for itself.
	PasteAt(ctx context.Context, session, window string, seen ansi.View, text string) (done bool, err error)
	EnterAt(ctx context.Context, session, window string, seen ansi.View) (done bool, err error)
	CloseWindow(ctx context.Context, session, window string) error
	CloseSession(ctx context.Context, session string) error
	RenameSession(ctx context.Context, from, to string) error
}

// Harnesses know the agents that can be started, by the value a task has for them.
type Harnesses interface {
	PlanLaunch(l agent.Launch) (agent.Plan, error)
	ParseHook(harness, event string, payload []byte) (agent.Notice, error)
	ReadOutput(harness string, o agent.Output) agent.Notice
	ReadConversation(harness string, o agent.Output, after string) agent.Conversation
	ReadScreen(harness, pane string) (agent.Notice, bool)
	ReadInput(harness string, v ansi.View) ansi.Input
	TrustDialogKeys(harness, pane string) (keys string, ok bool)
	AsksFirst(harness string) bool           // it may show dialogs before it takes its prompt
	AcknowledgesPrompts(harness string) bool // a prompt, by a hook
	SeparatesMessages(harness string) bool   // what it says can be told from what else it prints
	HidesFailures(harness string) bool       // no hook says that a turn failed
}

// Workspaces say where a task's worktree is.
type Workspaces interface {
	Path(name string) string
}

// Engine takes what is to be said about attempts.
type Engine interface {
	Submit(ctx context.Context, id task.ID, sig signal.Signal) (refused string, err error)
	Task(id task.ID) (task.Task, bool, error)
	Retry(id task.ID) // an effect that failed with task.ErrNotNow, now
}

// Prompts say which agent a role wants and what it is told, and find what it reports.
type Prompts interface {
	PlanStart(t *task.Task, e *task.Effect) (agent.StartPlan, error)
	StartPrompt(ctx context.Context, t *task.Task, e *task.Effect, o agent.Opening) (string, error)
	MessageText(t *task.Task, e *task.Effect, nonce string) (string, error)
	FindReport(id task.ID, m agent.LastMessage) (*signal.Report, error) // nil: none is expected
}

// Options are what Agents needs.
type Options struct {
	Root       string // folder of all attempts
	ID         string // of the data folder: part of the marks of its attempts
	Key        []byte // tokens are made with it
	Tmux       string // folder of the folders in which agents may start a tmux
	Processes  Processes
	Terminal   Terminal // nil: agents run without one
	Harnesses  Harnesses
	Workspaces Workspaces
	Engine     Engine
	Prompts    Prompts
	Env        func(harness string) []string     // what an agent inherits
	LastLines  func(k Key, card Card) []string   // that an attempt which is over showed last, as text
	Mask       func(harness, text string) string // takes what is secret out of what a harness shows
	// WatchOutput calls changed a moment after an output file was written to, until it is stopped.
	WatchOutput func(file string, changed func()) (stop func(), err error)
	Term        string // kind of terminal that programs are told they have
	Log         *slog.Logger
	Clock       func() time.Time
}

// Agents runs attempts on this machine.
type Agents struct {
	Options

	cards         sync.Mutex // held by whoever changes a card
	mu            sync.Mutex
	live          map[Key]*attempt
	pids          map[int]Key     // of attendants and agents that live
	pendingStarts []chan struct{} // starts under way: closed when pids has what they started
	stopping      bool
	wait          sync.WaitGroup
	ctx           context.Context
	cancel        context.CancelFunc
}

// attempt is one that is being watched.
type attempt struct {
	over     chan struct{} // closes when its end has been submitted
	prompted chan struct{} // receives when it has taken a prompt in
	pids     []int         // the attendant's first
	watched  atomic.Bool   // its screen, because a message is owed
	reports  sync.Mutex    // held while how it is doing is judged and submitted

	hooked bool // a hook came
	turn   bool // a hook said that a turn began
	news   int  // hooks that came
}

// New returns Agents without any attempt. Adopt finds those that live.
func New(o Options) *Agents {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	a := &Agents{Options: o, live: make(map[Key]*attempt), pids: make(map[int]Key)}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a
}

// StopWaiting lets nobody wait for an agent any more.
func (a *Agents) StopWaiting() {
	a.mu.Lock()
	a.stopping = true
	a.mu.Unlock()
	a.cancel()
}

// Close stops listening. The agents go on.
func (a *Agents) Close() {
	a.StopWaiting()
	a.wait.Wait()
}

// Len is how many attempts are being watched or started.
func (a *Agents) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.live) + len(a.pendingStarts)
}

// announceStart announces a start. Until it is over, a process that is nobody's may be the one
// that is being started: it runs before anybody here knows its number.
func (a *Agents) announceStart() (over func()) {
	born := make(chan struct{})
	a.mu.Lock()
	a.pendingStarts = append(a.pendingStarts, born)
	a.mu.Unlock()
	return func() {
		a.mu.Lock()
		a.pendingStarts = slices.DeleteFunc(a.pendingStarts, func(c chan struct{}) bool { return c == born })
		a.mu.Unlock()
		close(born)
	}
}

// AttemptsWithoutProcess lists the attempts of a task whose agents have no process at this moment: those
// that are being started, and those whose end is not recorded yet.
func (a *Agents) AttemptsWithoutProcess(t *task.Task) []int {
	var out []int
	for i := range t.Attempts {
		if n := t.Attempts[i].Number; !a.Processes.HasProcess(a.Folder(Key{t.ID, n})) {
			out = append(out, n)
		}
	}
	return out
}

// IsWatched says whether an attempt is being watched.
func (a *Agents) IsWatched(k Key) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.live[k] != nil
}
