package trackers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
	"orange/internal/keyedmutex"
)

// Store stores what is known about trackers. Reading it sends no request.
type Store interface {
	Trackers() ([]tracker.Config, error)
	KeptIssue(name, key string) (tracker.Issue, bool, error)
	KeptIssues(name string) ([]tracker.Issue, error)
	KeepIssue(name string, is tracker.Issue) (was *tracker.Issue, err error)
	LastSync(name string) (at time.Time, problem string, err error)
	RecordSync(name string, at time.Time, problem string) error
	HasDelivery(name, delivery string, now time.Time) (before bool, err error)
	RecordDelivery(name, delivery string, now time.Time) error
	HasActed(ref, key string) (bool, error) // reports whether something about an issue was handled
	RecordAct(ref, key string) error
	TakeLease(ref, owner string, until, now time.Time) (bool, error)
	ReleaseLease(ref, owner string) error
	Task(id task.ID) (task.Task, bool, error)
	TrackedTasks(prefix string) ([]task.Task, error) // all tasks whose refs have the prefix, oldest first
	DeliveredTasks() ([]task.Task, error)            // those with a pull request that are not over
	Setting(key string) (string, error)
	SetSetting(key, value string) error
}

// Tasks changes tasks. Nothing else here does.
type Tasks interface {
	Create(ctx context.Context, w signal.NewTask) (engine.Answer, error)
	Submit(ctx context.Context, id task.ID, sig signal.Signal) (engine.Answer, error)
	Definition(t *task.Task) (*workflow.Definition, error)
	ChooseWorkflow(name, project string) (*workflow.Definition, error)
	Project(name string) (task.Project, bool)
}

// A Service works with all trackers of a data folder. It is safe for concurrent use.
type Service struct {
	Store   Store
	Tasks   Tasks
	Connect func(cfg tracker.Config) (Backend, error)                // opens an adapter
	Forge   func(ctx context.Context, p task.Project) (Forge, error) // nil if the project has none
	Fetch   func(ctx context.Context, p task.Project) error          // updates the branch that the work lands on
	Seen    func(id task.ID, pr tracker.PR)                          // called when the pull request of a task was read; may be nil
	Log     *slog.Logger
	Now     func() time.Time

	mu          sync.Mutex
	connections map[string]*connection
	rounds      keyedmutex.Mutex[string]   // held during a round of a tracker, by its name
	refused     map[string][]tracker.Drift // issues for which the last round could create no task, by the name of a tracker
}

// connection is an open tracker, with the configuration it was opened with.
type connection struct {
	name    string // the key in Service.connections
	cfg     tracker.Config
	client  *Client
	backend Backend
}

// Config returns the configuration of a tracker.
func (o *Service) Config(name string) (tracker.Config, error) {
	list, err := o.Store.Trackers()
	if err != nil {
		return tracker.Config{}, err
	}
	for _, cfg := range list {
		if cfg.Name == name {
			return cfg, nil
		}
	}
	return tracker.Config{}, task.Mistakef("there is no tracker %q: see orange tracker list", name)
}

// configOf returns the configuration of the tracker of an issue. The board of a project is a tracker even if nobody
// configured it: it is then called tracker.Board, a name that no other tracker has.
func (o *Service) configOf(ref string) (cfg tracker.Config, ok bool, err error) {
	list, err := o.Store.Trackers()
	for _, cfg := range list {
		if _, ok := cfg.IssueKey(ref); ok {
			return cfg, true, nil
		}
	}
	project, _, ok := board.ParseRef(ref)
	return tracker.Config{Name: tracker.Board, Kind: tracker.Board, Project: project}, ok, err
}

// openTracker returns a connection to a tracker.
func (o *Service) openTracker(name string) (*connection, error) {
	cfg, err := o.Config(name)
	if err != nil {
		return nil, err
	}
	return o.openConnection(cfg)
}

