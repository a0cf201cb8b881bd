// Package tui is the dashboard: all tasks on a terminal, kept up to date by the event
// stream. It is a client like every other, and decides nothing: a key is a request, and
// what the server refuses is shown with its reason. How texts are coloured is paint's.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/ui/client"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// How often the screen is drawn in a second at most, and how often what the feed tells.
const (
	framesPerSecond  = 60
	changesPerSecond = 30
)

// exitTimeout is how long a person who leaves waits for the answers to what they asked.
const exitTimeout = 2 * time.Second

// API is what the dashboard asks the server.
type API interface {
	Feed
	Reader
	Commands
}

// Feed is how the dashboard learns what there is.
type Feed interface {
	ReadState(context.Context, client.StateQuery) (overview.State, error)
	FollowState(context.Context, client.FollowOptions) error
	WatchScreen(ctx context.Context, id, role string, each func(wire.Screen) error) error
}

// Reader is where the detail pane and the forms read.
type Reader interface {
	ReadTask(ctx context.Context, id string) (wire.TaskShown, error)
	ReadJournal(ctx context.Context, id string, after int) ([]journal.Entry, error)
	ExplainTask(ctx context.Context, id string) (explain.Explanation, error)
	ReadDiff(ctx context.Context, id string) (wire.Diff, error)
	ReadWorkflow(ctx context.Context, hash string) (wire.WorkflowText, error)
	ListWorkflows(context.Context) ([]wire.WorkflowInfo, error)
	AttachCommand(ctx context.Context, id, role string) (wire.Attachment, error)
}

// Commands is what keys ask for.
type Commands interface {
	SendSignal(ctx context.Context, id string, s signal.Signal) (wire.Answer, error)
	CreateTask(context.Context, signal.NewTask) (wire.Answer, error)
	TypeText(ctx context.Context, id, role, text string) error
	SyncForges(context.Context) ([]string, error)
	PauseAll(context.Context) error
	ResumeAll(context.Context) error
}

// DashboardOptions say what the dashboard shows, and where.
type DashboardOptions struct {
	API     API
	In      io.Reader
	Out     io.Writer
	Environ []string // of the terminal
	Project string   // "" for all
	Hint    string   // said at the beginning
	Once    bool     // leave for a terminal that is attached to, and do not come back
	Create  bool     // begin with the form for a new task
	NoColor bool     // NO_COLOR is set
	Bell    bool     // ring when something new waits for a person

	Harness func(string) (string, error) // settles what a person wrote as a harness; nil: as it is
	Now     func() time.Time             // nil: the clock
}

// Run shows the dashboard until the person leaves. With Once it returns the command that
// they left for.
func Run(ctx context.Context, o DashboardOptions) (then []string, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	end := ctx
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // of requests: who is told to leave lets them end
	defer cancel()
	m := newModel(ctx, o)
	m.end = end
	p := tea.NewProgram(m, tea.WithContext(end), tea.WithInput(o.In), tea.WithOutput(o.Out),
		tea.WithEnvironment(o.Environ), tea.WithFPS(framesPerSecond))
	m.send, m.program = p.Send, p
	var running sync.WaitGroup
	running.Go(func() { (&feed{api: o.API, send: p.Send, apart: time.Second / changesPerSecond}).run(ctx) })
	_, err = p.Run()
	m.pace.stopTimer()
	m.detail.stop()
	unseen := m.awaitRequestsBriefly()
	cancel()
	running.Wait()
	m.last.Wait()
	if end.Err() != nil {
		return nil, nil // it was told to leave, and did
	}
	if err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return nil, fmt.Errorf("show the dashboard: %w", err)
	}
	if unseen != "" && len(m.then) == 0 {
		return nil, errors.New(unseen)
	}
	return m.then, nil
}

// awaitRequestsBriefly gives what is under way a while to end.
func (m *model) awaitRequestsBriefly() string {
	ctx, cancel := context.WithTimeout(m.ctx, exitTimeout)
	defer cancel()
	return m.awaitRequests(ctx)
}

// OutsideTmux takes out of an environment what says that this runs inside tmux: it
// would keep another tmux from showing itself here.
func OutsideTmux(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		return strings.HasPrefix(kv, "TMUX=") || strings.HasPrefix(kv, "TMUX_PANE=")
	})
}
