package sqlite

import (
	"database/sql"

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
	return s.tasks("SELECT id, fold FROM task WHERE fold ->> '$.pr_url' <> '' AND over = 0 AND deleted = 0 ORDER BY n")
}