// openConnection connects to a tracker, again if its configuration changed.
func (o *Service) openConnection(cfg tracker.Config) (*connection, error) {
	d, old, err := o.reopenTracker(cfg)
	if old != nil {
		closeBackend(old.backend)
	}
	return d, err
}

// reopenTracker opens a tracker unless it is open. The caller must close the connection that was open before, because
// that may take a while and others wait.
func (o *Service) reopenTracker(cfg tracker.Config) (d, old *connection, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	name := cfg.Name
	if name == tracker.Board { // each project has one
		name = cfg.IssueRef("")
	}
	have := o.connections[name]
	if have != nil && reflect.DeepEqual(have.cfg, cfg) {
		return have, nil, nil
	}
	salt, err := o.loadSalt()
	if err != nil {
		return nil, nil, err
	}
	port, err := o.Connect(cfg)
	if err != nil {
		return nil, nil, err
	}
	if o.connections == nil {
		o.connections = map[string]*connection{}
	}
	d = &connection{name: name, cfg: cfg, client: NewClient(port), backend: port}
	d.client.now, d.client.salt = o.Now, salt
	o.connections[name] = d
	return d, have, nil
}

// saltKey is the setting that holds the salt of the marks of comments.
const saltKey = "comment_salt"

// loadSalt returns the salt of this data folder, and makes it if there is none.
func (o *Service) loadSalt() (string, error) {
	have, err := o.Store.Setting(saltKey)
	if err != nil || have != "" {
		return have, err
	}
	have = rand.Text()
	return have, o.Store.SetSetting(saltKey, have)
}

// Close closes all connections.
func (o *Service) Close() {
	o.mu.Lock()
	connections := o.connections
	o.connections = nil
	o.mu.Unlock()
	for _, d := range connections {
		closeBackend(d.backend)
	}
}

func closeBackend(p Backend) {
	if c, ok := p.(interface{ Close() error }); ok {
		c.Close() //nolint:errcheck // nothing uses it any more
	}
}

// dropConnection closes the connection to one tracker. The next use opens it again.
func (o *Service) dropConnection(name string) {
	o.mu.Lock()
	d := o.connections[name]
	delete(o.connections, name)
	o.mu.Unlock()
	if d != nil {
		closeBackend(d.backend)
	}
}

// Test reports whether a tracker works: which account is used, and which names of the workflow the tracker does not
// know. It sends requests even if the tracker refused a secret before and is skipped for a while.
func (o *Service) Test(ctx context.Context, name string) (tracker.Trial, error) {
	trial := tracker.Trial{Tracker: name, Missing: []string{}}
	o.dropConnection(name)
	d, err := o.openTracker(name)
	if err != nil {
		return trial, err
	}
	if trial.Account, err = d.client.AccountName(ctx); err != nil {
		return trial, err
	}
	words, err := d.client.ReadVocabulary(ctx)
	if err != nil {
		return trial, err
	}
	trial.Columns, trial.Tags = words.Columns, words.Tags
	def, err := o.Tasks.ChooseWorkflow(d.cfg.Workflow, d.cfg.Project)
	if err != nil {
		return trial, err
	}
	trial.Missing = append(trial.Missing, missingWords(&d.cfg, def, words)...)
	return trial, nil
}

// Drifts returns the tasks whose issues are in another column than they should be, and the issues for which no task can
// be created, from what is stored.
func (o *Service) Drifts() ([]tracker.Drift, error) {
	list, err := o.Store.Trackers()
	if err != nil {
		return nil, err
	}
	var out []tracker.Drift
	for _, cfg := range list {
		tasks, err := o.Store.TrackedTasks(cfg.IssueRef(""))
		if err != nil {
			return nil, err
		}
		for i := range tasks {
			if d, ok := o.findDrift(&cfg, &tasks[i]); ok {
				out = append(out, d)
			}
		}
		out = append(out, o.refusedBy(cfg.Name)...)
	}
	return out, nil
}

