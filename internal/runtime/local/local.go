// Package local drives the engine on one machine. It is the single writer of the
// store: it takes signals, one at a time per task, lets the engine decide, commits
// what was decided, and only then has the effects carried out. What a decision means
// is the engine's affair; how an effect is done is the performer's.
package local

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// Records keeps tasks and their journals.
type Records interface {
	Commit(ctx context.Context, commits []journal.Commit) (firstRow int64, err error)
	Task(id task.ID) (task.Task, bool, error)
	Journal(id task.ID, after int) ([]journal.Entry, error)
	Rows(after int64, id task.ID, limit int) ([]journal.Row, error)
}

// Overview answers questions about many tasks.
type Overview interface {
	UnsettledTasks() ([]task.Task, error)
	QueuedTasks(project string) ([]task.ID, error)
	BoundWorkspaces() (map[string]task.ID, error)
	TaskByBranch(project, branch string) (task.ID, bool, error)
	TaskBeside(project, branch string) (task.ID, bool, error) // whose branch git cannot hold beside this one
}

// Projects keeps the registered repositories.
type Projects interface {
	Projects() ([]task.Project, error)
	SaveProject(p task.Project) error
	DeleteProject(name string) error
	OpenTasks(project string) (int, error)
}

// Notes keeps workflow texts by hash, and settings.
type Notes interface {
	SaveWorkflow(hash, name, file, text string) error
	Workflow(hash string) (name, file, text string, ok bool, err error)
	Setting(key string) (string, error)
	SetSetting(key, value string) error
}

// Refusals keeps the newest of what was refused to each task.
type Refusals interface {
	SaveRefusals(list []journal.Refusal) error
	Refusals(id task.ID) ([]journal.Refusal, error)
}

// Store is everything that must survive.
type Store interface {
	Records
	Overview
	Projects
	Notes
	Refusals
}

// Files shows a task to people and agents as a folder with a TASK.md.
type Files interface {
	CreateFolder(project string, id task.ID, body []byte) error
	ReadTaskFile(project string, id task.ID) (taskfile.Document, error)
	ProjectRecord(t task.Task, entries []journal.Entry) error
	// WriteVerdict states a verdict in a section and returns the file as it was written.
	WriteVerdict(project string, id task.ID, section string, s taskfile.Statement) (taskfile.Document, error)
	LastSeq(project string, id task.ID) (int, error)
	RemoveFolder(project string, id task.ID) error
}

// A Library finds workflow files that people wrote.
type Library interface {
	Find(name, repo string) (file, text string, ok bool, err error)
}

// A TaskFileSync makes sure that what an agent sees as its TASK.md is the task's, and that
// what it wrote there, however it did, is in the task's folder.
type TaskFileSync interface {
	SyncTaskFile(ctx context.Context, t *task.Task) error
	// CheckWorkspace says what is wrong with the task's workspace, nil if it is a worktree of the
	// project's repository on the task's branch.
	CheckWorkspace(ctx context.Context, t *task.Task) error
}

// An EvidenceSource looks up facts about the world that gates ask for.
type EvidenceSource interface {
	Probe(ctx context.Context, q Question) signal.Evidence
}

// A Question is a fact that deciding about a task may need.
type Question struct {
	Name    string // of the evidence
	Project task.Project
	Task    *task.Task
	Attempt int                // whose work it is about, 0 for nobody's
	Gate    *workflow.Gate     // that asks; nil for claims
	Git     *signal.GitActions // what a worker claims
	Commit  string             // last one of a pull request that was merged or closed
}

// EffectResult is how an effect went.
type EffectResult struct {
	Session      string          // the terminal session the agent runs in
	Ended        []int           // attempts that are confirmed to be gone
	CardSnapshot *board.Snapshot // how the task's card looks
	Note         string          // what was left out though it is done, and why
	Base         string          // commit at which the branch left the default branch
	Salvage      string          // ref at which work that was not committed is kept
	Event        string          // what the deed itself makes true, as a tracker would say it
	Commit       string          // pr:merged: what a forge has merged, "" if that was done here
	Landed       string          // commit by which the work came into the default branch, "" if nothing did
	Fields       []signal.Field  // values of the record that the deed found or made
}

// A Performer carries out one effect. It is called again with the same effect if
// nobody knows how it went, and must not do it twice.
type Performer interface {
	Perform(ctx context.Context, t task.Task, e task.Effect) (EffectResult, error)
}

// An Activity says when an attempt last showed life.
type Activity interface {
	LastActive(t *task.Task, attempt int) time.Time
}

// A SpendQuery says what the attempts of a project's tasks have cost on a day.
type SpendQuery interface {
	SpentOn(project, day string) (attempts int, micros int64, err error)
}

