package runtimetest

import (
	"context"
	"io"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

// Signals submits signals to a runtime and reads its tasks.
type Signals interface {
	Submit(ctx context.Context, id task.ID, sig signal.Signal) (engine.Answer, error)
	Create(ctx context.Context, w signal.NewTask) (engine.Answer, error)
	ImportTask(ctx context.Context, n signal.New, workflow string, body []byte, via *signal.Via) (engine.Answer, error)
	FollowJournal(after int64, id task.ID, limit int) ([]journal.Row, <-chan struct{}, error)
}

// Control pauses and closes a runtime.
type Control interface {
	SetPaused(paused bool) error
	UpdateProject(p task.Project) error
	Busy() bool
	Close()
}

// Transfer exports everything from a runtime, and imports it into another.
type Transfer interface {
	Export(ctx context.Context, w io.Writer) error
	Restore(ctx context.Context, r io.Reader) (ImportSummary, error)
}

// ImportSummary is the result of a Restore.
type ImportSummary struct {
	Tasks, Projects int
	Skipped         []string
}

// Runtime is what the suite needs of a runtime.
type Runtime interface {
	Signals
	Control
	Transfer
}

// RecordsPort stores tasks and their journals.
type RecordsPort interface {
	Commit(ctx context.Context, commits []journal.Commit) (firstRow int64, err error)
	Task(id task.ID) (task.Task, bool, error)
	Journal(id task.ID, after int) ([]journal.Entry, error)
	Rows(after int64, id task.ID, limit int) ([]journal.Row, error)
}

// Overview queries many tasks.
type Overview interface {
	UnsettledTasks() ([]task.Task, error)
	QueuedTasks(project string) ([]task.ID, error)
	BoundWorkspaces() (map[string]task.ID, error)
	TaskByBranch(project, branch string) (task.ID, bool, error)
	TaskBeside(project, branch string) (task.ID, bool, error)
	DependentTasks() ([]task.Task, error)
}

// ProjectsPort stores the registered repositories.
type ProjectsPort interface {
	Projects() ([]task.Project, error)
	SaveProject(p task.Project) error
	DeleteProject(name string) error
	OpenTasks(project string) (int, error)
}

// Notes stores workflow texts by hash, and settings.
type Notes interface {
	SaveWorkflow(hash, name, file, text string) error
	Workflow(hash string) (name, file, text string, ok bool, err error)
	Setting(key string) (string, error)
	SetSetting(key, value string) error
}

// Refusals stores the refusals of each task.
type Refusals interface {
	SaveRefusals(list []journal.Refusal) error
	Refusals(id task.ID) ([]journal.Refusal, error)
}

// Archive reads everything in a store, in the order of writing.
type Archive interface {
	EachRow(ctx context.Context, yield func(journal.Row) error) error
	ID() (string, error)
	EachWorkflow(ctx context.Context, yield func(hash, name, file, text string) error) error
}

// StorePort stores everything that must survive.
type StorePort interface {
	RecordsPort
	Overview
	ProjectsPort
	Notes
	Refusals
	Archive
}

// Folders presents tasks to people and agents.
type Folders interface {
	CreateFolder(project string, id task.ID, body []byte) error
	ReadTaskFile(project string, id task.ID) (taskfile.Document, error)
	WriteVerdict(project string, id task.ID, section string, s taskfile.Statement) (taskfile.Document, error)
	ShowRecord(t task.Task, entries []journal.Entry, earlier func(after int) ([]journal.Entry, error)) error
	LastSeq(project string, id task.ID) (int, error)
	RemoveFolder(project string, id task.ID) error
}

// A World is what a runtime is opened on, with a way to edit a TASK.md from outside.
type World struct {
	Store   StorePort
	Folders Folders
	Edit    func(project string, id task.ID, change func(text string) string) error
}

// Setup is what a runtime under test is opened with, also after a restart.
type Setup struct {
	Store     StorePort
	Folders   Folders
	Performer *FakePerformer
	Library   func(name string) (text string, ok bool) // workflows that people wrote
}
