// Package inbox lists what waits for a person, and says why.
package inbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// TaskReader reads tasks and their journals.
type TaskReader interface {
	EachTask(f task.Filter, yield func(fold []byte) error) error
	NeedAttention() ([]task.Task, error)
	Journal(id task.ID, after int) ([]journal.Entry, error)
}

// Sources are what an Inbox needs.
type Sources struct {
	Tasks      TaskReader
	Paused     func() bool
	Projects   func() []task.Project
	Definition func(t *task.Task) (*workflow.Definition, error)
	TaskFile   func(project string, id task.ID) (taskfile.Document, error)
	Untrusted  func(ctx context.Context, p task.Project) string // names the untrusted programs of git, "" if there are none
	Output     func(t *task.Task) func(attempt int) string      // reads the last lines of an attempt
	Message    func(t *task.Task) func(attempt int) string      // reads the last message of an attempt
}

// Inbox is what waits for people.
type Inbox struct {
	Sources
	moves moves
}

// New returns the inbox of all tasks.
func New(o Sources) *Inbox { return &Inbox{Sources: o} }

// Load lists what waits for a person. For a task that holds a workspace, Frees is the number of tasks of the project that
// are queued for one.
func (s *Inbox) Load(ctx context.Context, project string) ([]explain.Item, error) {
	b := listing{s: s, bound: map[task.ID]bool{}, queued: map[string]int{}, lands: map[string]int{}, pools: map[string][]explain.PoolTask{}}
	if s.Paused() {
		b.items = append(b.items, explain.PausedItem())
	}
	for _, p := range s.Projects() {
		if project == "" || p.Name == project {
			b.items = append(b.items, explain.GitItems(p.Name, s.Untrusted(ctx, p))...)
		}
	}
	err := s.Tasks.EachTask(task.Filter{Project: project}, func(fold []byte) error {
		var t task.Task
		if err := json.Unmarshal(fold, &t); err != nil {
			return fmt.Errorf("read a task: %w", err)
		}
		b.addTask(t)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range s.Projects() {
		b.items = append(b.items, explain.HeldItems(p.Name, p.HoldLanding, b.lands[p.Name])...)
		b.items = append(b.items, explain.PoolItems(p.Name, p.PoolSize, b.pools[p.Name])...)
	}
	ended, err := s.Tasks.NeedAttention() // a task that is over may need somebody too
	for _, t := range ended {
		if _, known := b.bound[t.ID]; !known && (project == "" || t.Project == project) {
			b.addTask(t)
		}
	}
	for i := range b.items {
		if b.bound[b.items[i].Task] {
			b.items[i].Frees = b.queued[b.items[i].Project]
		}
	}
	return b.items, err
}

// listing collects the items of one Load.
type listing struct {
	s      *Inbox
	items  []explain.Item
	bound  map[task.ID]bool // holds a workspace
	queued map[string]int   // tasks that wait for one, by project
	lands  map[string]int   // tasks that wait to land, by project
	pools  map[string][]explain.PoolTask
}

func (b *listing) addTask(t task.Task) {
	if t.Queued {
		b.queued[t.Project]++
	}
	if p, ok := t.LandingPlace(); ok && !p.Begun {
		b.lands[t.Project]++
	}
	b.bound[t.ID] = t.Workspace != ""
	def, err := b.s.Definition(&t)
	if err != nil {
		b.items = append(b.items, explain.Item{Task: t.ID, Project: t.Project, Status: t.Status, Kind: explain.ItemAttention, Text: err.Error(), Since: t.Since})
		return
	}
	state, known := def.ForTask(t.Checks).StateNamed(t.Status)
	b.pools[t.Project] = append(b.pools[t.Project], explain.PoolTask{ID: t.ID, Holds: t.Workspace != "", Queued: t.Queued, Works: known && state.Kind.GoesOn(), After: t.Predecessors})
	if it, ok := explain.InboxItem(def, t); ok {
		it.SetReasons(b.s.Reasons(&t))
		b.items = append(b.items, it)
	}
}

// Reasons returns why a task waits for a person, from its journal, its TASK.md and the last output of its agents. It
// returns nil for a task that waits for nobody.
func (s *Inbox) Reasons(t *task.Task) []explain.WaitReason {
	def, err := s.Definition(t)
	if err != nil {
		return nil
	}
	if it, ok := explain.InboxItem(def, *t); !ok || it.Kind == explain.ItemStart { // most tasks, for which nothing is read
		return nil
	}
	from := explain.Records{Entries: s.lastMove(t), Output: s.Output(t), Message: s.Message(t)}
	if doc, err := s.TaskFile(t.Project, t.ID); err == nil {
		from.Sections = doc.Sections()
	}
	return explain.WaitReasons(def, *t, from)
}

// moves caches the entries of tasks around their last moves, so that a journal is read once for each of its lengths.
type moves struct {
	mu    sync.Mutex
	known map[task.ID]lastMove
}

// lastMove has the entries of a task, starting with the one before its last move.
type lastMove struct {
	seq     int
	entries []journal.Entry
}

// maxMoves bounds how many tasks moves remembers.
const maxMoves = 2000

// lastMove returns the entries of a task, starting with the one before its last move. It returns nil if the journal cannot
// be read; orange doctor reports why.
func (s *Inbox) lastMove(t *task.Task) []journal.Entry {
	s.moves.mu.Lock()
	known := s.moves.known[t.ID]
	s.moves.mu.Unlock()
	if known.seq == t.Seq {
		return known.entries
	}
	entries, err := s.Tasks.Journal(t.ID, 0)
	if err != nil {
		return nil
	}
	entries = entries[:min(len(entries), t.Seq)]
	at := len(entries) - 1
	for at > 0 && entries[at].To == "" {
		at--
	}
	entries = slices.Clone(entries[max(0, at-1):])
	s.moves.mu.Lock()
	defer s.moves.mu.Unlock()
	if s.moves.known == nil || len(s.moves.known) >= maxMoves {
		s.moves.known = map[task.ID]lastMove{}
	}
	s.moves.known[t.ID] = lastMove{t.Seq, entries}
	return entries
}
