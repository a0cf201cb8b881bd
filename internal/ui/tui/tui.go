// Package tui is the dashboard: all tasks on a terminal, kept up to date by the event stream. It is a client like every
// other, and decides nothing: a key sends a request, and a refusal is shown with its reason. Package render styles the
// texts.
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

	"orange/internal/core/board"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/ui/client"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// Maximum frames per second, and maximum updates from the feed per second.
const (
	framesPerSecond  = 60
	changesPerSecond = 30
)

// exitTimeout is how long the dashboard waits, when a person quits, for the results of requests.
const exitTimeout = 2 * time.Second

// API is the part of the server's API that the dashboard uses.
type API interface {
	Feed
	Reader
	Commands
}

// Feed provides the state and its changes.
type Feed interface {
	ReadState(context.Context, client.StateQuery) (overview.State, error)
	FollowState(context.Context, client.FollowOptions) error
	ReadScreen(ctx context.Context, id, role string) (wire.Screen, error)
	WatchScreen(ctx context.Context, id, role string, each func(wire.Screen) error) error
}

// Reader provides what the detail pane and the forms read.
type Reader interface {
	ReadTask(ctx context.Context, id string) (wire.TaskDetails, error)
	ReadJournal(ctx context.Context, id string, after int) ([]journal.Entry, error)
	ExplainTask(ctx context.Context, id string) (explain.Explanation, error)
	ReadDiff(ctx context.Context, id string) (wire.Diff, error)
	ReadWorkflow(ctx context.Context, hash string) (wire.WorkflowText, error)
	ListWorkflows(context.Context) ([]wire.WorkflowInfo, error)
	AttachCommand(ctx context.Context, id, role string) (wire.AttachCommand, error)
	ListAttempts(ctx context.Context, id string) ([]wire.Attempt, error)
	ReadLog(ctx context.Context, id string, attempt int, after string) (wire.Log, error)
	ReadBoard(ctx context.Context, project string) (wire.Board, error)
	ReadCard(ctx context.Context, project string, number int) (wire.CardDetails, error)
}

// Commands are the requests that keys send.
type Commands interface {
	SendSignal(ctx context.Context, id string, s signal.Signal) (wire.Answer, error)
	CreateTask(context.Context, signal.NewTask) (wire.Answer, error)
	TypeText(ctx context.Context, id, role, text string) error
	PressKey(ctx context.Context, id string, in wire.KeyInput) error
	SyncForges(context.Context) ([]string, error)
	PauseAll(context.Context) error
	ResumeAll(context.Context) error
	UpdateProject(ctx context.Context, name string, change wire.ProjectChange) (wire.ProjectDetails, error)
	AddCard(ctx context.Context, project string, n wire.NewCard) (wire.AddedCard, error)
	ChangeCard(ctx context.Context, project string, number int, change board.Change, code string) (wire.ChangedCard, error)
}

// DashboardOptions configures the dashboard.
type DashboardOptions struct {
	API     API
	In      io.Reader
	Out     io.Writer
	Environ []string // of the terminal
	Project string   // "" for all
	Hint    string   // note shown at the start
	Once    bool     // quit to attach to a terminal, and do not return
	Create  bool     // begin with the form for a new task
	NoColor bool     // NO_COLOR is set
	Theme   string   // one of Themes, "" for auto
	Bell    bool     // ring when something new waits for a person

	Harness func(string) (string, error) // resolves a harness that a person typed; nil: unchanged
	Now     func() time.Time             // nil: the clock

	// Register makes the repository of the person's folder a project and returns its name; nil if it is one, or none.
	// Later calls return the same.
	Register func(context.Context) (string, error)
}

// Themes lists the values of the setting theme: auto follows the background of the terminal.
func Themes() []string { return []string{"auto", "light", "dark"} }

// Run shows the dashboard until the person quits. With Once it returns the command to run next.
func Run(ctx context.Context, o DashboardOptions) (then []string, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	end := ctx
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // requests outlive ctx, so that they can end
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
		return nil, nil // it was asked to quit, and did
	}
	if err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return nil, fmt.Errorf("show the dashboard: %w", err)
	}
	if unseen != "" && len(m.then) == 0 {
		return nil, errors.New(unseen)
	}
	return m.then, nil
}

// awaitRequestsBriefly waits a while for running requests.
func (m *model) awaitRequestsBriefly() string {
	ctx, cancel := context.WithTimeout(m.ctx, exitTimeout)
	defer cancel()
	return m.awaitRequests(ctx)
}

// OutsideTmux removes the variables from an environment that show that this runs inside tmux: they would prevent
// another tmux from running here.
func OutsideTmux(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		return strings.HasPrefix(kv, "TMUX=") || strings.HasPrefix(kv, "TMUX_PANE=")
	})
}
