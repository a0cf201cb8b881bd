// Package statistics keeps the figures of all tasks up to date with the journal. The first request reads the whole
// journal; later ones read what was added.
package statistics

import (
	"context"
	"fmt"
	"sync"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/stats"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/wire"
)

// Sources are what the figures are read from.
type Sources struct {
	Rows       func(after int64, id task.ID, limit int) ([]journal.Row, error)
	Definition func(t *task.Task) (*workflow.Definition, error)
	Now        func() time.Time // nil: time.Now
}

// Statistics are the figures of all tasks. They are safe for concurrent use.
type Statistics struct {
	Sources
	mu    sync.Mutex
	row   int64 // the last that was read
	tasks map[task.ID]*stats.Reader
	order []task.ID        // by creation
	lost  map[task.ID]bool // their journals cannot be followed; orange doctor reports them
}

// New returns the figures of a journal. Nothing is read before the first request.
func New(o Sources) *Statistics {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Statistics{Sources: o, tasks: map[task.ID]*stats.Reader{}, lost: map[task.ID]bool{}}
}

// stride is how many rows are read at a time.
const stride = 2000

// MeasureTasks returns the figures of every task, in order of creation.
func (s *Statistics) MeasureTasks(ctx context.Context) ([]stats.TaskFigures, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		rows, err := s.Rows(s.row, "", stride)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if err := s.readRow(&rows[i]); err != nil {
				return nil, err
			}
			s.row = rows[i].ID
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(rows) < stride {
			break
		}
	}
	now := s.Now().UTC()
	out := make([]stats.TaskFigures, 0, len(s.order))
	for _, id := range s.order {
		if s.lost[id] {
			continue
		}
		out = append(out, s.tasks[id].Measure(now))
	}
	return out, nil
}

// readRow reads one row.
func (s *Statistics) readRow(row *journal.Row) error {
	e, err := journal.Decode(row.Entry)
	if err != nil {
		return fmt.Errorf("read row %d of the journal: %w", row.ID, err)
	}
	r := s.tasks[e.Task]
	if r == nil {
		def, err := s.Definition(&task.Task{ID: e.Task, Setup: task.Setup{Workflow: e.Workflow, WorkflowHash: e.WorkflowHash}})
		if err != nil {
			def = nil // its states are not distinguished
		}
		r = stats.NewReader(def)
		s.tasks[e.Task] = r
		s.order = append(s.order, e.Task)
	}
	if !s.lost[e.Task] && r.Add(&e) != nil {
		s.lost[e.Task] = true
	}
	return nil
}

// Report implements api.Statistics.
func (s *Statistics) Report(ctx context.Context, q wire.StatsQuery) (wire.Stats, error) {
	all, err := s.MeasureTasks(ctx)
	if err != nil {
		return wire.Stats{}, err
	}
	var chosen []stats.TaskFigures
	for i := range all {
		if (q.Project == "" || all[i].Project == q.Project) && !all[i].Created.Before(q.Since) {
			chosen = append(chosen, all[i])
		}
	}
	return wire.Stats{
		At: s.Now().UTC(), By: q.By, Project: q.Project, Since: q.Since,
		Groups: stats.GroupTasks(chosen, q.By), Total: stats.SumTasks(chosen), Checks: stats.GroupChecks(chosen),
	}, nil
}
