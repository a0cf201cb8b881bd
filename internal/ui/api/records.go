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

// A recordCache keeps decoded records of tasks, because decoding a thousand of them takes
// longer than everything else that a status line needs. A record is found by the SHA-256 of its
// stored bytes: what is kept is never another record than the stored one.
type recordCache struct {
	mu         sync.Mutex
	young, old map[[sha256.Size]byte]*task.Task // records that are not asked for leave with old
}

// decodeRecord returns the record with these bytes. Nobody may change it.
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

// readRecords returns the records that the filter chooses, which nobody may change. Lists with
// the tasks that are over have no bound and are seldom asked for: they are not kept.
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

// readStatusLine says what a status line shows.
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
