package api

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"orange/internal/core/task"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// recordsKept is how many records one generation of a recordCache holds.
const recordsKept = 1024

// A recordCache keeps decoded records of tasks, because decoding a thousand of them takes longer than everything else
// that a status line needs. The key is the SHA-256 of a record's stored bytes, so a cached record always equals the
// stored one.
type recordCache struct {
	mu         sync.Mutex
	young, old map[[sha256.Size]byte]*record // unused records are dropped with old
}

// A record is a decoded record of a task. Nobody changes it.
type record struct {
	task.Task
	standing atomic.Pointer[overview.RowStatus] // nil until a status line needed it
}

// decodeRecord returns the record with these bytes. Callers must not change it.
func (c *recordCache) decodeRecord(fold []byte) (*record, error) {
	key := sha256.Sum256(fold)
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.young[key]; t != nil {
		return t, nil
	}
	t, kept := c.old[key]
	if !kept {
		var err error
		if t, err = decodeRecord(fold); err != nil {
			return nil, err
		}
	}
	if c.young == nil || len(c.young) >= recordsKept {
		c.young, c.old = make(map[[sha256.Size]byte]*record), c.young
	}
	c.young[key] = t
	return t, nil
}

func decodeRecord(fold []byte) (*record, error) {
	t := &record{}
	if err := json.Unmarshal(fold, &t.Task); err != nil {
		return nil, fmt.Errorf("read a task: %w", err)
	}
	return t, nil
}

// readRecords returns the records that the filter selects. Callers must not change them. Lists that include finished
// tasks are unlimited and rare, so they are not cached.
func (s *Server) readRecords(f task.Filter) ([]*record, error) {
	decode := s.records.decodeRecord
	if f.All || f.Status != "" {
		decode = decodeRecord
	}
	var out []*record
	err := s.Tasks.EachTask(f, func(fold []byte) error {
		t, err := decode(fold)
		out = append(out, t)
		return err
	})
	return out, err
}

// readStatusLine returns what a status line shows.
func (s *Server) readStatusLine(r *http.Request) (wire.StatusLine, error) {
	q := r.URL.Query()
	want, id := stateQuery{project: q.Get(wire.ParamProject)}, task.ID(q.Get(wire.ParamTask))
	isWanted := func(p task.Project) bool { return p.Name == want.project }
	out, state := wire.StatusLine{Paused: s.Control.Paused(), Project: want.project}, overview.State{}
	projects := s.Projects.Projects()
	for _, p := range projects {
		item := overview.Project{Name: p.Name, Pool: p.PoolSize, HoldLanding: p.HoldLanding}
		if s.GitPrograms != nil {
			item.Git = s.GitPrograms.LastNotice(p.Name) // to look again takes longer than a prompt may wait
		}
		state.Projects = append(state.Projects, item)
	}
	out.Unknown = want.project != "" && !slices.ContainsFunc(projects, isWanted)
	tasks, err := s.readRecords(task.Filter{Project: want.project})
	if err == nil {
		tasks, err = s.withUnsettled(tasks, want)
	}
	for _, t := range tasks {
		var absent []int
		if s.Measurements != nil && len(t.Attempts) > 0 {
			absent = s.Measurements.AbsentAttempts(&t.Task)
		}
		row := overview.NewCountedRow(&t.Task, s.findStanding(t), absent)
		if !want.matchesRow(&row, &t.Task) {
			continue
		}
		out.AddRow(&row)
		state.Tasks = append(state.Tasks, row)
		if id != "" && id == t.ID {
			out.ShowTask(&row)
		}
	}
	out.Items = state.CountItemsWithoutTask(want.project)
	return out, err
}

// findStanding returns the standing of a task. It follows from the record, which has the hash of its workflow.
func (s *Server) findStanding(t *record) overview.RowStatus {
	if known := t.standing.Load(); known != nil {
		return *known
	}
	def := s.findDefinition(&t.Task)
	out := overview.FindRowStatus(def, &t.Task)
	if def != nil { // it may be readable next time
		t.standing.Store(&out)
	}
	return out
}

// listTaskLines lists the tasks as a table shows them.
func (s *Server) listTaskLines(r *http.Request) (wire.TaskTable, error) {
	q := r.URL.Query()
	tasks, err := s.readRecords(task.Filter{Project: q.Get(wire.ParamProject), Status: q.Get(wire.ParamStatus), All: q.Get(wire.ParamAll) == "1"})
	out, after := wire.TaskTable{Tasks: make([]wire.TaskLine, len(tasks))}, s.listSuccessors()
	for i, t := range tasks {
		if t != nil {
			out.Tasks[i] = wire.NewTaskLine(&t.Task)
			out.Tasks[i].Place = s.queuePlace(t.Task.ID).Position
			out.Tasks[i].Unblocks = len(after[t.ID])
		}
	}
	return out, err
}