// refusedBy returns the issues for which the last round of a tracker could create no task.
func (o *Service) refusedBy(name string) []tracker.Drift {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.refused[name])
}

func (o *Service) setRefused(name string, list []tracker.Drift) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refused == nil {
		o.refused = map[string][]tracker.Drift{}
	}
	o.refused[name] = list
}

// findDrift compares a task with its stored issue. A pending change is not a drift, and the issue of a task that is
// over may be in any column.
func (o *Service) findDrift(cfg *tracker.Config, t *task.Task) (tracker.Drift, bool) {
	key, _ := cfg.IssueKey(t.TrackerRef)
	is, ok, err := o.keptIssue(cfg, key)
	if err != nil || !ok || willMove(t) {
		return tracker.Drift{}, false
	}
	if def, err := o.Tasks.Definition(t); err != nil || isOver(def, t) {
		return tracker.Drift{}, false
	}
	want := o.wantedColumn(cfg, t)
	if want == "" || sameName(want, is.Card.Column) {
		return tracker.Drift{}, false
	}
	return tracker.Drift{Task: string(t.ID), Ref: t.TrackerRef, Status: t.Status, Want: want, Have: is.Card.Column, ReadAt: is.ReadAt}, true
}

// keptIssue returns an issue as it was last read. It reads a card of the local board now.
func (o *Service) keptIssue(cfg *tracker.Config, key string) (tracker.Issue, bool, error) {
	if cfg.Kind != tracker.Board {
		return o.Store.KeptIssue(cfg.Name, key)
	}
	d, err := o.openConnection(*cfg)
	if err != nil {
		return tracker.Issue{}, false, err
	}
	is, err := d.client.ReadIssue(context.Background(), key)
	if errors.Is(err, tracker.ErrNotFound) {
		return is, false, nil
	}
	return is, err == nil, err
}

// wantedColumn returns the column in which a tracker should show a task, or "" if any will do.
func (o *Service) wantedColumn(cfg *tracker.Config, t *task.Task) string {
	def, err := o.Tasks.Definition(t)
	if err != nil {
		return ""
	}
	if column := def.ProjectedColumn(t.Status); column != "" {
		return cfg.ColumnName(column)
	}
	return ""
}

// IssueStatus returns the issue of a task as it was last read, or nil if it was not.
func (o *Service) IssueStatus(t *task.Task) *tracker.IssueStatus {
	list, err := o.Store.Trackers()
	if err != nil {
		return nil
	}
	for _, cfg := range list {
		key, ok := cfg.IssueKey(t.TrackerRef)
		if !ok {
			continue
		}
		is, ok, err := o.keptIssue(&cfg, key)
		if err != nil || !ok {
			return nil
		}
		out := &tracker.IssueStatus{Ref: t.TrackerRef, URL: is.URL, Column: is.Card.Column, ReadAt: is.ReadAt}
		if d, drifts := o.findDrift(&cfg, t); drifts {
			out.Want = d.Want
		}
		return out
	}
	return nil
}

func (o *Service) logWarning(msg string, args ...any) {
	o.Log.Warn(msg, append([]any{"component", "trackers"}, args...)...)
}

// List returns all trackers, with the time and result of their last round.
func (o *Service) List() ([]tracker.Reading, error) {
	list, err := o.Store.Trackers()
	if err != nil {
		return nil, err
	}
	out := make([]tracker.Reading, 0, len(list))
	for _, cfg := range list {
		r := tracker.Reading{Config: cfg}
		if r.At, r.Problem, err = o.Store.LastSync(cfg.Name); err != nil {
			return nil, err
		}
		issues, err := o.Store.KeptIssues(cfg.Name)
		if err != nil {
			return nil, err
		}
		tasks, err := o.openTasks(&cfg)
		if err != nil {
			return nil, fmt.Errorf("read the tasks of %s: %w", cfg.Name, err)
		}
		r.Issues, r.Tasks = len(issues), len(tasks)
		out = append(out, r)
	}
	return out, nil
}
