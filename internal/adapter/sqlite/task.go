package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/task"
)

// Task returns the record of a task, even of a deleted one.
func (s *Store) Task(id task.ID) (task.Task, bool, error) {
	var fold []byte
	err := s.read.QueryRow("SELECT fold FROM task WHERE id = ?", string(id)).Scan(&fold)
	if errors.Is(err, sql.ErrNoRows) {
		return task.Task{}, false, nil
	}
	if err != nil {
		return task.Task{}, false, s.describeError("read", err)
	}
	t, err := decodeTask(id, fold)
	return t, err == nil, err
}

func decodeTask(id task.ID, fold []byte) (task.Task, error) {
	var t task.Task
	if err := json.Unmarshal(fold, &t); err != nil {
		return task.Task{}, fmt.Errorf("the stored record of task %s does not parse: run orange doctor: %w", id, err)
	}
	return t, nil
}

// NamedTasks lists the tasks that name may mean, for task.ChooseNamed: it may list more, and lists none that is less
// likely than one of the others. It finds a deleted task only by its whole id.
func (s *Store) NamedTasks(name string) ([]task.Named, error) {
	project, rest, _ := strings.Cut(name, "/")
	out, err := s.queryNamed("id = ?", name)
	if err == nil && len(out) == 0 {
		out, err = s.queryNamed(`deleted = 0 AND branch <> '' AND (branch = ?1 COLLATE NOCASE OR branch = ?2 COLLATE NOCASE AND project = ?3 COLLATE NOCASE)`, name, rest, project)
		if err == nil && task.ValidPrefix(name) {
			begun, wrong := s.queryNamed("deleted = 0 AND id >= ? AND id < ? ORDER BY id", name, name+"{") // { is the character after z
			out, err = append(out, begun...), wrong
		}
	}
	if err == nil && len(out) == 0 && task.ValidPrefix(name) {
		out, err = s.queryNamed("deleted = 0 AND id IN (SELECT id FROM task WHERE id LIKE ? || '%') ORDER BY id", name)
	}
	slug := task.Slug(name)
	if err != nil || len(out) > 0 || slug == "" {
		return out, err
	}
	out, err = s.queryNamed("deleted = 0 ORDER BY n")
	return slices.DeleteFunc(out, func(n task.Named) bool { return task.Slug(n.Summary) != slug }), err
}

func (s *Store) queryNamed(where string, args ...any) ([]task.Named, error) {
	var out []task.Named
	err := s.queryRows(func(rows *sql.Rows) error {
		var n task.Named
		err := rows.Scan(&n.ID, &n.Project, &n.Branch, &n.Status, &n.Over, &n.Summary)
		out = append(out, n)
		return err
	}, "SELECT id, project, branch, status, over, coalesce(fold->>'$.summary', '') FROM task WHERE "+where, args...)
	return out, s.describeError("read", err)
}

// EachTask calls yield for the records that the filter selects, as stored, in the order of creation.
// It leaves out deleted tasks. A filter with a status also selects tasks that are over. The bytes are
// valid only until yield returns, and yield must not call the store.
func (s *Store) EachTask(f task.Filter, yield func(fold []byte) error) error {
	query, args := "SELECT CAST(fold AS BLOB) FROM task WHERE deleted = 0", []any(nil)
	if !f.All && f.Status == "" {
		numbers := "SELECT n FROM task INDEXED BY task_open WHERE over = 0 AND deleted = 0"
		if !f.OverSince.IsZero() {
			numbers += " UNION ALL SELECT n FROM task INDEXED BY task_over WHERE over = 1 AND deleted = 0 AND fold->>'$.current_visit.since' >= ?"
			args = append(args, f.OverSince.UTC().Format("2006-01-02T15:04:05")) // a prefix of the times in this second
		}
		query = "SELECT CAST(fold AS BLOB) FROM task WHERE n IN (" + numbers + ")"
	}
	if f.Project != "" {
		query, args = query+" AND project = ?", append(args, f.Project)
	}
	if f.Status != "" {
		query, args = query+" AND status = ?", append(args, f.Status)
	}
	return s.eachBytes(yield, query+" ORDER BY n", args...)
}

// eachBytes calls yield for the first column of every row.
func (s *Store) eachBytes(yield func([]byte) error, query string, args ...any) error {
	var text sql.RawBytes
	var refused error
	err := s.queryRows(func(rows *sql.Rows) error {
		if err := rows.Scan(&text); err != nil {
			return err
		}
		refused = yield(text)
		return refused
	}, query, args...)
	if refused != nil {
		return refused
	}
	return s.describeError("read", err)
}

