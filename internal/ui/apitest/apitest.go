// Package apitest provides the real API server over parts that return empty values, for tests of its clients. A test
// replaces the parts that it needs.
package apitest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"

	"orange/internal/core/agent"
	"orange/internal/core/board"
	"orange/internal/core/boardcheck"
	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/stats"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/tracker"
	"orange/internal/doctor"
	"orange/internal/ui/api"
	"orange/internal/view/diff"
	"orange/internal/wire"
)

// NewServer returns a server that has every part, and the tasks of a store.
func NewServer(store *FakeStore) *api.Server {
	s := &api.Server{
		Engine: Engine{FakeStore: store}, Control: &Control{}, Projects: Projects{}, Tasks: store, Workflows: store, Folders: FakeFolders{}, Transfer: transfer{},
		Attempts: Attempts{}, Workspaces: workspaces{}, Boards: boards{}, Trackers: Trackers{}, Rows: store, Statistics: Statistics{}, Screens: Screens{}, Changes: changes{},
		Library: FakeLibrary{}, Page: emptyPage{}, Release: "1.2.3", PID: 7, Log: slog.New(slog.DiscardHandler), Definition: store.Definition,
		Inbox:  func(context.Context, string) ([]explain.Item, error) { return nil, nil },
		Where:  func(context.Context, string) (wire.Location, error) { return wire.Location{}, nil },
		Checks: func(context.Context) []doctor.Result { return nil },
		Repair: func(context.Context) error { return nil },
		Stop:   func() {},
	}
	s.VerifyChain = func(context.Context, task.ID) (chain journal.Chain, broken, err error) { return chain, nil, nil }
	return s
}

// Statistics returns its report, with the groups that were asked for.
type Statistics struct{ wire.Stats }

func (s Statistics) Report(_ context.Context, q wire.StatsQuery) (wire.Stats, error) {
	s.By, s.Project, s.Since = q.By, q.Project, q.Since
	if s.Groups == nil {
		s.Groups = []stats.Group{}
	}
	if s.Checks == nil {
		s.Checks = []stats.CheckGroup{}
	}
	if s.Total.Outcomes == nil {
		s.Total.Outcomes = map[stats.Outcome]int{}
	}
	return s.Stats, nil
}

// Engine accepts everything and changes nothing.
type Engine struct{ *FakeStore }

func (Engine) Submit(context.Context, task.ID, signal.Signal) (engine.Answer, error) {
	return engine.Answer{}, nil
}
func (Engine) Create(context.Context, signal.NewTask) (engine.Answer, error) {
	return engine.Answer{}, nil
}
func (Engine) Explain(context.Context, task.ID) (explain.Explanation, error) {
	return explain.Explanation{}, nil
}
func (Engine) ForkTask(context.Context, task.ID, int, signal.NewTask) (engine.Answer, error) {
	return engine.Answer{}, nil
}
func (Engine) RecordRefusal(task.ID, signal.Signal, string) {}

// Control records whether all tasks are paused.
type Control struct{ paused atomic.Bool }

func (c *Control) SetPaused(paused bool) error { c.paused.Store(paused); return nil }
func (c *Control) Paused() bool                { return c.paused.Load() }
func (*Control) Busy() bool                    { return false }

// Projects are the registered projects. Every change succeeds and has no effect.
type Projects []task.Project

func (p Projects) Projects() []task.Project { return p }
func (Projects) RegisterProject(_ context.Context, p task.Project) (task.Project, error) {
	return p, nil
}
func (Projects) ChangeProject(context.Context, string, wire.ProjectChange) (task.Project, error) {
	return task.Project{}, nil
}
func (Projects) UnregisterProject(context.Context, string, string) error { return nil }

// FakeFolders returns the same TASK.md for every task, none if Body is empty.
type FakeFolders struct{ Dir, Body string }

func (f FakeFolders) Path(string, task.ID) string { return f.Dir }
func (f FakeFolders) ReadTaskFile(string, task.ID) (taskfile.Document, error) {
	if f.Body == "" {
		return taskfile.Document{}, errors.New("there is no TASK.md")
	}
	return taskfile.Parse([]byte(f.Body))
}

type transfer struct{}

func (transfer) Export(context.Context, io.Writer) error { return nil }
func (transfer) Import(_ context.Context, r io.Reader) (wire.Imported, error) {
	_, err := io.Copy(io.Discard, r)
	return wire.Imported{}, err
}
func (transfer) ImportFolder(context.Context, string) (wire.Imported, error) {
	return wire.Imported{}, nil
}

// Attempts has no attempts.
type Attempts struct{}

