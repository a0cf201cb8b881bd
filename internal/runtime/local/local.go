// Package local runs the engine on one machine. It is the single writer of the store: it receives signals, one at a
// time per task, lets the engine decide, commits the decision, and only then performs the effects. The engine knows
// what a decision means; the performer knows how to perform an effect.
package local

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/board"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/keyedmutex"
)

// Records stores tasks and their journals.
type Records interface {
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
	TaskBeside(project, branch string) (task.ID, bool, error) // a task whose branch git cannot hold beside this one
	DependentTasks() ([]task.Task, error)                     // at least those that are after others, and the open ones that have a parent
}

// Projects stores the registered repositories.
type Projects interface {
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

// Refusals stores the newest refusals of each task.
type Refusals interface {
	SaveRefusals(list []journal.Refusal) error
	Refusals(id task.ID) ([]journal.Refusal, error)
}

// Store stores everything that must survive.
type Store interface {
	Records
	Overview
	Projects
	Notes
	Refusals
}

// Files presents a task to people and agents as a folder with a TASK.md.
type Files interface {
	CreateFolder(project string, id task.ID, body []byte) error
	ReadTaskFile(project string, id task.ID) (taskfile.Document, error)
	// ShowRecord writes a record and its last entries to the task's folder. If the folder lacks entries before them,
	// ShowRecord calls earlier, which returns the entries after a number.
	ShowRecord(t task.Task, entries []journal.Entry, earlier func(after int) ([]journal.Entry, error)) error
	// WriteVerdict writes a verdict into a section and returns the file as written.
	WriteVerdict(project string, id task.ID, section string, s taskfile.Statement) (taskfile.Document, error)
	RemoveFolder(project string, id task.ID) error
}

// A Library finds workflow files that people wrote.
type Library interface {
	Find(name, repo string) (file, text string, ok bool, err error)
}

// A TaskFileSync makes sure that the TASK.md in an agent's worktree is the task's, and that the task's folder has what
// the agent wrote there.
type TaskFileSync interface {
	// SyncTaskFile also returns the commit of the task's workspace, and what is wrong with the workspace: nil if it is a
	// worktree of the project's repository on the task's branch.
	SyncTaskFile(ctx context.Context, t *task.Task) (commit string, wrong error)
}

// An EvidenceSource looks up facts about the world that gates ask for.
type EvidenceSource interface {
	Probe(ctx context.Context, q Question) signal.Evidence
}

// A Question asks for a fact that a decision about a task may need.
type Question struct {
	Name    string // of the evidence
	Project task.Project
	Task    *task.Task
	Attempt int                // attempt that did the work, 0 for none
	Gate    *workflow.Gate     // gate that needs the fact; nil for claims
	Git     *signal.GitActions // what a worker claims
	Commit  string             // last commit of a pull request that was merged or closed
}

// EffectResult is the result of an effect.
type EffectResult struct {
	Session      string          // the terminal session the agent runs in
	Harness      string          // of the agent that was started
	Model        string          // that was requested for it
	PromptHash   string          // digest of the text of its prompt before values are filled in
	Ended        []int           // attempts whose processes are confirmed to be gone
	CardSnapshot *board.Snapshot // the task's card
	Note         string          // what was left out, and why
	Base         string          // commit at which the branch left the default branch
	Salvage      string          // ref at which uncommitted work was saved
	Aside        []string        // folders with work that git could not save
	Event        string          // event that the effect itself made true, as a tracker would report it
	Commit       string          // pr:merged: the commit that a forge merged, "" if it was merged here
	Landed       string          // commit that brought the work into the default branch, "" if none did
	Fields       []signal.Field  // values of the record that the effect found or set
	Landing      string          // merge: a step or the outcome of the landing, "" if it was merged
	Reuse        bool            // merge: results of checks in the workspace count for the candidate if it has the same tree
	InTheWay     []string        // merge: a person's files that are in the way
	Since        time.Time       // merge: since when somebody else keeps the target from moving
	Candidate    *task.Candidate // merge: what was built
}

// A Performer performs one effect. It is called again with the same effect if the result is unknown, and must not
// perform it twice.
type Performer interface {
	Perform(ctx context.Context, t task.Task, e task.Effect) (EffectResult, error)
}

// An Activity returns when an attempt was last active.
type Activity interface {
	LastActive(t *task.Task, attempt int) time.Time
}

// A SpendQuery returns what the attempts of a project's tasks cost on a day.
type SpendQuery interface {
	SpentOn(project, day string) (attempts int, micros int64, err error)
}

// Defaults are what tasks get that name nothing else.
type Defaults struct {
	Workflow string // of tasks without a workflow in projects without one
	Harness  string // of tasks without one
	Review   string // harness of reviewers of tasks without one; "" for the task's own
}

// RuntimeOptions are what a Runtime needs.
type RuntimeOptions struct {
	Store          Store
	Files          Files // nil: tasks have no folders
	Library        Library
	EvidenceSource EvidenceSource
	Performer      Performer
	TaskFileSync   TaskFileSync                                      // nil: a task's TASK.md is only in its folder
	Activity       Activity                                          // nil: unknown, and silence ends no agent
	Absent         func(t *task.Task) []int                          // returns attempts that have no process now; nil: unknown
	Message        func(t *task.Task) func(attempt int) string       // reads the last messages of attempts; nil: unknown
	Relations      Relations                                         // nil: tasks have no relations
	Priority       func(t *task.Task) int                            // returns the priority of a task's issue, from 1, the most urgent; nil, or 0: none
	SpendQuery     SpendQuery                                        // nil: projects have no daily budget
	Branch         func(p task.Project, branch string) error         // returns why a task cannot have a branch; nil: every branch is allowed
	HasBranch      func(p task.Project, branch string) (bool, error) // whether the repository has a branch; nil: it has none
	Harnesses      func(agent.Terms) error                           // returns what is wrong with a harness, or with what it is given
	Log            *slog.Logger
	Clock          func() time.Time
	Defaults       func() Defaults    // what tasks get that name nothing else; it may change
	Codes          Codes              // shows codes to people; nil: none can be shown
	Fault          func(point string) // called at every commit and effect boundary
	Still          bool               // no effect starts, no timer fires and no folder is brought up to date: for repairs
}

// Runtime is the single writer. New makes it, Start runs it, and Close waits until nothing runs.
type Runtime struct {
	RuntimeOptions

	writer   writer
	locks    keyedmutex.Mutex[task.ID]
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
	landings landings
	depends  dependencies

	registry sync.Mutex // held while the projects are changed

	ctx    context.Context
	cancel context.CancelFunc
	work   context.Context // of effects, which may finish when the runtime closes
	drop   context.CancelFunc
	wait   sync.WaitGroup
	mu     sync.Mutex
	paused bool
	closed bool
}

// dropAfter is how long running effects may take to finish once the runtime closes. The next runtime repeats those that
// are interrupted.
const dropAfter = 3 * time.Second

// performers bounds how many effects run at the same time.
const performers = 16

// New returns a runtime on a store. It performs no effect and fires no timer before Start.
func New(o RuntimeOptions) (*Runtime, error) {
	r := new(Runtime)
	if err := r.Build(o); err != nil {
		return nil, err
	}
	return r, nil
}

// Build is New for a runtime that its own parts hold already: those that carry out effects submit signals.
func (r *Runtime) Build(o RuntimeOptions) error {
	if o.Fault == nil {
		o.Fault = func(string) {}
	}
	if o.Defaults == nil {
		o.Defaults = func() Defaults { return Defaults{} }
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	r.RuntimeOptions = o
	r.records.init()
	r.defs.init()
	r.codes.init()
	r.drives.init(performers)
	r.commits.init()
	r.clock.init()
	r.landings.init()
	r.depends.init()
	if err := r.loadState(); err != nil {
		return err
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.work, r.drop = context.WithCancel(context.Background())
	return nil
}

// Start fires timers and performs the pending effects in the store.
func (r *Runtime) Start() error {
	r.wait.Go(func() { r.clock.run(r.ctx, r.Clock, r.fireTimers) })
	if r.Still {
		return nil
	}
	return r.pickUp()
}

// Open makes a runtime and starts it.
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
	if err := r.loadDependencies(); err != nil {
		return err
	}
	paused, err := r.Store.Setting(pausedKey)
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	r.paused = paused == "true" || r.Still
	return r.shown.load(r.Store)
}

// pickUp brings the folders of tasks up to date and performs pending effects.
func (r *Runtime) pickUp() error {
	if err := r.showAgain(); err != nil {
		return err
	}
	return r.checkWaitingTasks()
}

// checkWaitingTasks checks every task that waits for the engine.
func (r *Runtime) checkWaitingTasks() error {
	tasks, err := r.Store.UnsettledTasks()
	if err != nil { // one record that cannot be read must not block the others
		r.Log.Error("read what is pending", "component", "local", "error", err)
	}
	for i := range tasks {
		if def, err := r.pinnedDefinition(&tasks[i]); err == nil {
			r.pool.updateSerials(def, &tasks[i])
		}
		r.updateLanding(&tasks[i])
	}
	for i := range tasks {
		r.driveLatest(tasks[i])
	}
	for _, p := range r.pool.listProjects() {
		r.advanceQueue(p.Name)
	}
	r.reportPredecessors(r.depends.listOpen())
	return nil
}

// Close lets running effects finish, refuses further signals and returns when nothing runs. It does not close the
// store.
func (r *Runtime) Close() {
	r.mu.Lock()
	if r.closed || r.cancel == nil { // it was not built
		r.mu.Unlock()
		return
	}
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	dropping := time.AfterFunc(dropAfter, r.drop)
	r.wait.Wait()
	dropping.Stop()
	r.drop()
	r.commits.wakeFollowers()
	if r.Still { // folders that were behind stay behind
		return
	}
	if err := r.shown.saveRow(r.Store); err != nil {
		r.Log.Error("save the projection's cursor", "component", "local", "error", err)
	}
}

// Busy reports whether a task waits for the engine or an effect runs.
func (r *Runtime) Busy() bool {
	if r.clock.len() > 0 || r.drives.len() > 0 {
		return true
	}
	tasks, err := r.Store.UnsettledTasks()
	if err != nil {
		r.Log.Error("find running agents", "component", "local", "error", err)
	}
	return slices.ContainsFunc(tasks, func(t task.Task) bool { return len(t.Attempts) > 0 })
}

// admitCaller counts a caller, so that Close can wait for it.
func (r *Runtime) admitCaller() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return task.ErrClosing
	}
	r.wait.Add(1)
	return nil
}

// pinnedDefinition returns the workflow a task is pinned to, without check states if the task has no checks.
func (r *Runtime) pinnedDefinition(t *task.Task) (*workflow.Definition, error) {
	def, err := r.defs.loadPinned(t.WorkflowHash, r.Store)
	if err != nil {
		return nil, err
	}
	return def.ForTask(t.Checks), nil
}