// queryRows runs a query and calls scan for every row.
func (s *Store) queryRows(scan func(*sql.Rows) error, query string, args ...any) error {
	return eachOf(context.Background(), s.read, scan, query, args...)
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func eachOf(ctx context.Context, q querier, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := scan(rows); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

func (s *Store) queryIDs(query string, args ...any) ([]task.ID, error) {
	var ids []task.ID
	err := s.queryRows(func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, task.ID(id))
		return err
	}, query, args...)
	return ids, s.describeError("read", err)
}

func (s *Store) oneID(query string, args ...any) (task.ID, bool, error) {
	ids, err := s.queryIDs(query+" ORDER BY n LIMIT 1", args...)
	if err != nil || len(ids) == 0 {
		return "", false, err
	}
	return ids[0], true, nil
}

// TaskByBranch returns the task of a branch that is not over.
func (s *Store) TaskByBranch(project, branch string) (task.ID, bool, error) {
	return s.oneID("SELECT id FROM task WHERE project = ? AND branch = ? AND over = 0 AND deleted = 0", project, branch)
}

// TaskBeside returns a task that is not over and whose branch cannot exist beside another in git,
// because the name of one is a folder of the other.
func (s *Store) TaskBeside(project, branch string) (task.ID, bool, error) {
	return s.oneID(`SELECT id FROM task WHERE project = ?1 AND over = 0 AND deleted = 0 AND branch <> '' AND
		(substr(branch, 1, length(?2) + 1) = ?2 || '/' OR substr(?2, 1, length(branch) + 1) = branch || '/')`, project, branch)
}

// TaskByWorkspace returns the task that holds a workspace.
func (s *Store) TaskByWorkspace(workspace string) (task.ID, bool, error) {
	return s.oneID("SELECT id FROM task WHERE workspace = ? AND workspace <> '' AND deleted = 0", workspace)
}

// UnsettledTasks lists the tasks that a start must check, in the order of creation: those that have a pending effect,
// wait for a timer or a workspace, or have agents.
func (s *Store) UnsettledTasks() ([]task.Task, error) {
	return s.queryTasks("SELECT id, fold FROM task WHERE deleted = 0 AND (pending > 0 OR live > 0 OR due IS NOT NULL OR queued = 1) ORDER BY n")
}

// UnsettledFinished lists those of UnsettledTasks that are over.
func (s *Store) UnsettledFinished() ([]task.Task, error) {
	return s.queryTasks("SELECT id, fold FROM task WHERE deleted = 0 AND over = 1 AND (pending > 0 OR live > 0 OR due IS NOT NULL OR queued = 1) ORDER BY n")
}

// NeedAttention lists the tasks that are over and still need a person.
func (s *Store) NeedAttention() ([]task.Task, error) {
	return s.queryTasks(`SELECT id, fold FROM task WHERE deleted = 0 AND over = 1 AND instr(fold, '"attention":"') > 0 ORDER BY n`)
}

// queryTasks returns the tasks that a query selects by id and fold. If a record cannot be read, it
// still returns the others.
func (s *Store) queryTasks(query string, args ...any) ([]task.Task, error) {
	var out []task.Task
	var unreadable []error
	err := s.queryRows(func(rows *sql.Rows) error {
		var id string
		var fold []byte
		if err := rows.Scan(&id, &fold); err != nil {
			return err
		}
		t, err := decodeTask(task.ID(id), fold)
		if err != nil {
			unreadable = append(unreadable, err)
			return nil
		}
		out = append(out, t)
		return nil
	}, query, args...)
	return out, s.describeError("read", errors.Join(append(unreadable, err)...))
}

// QueuedTasks lists the tasks of a project that wait for a workspace, oldest first.
func (s *Store) QueuedTasks(project string) ([]task.ID, error) {
	return s.queryIDs("SELECT id FROM task WHERE project = ? AND queued = 1 AND deleted = 0 ORDER BY n", project)
}

// BoundWorkspaces returns the tasks that hold workspaces, by workspace.
func (s *Store) BoundWorkspaces() (map[string]task.ID, error) {
	bound := map[string]task.ID{}
	err := s.queryRows(func(rows *sql.Rows) error {
		var workspace, id string
		err := rows.Scan(&workspace, &id)
		bound[workspace] = task.ID(id)
		return err
	}, "SELECT workspace, id FROM task WHERE workspace <> '' AND deleted = 0")
	if err != nil {
		return nil, s.describeError("read", err)
	}
	return bound, nil
}

// OpenTasks returns the number of tasks of a project that are not over.
func (s *Store) OpenTasks(project string) (int, error) {
	var n int
	err := s.read.QueryRow("SELECT count(*) FROM task WHERE project = ? AND over = 0 AND deleted = 0", project).Scan(&n)
	return n, s.describeError("read", err)
}