func (Attempts) ListAttempts(task.Task) ([]wire.Attempt, error)                         { return nil, nil }
func (Attempts) AttachCommand(task.Task, string) ([]string, error)                      { return nil, nil }
func (Attempts) AttemptLog(task.Task, int, string, string) (wire.Log, error)            { return wire.Log{}, nil }
func (Attempts) LastMessage(task.Task, int, string) (wire.Message, error)               { return wire.Message{}, nil }
func (Attempts) HandleHook(context.Context, agent.Caller, string, string, []byte) error { return nil }

type workspaces struct{}

func (workspaces) ListWorkspaces(context.Context) ([]wire.Workspace, error)        { return nil, nil }
func (workspaces) InitPool(context.Context, string, int) ([]wire.Workspace, error) { return nil, nil }
func (workspaces) CleanWorkspaces(context.Context, wire.CleanRequest) (removed, kept []wire.CleanedWorkspace, err error) {
	return nil, nil, nil
}
func (workspaces) ListSalvages(context.Context, string) ([]wire.Salvage, error) { return nil, nil }

type boards struct{}

func (boards) ReadBoard(context.Context, string) (board.Vocabulary, []board.Card, error) {
	return board.Vocabulary{}, nil, nil
}
func (boards) AddCard(context.Context, string, wire.NewCard) (wire.AddedCard, error) {
	return wire.AddedCard{}, nil
}
func (boards) ReadCard(context.Context, string, int) (board.Card, []board.Comment, error) {
	return board.Card{}, nil, nil
}
func (boards) ChangeCard(context.Context, string, int, board.Change, string) (card board.Card, changed bool, err error) {
	return board.Card{}, false, nil
}
func (boards) BoardMark(string) int64                                          { return 0 }
func (boards) NextBoardChange() <-chan struct{}                                { return nil }
func (boards) CardHistory(context.Context, string, int) ([]board.Event, error) { return nil, nil }

// Trackers returns its fields.
type Trackers struct {
	Readings []tracker.Reading
	Config   tracker.Config
	Kept     []tracker.Issue
	Report   tracker.Report
	Trial    tracker.Trial
	Round    tracker.Round
	News     []string
	Findings []boardcheck.Finding
	Err      error // of Sync
}

func (t Trackers) List() ([]tracker.Reading, error) { return t.Readings, nil }
func (t Trackers) SaveTracker(context.Context, tracker.Config) (tracker.Config, error) {
	return t.Config, nil
}
func (Trackers) RemoveTracker(context.Context, string) error    { return nil }
func (t Trackers) ListIssues(string) ([]tracker.Issue, error)   { return t.Kept, nil }
func (t Trackers) SyncForges(context.Context) ([]string, error) { return t.News, nil }
func (Trackers) IssueStatus(*task.Task) *tracker.IssueStatus    { return nil }
func (t Trackers) Sync(context.Context, string, bool) (tracker.Report, error) {
	return t.Report, t.Err
}
func (t Trackers) Test(context.Context, string) (tracker.Trial, error) { return t.Trial, nil }
func (t Trackers) Dispatch(context.Context, string, bool) (tracker.Round, error) {
	return t.Round, nil
}
func (t Trackers) CheckBoard(context.Context, wire.BoardCheckRequest) ([]boardcheck.Finding, error) {
	return t.Findings, nil
}

// Screens are empty and never change.
type Screens struct{}

func (Screens) ReadScreen(context.Context, task.Task, string) (wire.Screen, error) {
	return wire.Screen{}, nil
}
func (Screens) WatchOutput(context.Context, task.Task, string) (<-chan struct{}, error) {
	return nil, nil
}
func (Screens) TypeText(context.Context, task.Task, string, string) error { return nil }
func (Screens) PressKey(context.Context, task.Task, wire.KeyInput) error  { return nil }

type changes struct{}

func (changes) TaskDiff(context.Context, task.Task) (diff.Comparison, error) {
	return diff.Comparison{}, nil
}
func (changes) TaskFile(context.Context, task.Task, string, bool) (content []byte, cut bool, err error) {
	return nil, false, nil
}

// FakeLibrary lists the workflows that tasks may follow.
type FakeLibrary []wire.WorkflowInfo

func (l FakeLibrary) ListWorkflows(context.Context) ([]wire.WorkflowInfo, error) { return l, nil }

type emptyPage struct{}

func (emptyPage) OpenPage(context.Context) (wire.PageAddress, error) { return wire.PageAddress{}, nil }
func (emptyPage) PageToken(context.Context) (wire.PageToken, error)  { return wire.PageToken{}, nil }