// RuntimeOptions are what a Runtime needs.
type RuntimeOptions struct {
	Store          Store
	Files          Files // nil: tasks are shown to nobody
	Library        Library
	EvidenceSource EvidenceSource
	Performer      Performer
	TaskFileSync   TaskFileSync                                // nil: nobody sees a task elsewhere than in its folder
	Activity       Activity                                    // nil: nobody knows, and silence ends no agent
	Absent         func(t *task.Task) []int                    // attempts that have no process now; nil: nobody knows
	Message        func(t *task.Task) func(attempt int) string // what attempts said last; nil: nobody knows
	Relations      Relations                                   // nil: tasks stand alone
	SpendQuery     SpendQuery                                  // nil: no day has a budget
	Commit         func(t *task.Task) string                   // the commit a task's branch is at, "" if nobody knows
	Branch         func(p task.Project, branch string) error   // says why a task cannot have a branch; nil: every one will do
	Harnesses      func(name, effort string) error             // says what is wrong with a harness or its effort
	Log            *slog.Logger
	Clock          func() time.Time
	Workflow       string             // of tasks that name none and whose project names none
	Harness        string             // of tasks that name none
	Codes          Codes              // shows codes to people; nil: none can be shown
	Review         string             // harness of reviewers, likewise; "" for the task's own
	Fault          func(point string) // called at every commit and effect boundary
	Still          bool               // no effect starts, no timer fires and nothing old is shown: for repairs
}

// Runtime is the single writer. New builds it, Start drives it, Close waits until it is still.
type Runtime struct {
	RuntimeOptions

	writer   writer
	locks    keyedMutex
	records  cache
	defs     definitions
	pool     pool
	clock    schedule
	drives   drives
	commits  commitNotifier
	shown    shownCursor
	refusals refusalQueue
	codes    codeStore
	silence  silence

	registry sync.Mutex // held by whoever changes the projects

	ctx    context.Context
	cancel context.CancelFunc
	work   context.Context // of effects: they may end what they began
	drop   context.CancelFunc
	wait   sync.WaitGroup
	mu     sync.Mutex
	paused bool
	closed bool
}

// dropAfter is how long effects that run may take to end once the runtime closes. What
// is broken off is done by the next one.
const dropAfter = 3 * time.Second

// performers bounds how many effects run at the same time.
const performers = 16

// New builds a runtime on a store. It performs no effect and fires no timer before Start.
func New(o RuntimeOptions) (*Runtime, error) {
	if o.Fault == nil {
		o.Fault = func(string) {}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	r := &Runtime{RuntimeOptions: o}
	r.records.init()
	r.defs.init()
	r.codes.init()
	r.drives.init(performers)
	r.commits.init()
	r.clock.init()
	if err := r.loadState(); err != nil {
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.work, r.drop = context.WithCancel(context.Background())
	return r, nil
}

// Start fires timers and drives again whatever is pending in the store.
func (r *Runtime) Start() error {
	r.wait.Go(func() { r.clock.run(r.ctx, r.Clock, r.fireTimers) })
	if r.Still {
		return nil
	}
	return r.pickUp()
}

// Open builds a runtime and starts it.
func Open(o RuntimeOptions) (*Runtime, error) {
	r, err := New(o)
	if err != nil {
		return nil, err
	}
	if err := r.Start(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// loadState reads what must be known before the first signal.
func (r *Runtime) loadState() error {
	bound, err := r.Store.BoundWorkspaces()
	if err != nil {
		return fmt.Errorf("read the bound workspaces: %w", err)
	}
	projects, err := r.Store.Projects()
	if err != nil {
		return fmt.Errorf("read the projects: %w", err)
	}
	r.pool.init(projects, bound)
	paused, err := r.Store.Setting(pausedKey)
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	r.paused = paused == "true" || r.Still
	return r.shown.load(r.Store)
}

// pickUp shows what was committed and not shown, and drives what is pending.
func (r *Runtime) pickUp() error {
	if err := r.showAgain(); err != nil {
		return err
	}
	return r.kickAll()
}

// kickAll looks at every task that waits for the engine.
func (r *Runtime) kickAll() error {
	tasks, err := r.Store.UnsettledTasks()
	if err != nil { // one record that cannot be read must not hold up the others
		r.Log.Error("read what is pending", "component", "local", "error", err)
	}
	for i := range tasks {
		if def, err := r.pinnedDefinition(&tasks[i]); err == nil {
			r.pool.updateSerials(def, &tasks[i])
		}
	}
	for i := range tasks {
		r.driveAndSchedule(&tasks[i])
	}
	for _, p := range r.pool.listProjects() {
		r.kickQueue(p.Name)
	}
	return nil
}

// Close lets running effects end, takes no more signals and returns when nothing
// moves any more. The store stays open: it is the caller's.
func (r *Runtime) Close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	patience := time.AfterFunc(dropAfter, r.drop)
	r.wait.Wait()
	patience.Stop()
	r.drop()
	r.commits.wakeFollowers()
	if r.Still { // what was not shown before is not shown now
		return
	}
	if err := r.shown.saveRow(r.Store); err != nil {
		r.Log.Error("save the projection's cursor", "component", "local", "error", err)
	}
}

// Busy says whether the engine has something to wait for or to do.
func (r *Runtime) Busy() bool {
	if r.clock.len() > 0 || r.drives.len() > 0 {
		return true
	}
	tasks, err := r.Store.UnsettledTasks()
	if err != nil {
		r.Log.Error("look for live agents", "component", "local", "error", err)
	}
	return slices.ContainsFunc(tasks, func(t task.Task) bool { return len(t.Attempts) > 0 })
}

// admitCaller counts a caller in, so that Close can wait for it.
func (r *Runtime) admitCaller() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return task.ErrClosing
	}
	r.wait.Add(1)
	return nil
}

// pinnedDefinition returns the workflow a task is pinned to.
func (r *Runtime) pinnedDefinition(t *task.Task) (*workflow.Definition, error) {
	return r.defs.loadPinned(t.WorkflowHash, r.Store)
}
