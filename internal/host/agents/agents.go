// Package agents runs attempts: it starts the agent of a role, sends it messages, ends it, receives the reports of
// its hooks, and notices its end. It submits all of this to the engine as signals; the engine decides what follows.
package agents

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/engine"
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
	Start(ctx context.Context, dir string, o agent.Orders) (pids []int, err error) // the shim's first; does nothing if the attempt runs
	Watch(dir string, over func(agent.Exit)) error
	End(ctx context.Context, dir string) error // returns when every process is gone
	ReadPhase(dir string) (agent.Phase, []int, error)
	HasProcess(dir string) bool                           // reports whether the agent's process exists now; true if that is unknown
	EndKeyCarriers(ctx context.Context, key string) error // ends every process that carries the key; needs no records
	Ancestry(pid int) (line []int, origin agent.Origin)   // pid and its parents up to its origin, nearest first
	MarkOf(pid int) string                                // the key that a process was started with, "" without one
}

// A Terminal holds the windows of agents that have one.
type Terminal interface {
	SessionName(project, branch string) string
	TypeKeys(ctx context.Context, session, window, keys string) error
	CaptureText(ctx context.Context, session, window string) (string, error)
	ReadView(ctx context.Context, session, window string) (ansi.View, error)
	// PasteAt and EnterAt do nothing and return false if something was drawn since seen was read, or if tmux itself
	// handles keys.
	PasteAt(ctx context.Context, session, window string, seen ansi.View, text string) (done bool, err error)
	EnterAt(ctx context.Context, session, window string, seen ansi.View) (done bool, err error)
	CloseWindow(ctx context.Context, session, window string) error
	CloseSession(ctx context.Context, session string) error
	RenameSession(ctx context.Context, from, to string) error
}

// Harnesses know the agents that can be started, by the name of their harness.
type Harnesses interface {
	PlanLaunch(l agent.Launch) (agent.Plan, error)
	ParseHook(harness, event string, payload []byte) (agent.Notice, error)
	ReadOutput(harness string, o agent.Output) agent.Notice
	ReadConversation(harness string, o agent.Output, after string) agent.Conversation
	ReadScreen(harness, pane string) (agent.Notice, bool)
	ReadInput(harness string, v ansi.View) ansi.Input
	TrustDialogKeys(harness, pane string) (keys string, ok bool)
	AsksFirst(harness string) bool           // it may show dialogs before it reads its prompt
	AcknowledgesPrompts(harness string) bool // a hook reports each prompt that it received
	SeparatesMessages(harness string) bool   // its messages can be separated from its other output
	HidesFailures(harness string) bool       // no hook reports that a turn failed
}

// Workspaces returns the folders of workspaces.
type Workspaces interface {
	Path(name string) string
	LandingPath(t *task.Task) string // the landing worktree of the task's target
}

// Engine receives the signals about attempts and returns tasks.
type Engine interface {
	Submit(ctx context.Context, id task.ID, sig signal.Signal) (engine.Answer, error)
	RetryEffect(id task.ID) // retries an effect that failed with task.ErrNotNow
}

// Prompts chooses the agent of a role, writes its prompts and messages, and finds its reports.
type Prompts interface {
	PlanStart(t *task.Task, e *task.Effect) (agent.StartPlan, error)
	StartPrompt(ctx context.Context, t *task.Task, e *task.Effect, o agent.Opening) (text, hash string, err error)
	MessageText(t *task.Task, e *task.Effect, nonce string) (string, error)
	FindReport(id task.ID, m agent.LastMessage) (*signal.Report, error) // nil: none is expected
}

// AgentOptions are what Agents needs.
type AgentOptions struct {
	Root       string // folder of all attempts
	ID         string // of the data folder: part of the marks of its attempts
	Key        []byte // tokens are made with it
	Tmux       string // folder of the folders in which agents may start a tmux
	Processes  Processes
	Terminal   Terminal // nil: agents run without one
	Harnesses  Harnesses
	Workspaces Workspaces
	Engine     Engine
	Task       func(id task.ID) (task.Task, bool, error) // the record of a task
	Prompts    Prompts
	Env        func(harness string) []string     // what an agent inherits
	LastLines  func(k Key, card Card) []string   // returns the last lines of an attempt that is over, as text without secrets
	Mask       func(harness, text string) string // removes secrets from what a harness shows
	// WatchOutput calls changed shortly after each write to an output file, until stop is called.
	WatchOutput func(file string, changed func()) (stop func(), err error)
	Term        string                   // TERM for programs in the terminal
	CheckArgv   []string                 // the program that runs a check; the folder of its attempt follows
	CheckEnv    func() []string          // what a check inherits
	MaskCheck   func(text string) string // removes secrets from what a check printed
	Log         *slog.Logger
	Clock       func() time.Time
}

// Agents runs attempts on this machine.
type Agents struct {
	AgentOptions

	cards         sync.Mutex // held while a card is changed
	mu            sync.Mutex
	live          map[Key]*attempt
	pids          map[int]Key     // of shims and agents that run
	pendingStarts []chan struct{} // starts in progress: each is closed when pids has the new processes
	stopping      bool
	wait          sync.WaitGroup
	ctx           context.Context
	cancel        context.CancelFunc
}

// attempt is an attempt that is being watched.
type attempt struct {
	over     chan struct{} // closed when its end has been submitted
	prompted chan struct{} // receives when the agent acknowledged a prompt
	pids     []int         // the shim's first
	watched  atomic.Bool   // its screen is being watched, because a message is pending
	reports  sync.Mutex    // held while its condition is determined and submitted

	hooked bool // a hook was called
	turn   bool // a hook reported that a turn began
	hooks  int  // number of hook calls
}

// New returns Agents without any attempt. AdoptAttempts finds those that run.
func New(o AgentOptions) *Agents {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	a := &Agents{AgentOptions: o, live: make(map[Key]*attempt), pids: make(map[int]Key)}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a
}

// StopWaiting ends every wait for an agent.
func (a *Agents) StopWaiting() {
	a.mu.Lock()
	a.stopping = true
	a.mu.Unlock()
	a.cancel()
}

// Close stops watching agents. They keep running.
func (a *Agents) Close() {
	a.StopWaiting()
	a.wait.Wait()
}

// Len returns how many attempts are being watched or started.
func (a *Agents) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.live) + len(a.pendingStarts)
}

// announceStart announces a start; the caller calls over when pids has the new processes. Until then an unknown process
// may be the one that is being started, because it runs before its pid is known here.
func (a *Agents) announceStart() (over func()) {
	started := make(chan struct{})
	a.mu.Lock()
	a.pendingStarts = append(a.pendingStarts, started)
	a.mu.Unlock()
	return func() {
		a.mu.Lock()
		a.pendingStarts = slices.DeleteFunc(a.pendingStarts, func(c chan struct{}) bool { return c == started })
		a.mu.Unlock()
		close(started)
	}
}

// AttemptsWithoutProcess lists the attempts of a task whose agents have no process now: attempts that are being
// started, and attempts whose end is not recorded yet.
func (a *Agents) AttemptsWithoutProcess(t *task.Task) []int {
	var out []int
	for i := range t.Attempts {
		if n := t.Attempts[i].Number; !a.Processes.HasProcess(a.Folder(Key{t.ID, n})) {
			out = append(out, n)
		}
	}
	return out
}

// IsWatched reports whether an attempt is being watched.
func (a *Agents) IsWatched(k Key) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.live[k] != nil
}
