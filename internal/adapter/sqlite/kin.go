package sqlite

import (
	"database/sql"

	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// Children lists the children of a task, in the order of creation.
func (s *Store) Children(parent task.ID) ([]task.Reference, error) {
	var out []task.Reference
	err := s.queryRows(func(rows *sql.Rows) error {
		var c task.Reference
		err := rows.Scan(&c.ID, &c.Status, &c.Branch)
		out = append(out, c)
		return err
	}, "SELECT id, status, branch FROM task WHERE instr(fold, ?) > 0 AND fold ->> '$.setup.parent' = ? AND deleted = 0 ORDER BY n", `"parent":"`+string(parent)+`"`, string(parent))
	return out, s.describeError("read", err)
}

// ChildTasks lists the states of the children of a task, in the order of creation.
func (s *Store) ChildTasks(parent task.ID) ([]signal.Child, error) {
	list, err := s.Children(parent)
	out := make([]signal.Child, len(list))
	for i, c := range list {
		out[i] = signal.Child{ID: c.ID, Status: c.Status}
	}
	return out, err
}

// DependentTasks lists the tasks that are after others or were, and the open ones that have a parent, in the order of creation.
func (s *Store) DependentTasks() ([]task.Task, error) {
	return s.queryTasks(`SELECT id, fold FROM task WHERE deleted = 0 AND (instr(fold, '"after":["') > 0 OR over = 0 AND instr(fold, '"parent":"') > 0) ORDER BY n`)
}

// OnCard lists the tasks of a card that are not over, in the order of creation.
func (s *Store) OnCard(ref string) ([]task.ID, error) {
	return s.queryIDs("SELECT id FROM task WHERE fold ->> '$.resources.tracker_ref' = ? AND over = 0 AND deleted = 0 ORDER BY n", ref)
}

// DeliveredTasks lists the tasks with a pull request that are not over.
func (s *Store) DeliveredTasks() ([]task.Task, error) {
	return s.queryTasks("SELECT id, fold FROM task WHERE fold ->> '$.resources.pr_url' <> '' AND over = 0 AND deleted = 0 ORDER BY n")
}
