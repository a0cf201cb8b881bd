package sqlite

import (
	"bytes"
	"database/sql"
	"encoding/json"

	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// Children lists the tasks that have a task as their parent, in the order of creation.
func (s *Store) Children(parent task.ID) ([]signal.Child, error) {
	var out []signal.Child
	err := s.each(func(rows *sql.Rows) error {
		var c signal.Child
		err := rows.Scan(&c.ID, &c.Status)
		out = append(out, c)
		return err
	}, "SELECT id, status FROM task WHERE fold ->> '$.parent' = ? AND deleted = 0 ORDER BY n", string(parent))
	return out, s.describe("read", err)
}

// OnCard lists the tasks of a card that are not over, in the order of creation.
func (s *Store) OnCard(ref string) ([]task.ID, error) {
	return s.ids("SELECT id FROM task WHERE fold ->> '$.tracker' = ? AND over = 0 AND deleted = 0 ORDER BY n", ref)
}

// Delivered lists the tasks with a pull request that are not over.
func (s *Store) Delivered() ([]task.Task, error) {
	var out []task.Task
	err := s.EachTask(task.Filter{}, func(fold []byte) error {
		var t task.Task
		if bytes.Contains(fold, []byte(`"pr_url":`)) && json.Unmarshal(fold, &t) == nil && t.PRURL != "" {
			out = append(out, t)
		}
		return nil
	})
	return out, err
}
