package api

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"orange/internal/core/task"
	"orange/internal/wire"
)

// recordsKept is how many records one generation of a recordCache holds.
const recordsKept = 1024

// A recordCache keeps decoded records of tasks, because decoding a thousand of them takes longer than everything else
// that a status line needs. The key is the SHA-256 of a record's stored bytes, so a cached record always equals the
// stored one.
type recordCache struct {
	mu         sync.Mutex
	young, old map[[sha256.Size]byte]*task.Task // unused records are dropped with old
}

// decodeRecord returns the record with these bytes. Callers must not change it.
func (c *recordCache) decodeRecord(fold []byte) (*task.Task, error) {
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
		c.young, c.old = make(map[[sha256.Size]byte]*task.Task), c.young
	}
	c.young[key] = t
	return t, nil
}

func decodeRecord(fold []byte) (*task.Task, error) {
	t := &task.Task{}
	if err := json.Unmarshal(fold, t); err != nil {
		return nil, fmt.Errorf("read a task: %w", err)
	}
	return t, nil
}

// readRecords returns the records that the filter selects. Callers must not change them. Lists that include finished
// tasks are unlimited and rare, so they are not cached.
func (s *Server) readRecords(f task.Filter) ([]*task.Task, error) {
	decode := s.records.decodeRecord
	if f.All || f.Status != "" {
		decode = decodeRecord
	}
	var out []*task.Task
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
	state, err := s.stateNow(stateQuery{project: q.Get("project")})
	return wire.NewStatusLine(state, q.Get("project"), task.ID(q.Get("task"))), err
}

// listTaskLines lists the tasks as a table shows them.
func (s *Server) listTaskLines(r *http.Request) (wire.TaskTable, error) {
	q := r.URL.Query()
	tasks, err := s.readRecords(task.Filter{Project: q.Get("project"), Status: q.Get("status"), All: q.Get("all") == "1"})
	out := wire.TaskTable{Tasks: make([]wire.TaskLine, len(tasks))}
	for i, t := range tasks {
		if t != nil {
			out.Tasks[i] = wire.NewTaskLine(t)
		}
	}
	return out, err
}
