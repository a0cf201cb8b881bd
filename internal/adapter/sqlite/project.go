package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"orange/internal/core/task"
)

// Projects lists the projects, sorted by name.
func (s *Store) Projects() ([]task.Project, error) {
	var projects []task.Project
	err := s.queryRows(func(rows *sql.Rows) error {
		var p task.Project
		var policy []byte
		err := rows.Scan(&p.Name, &p.Path, &p.DefaultBranch, &p.PoolSize, &p.Workflow, &policy)
		if err == nil {
			err = json.Unmarshal(policy, &p.Policy)
		}
		projects = append(projects, p)
		return err
	}, "SELECT name, path, default_branch, pool_size, workflow, policy FROM project ORDER BY name")
	return projects, s.describeError("read", err)
}

// SaveProject adds a project, or replaces the project with the same name.
func (s *Store) SaveProject(p task.Project) error {
	policy, err := json.Marshal(p.Policy)
	if err != nil {
		return s.describeError("write to", err)
	}
	return s.execStatement("write to", `INSERT INTO project (name, path, default_branch, pool_size, workflow, policy) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET path = excluded.path, default_branch = excluded.default_branch,
		pool_size = excluded.pool_size, workflow = excluded.workflow, policy = excluded.policy`,
		p.Name, p.Path, p.DefaultBranch, p.PoolSize, p.Workflow, string(policy))
}

// SpentOn returns the number and the cost of the attempts of a project's tasks on a day. It reads every record of the
// project, so callers use it only if there is a daily budget.
func (s *Store) SpentOn(project, day string) (attempts int, micros int64, err error) {
	err = s.read.QueryRow(`SELECT coalesce(sum(json_extract(fold, '$.agents.spent.day_attempts')), 0),
		coalesce(sum(json_extract(fold, '$.agents.spent.day_cost_micro_usd')), 0)
		FROM task WHERE project = ? AND json_extract(fold, '$.agents.spent.day') = ?`, project, day).
		Scan(&attempts, &micros)
	return attempts, micros, s.describeError("read", err)
}

// DeleteProject removes a project. Its tasks stay.
func (s *Store) DeleteProject(name string) error {
	return s.execStatement("write to", "DELETE FROM project WHERE name = ?", name)
}

// SaveWorkflow stores the text of a workflow under its hash, for as long as a task may need it. It does not replace a
// stored text.
func (s *Store) SaveWorkflow(hash, name, file, text string) error {
	return s.execStatement("write to", "INSERT INTO workflow (hash, name, file, text) VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING",
		hash, name, file, text)
}

// Workflow returns a stored workflow.
func (s *Store) Workflow(hash string) (name, file, text string, ok bool, err error) {
	err = s.read.QueryRow("SELECT name, file, text FROM workflow WHERE hash = ?", hash).Scan(&name, &file, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return "", "", "", false, nil
	}
	return name, file, text, err == nil, s.describeError("read", err)
}

// EachWorkflow calls yield for every stored workflow, oldest first.
func (s *Store) EachWorkflow(ctx context.Context, yield func(hash, name, file, text string) error) error {
	var refused error
	err := eachOf(ctx, s.read, func(rows *sql.Rows) error {
		var hash, name, file, text string
		if err := rows.Scan(&hash, &name, &file, &text); err != nil {
			return err
		}
		refused = yield(hash, name, file, text)
		return refused
	}, "SELECT hash, name, file, text FROM workflow ORDER BY rowid")
	if refused != nil {
		return refused
	}
	return s.describeError("read", err)
}

// Setting returns the value of a setting, or "" if it is not set.
func (s *Store) Setting(key string) (string, error) {
	var value string
	err := s.read.QueryRow("SELECT value FROM setting WHERE key = ?", key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, s.describeError("read", err)
}

// SetSetting stores the value of a setting.
func (s *Store) SetSetting(key, value string) error {
	return s.execStatement("write to", "INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value)
}
