package sqlite

import (
	"database/sql"
	"errors"

	"orange/internal/core/task"
)

// Checks returns the checks of tasks' pull requests as last read, as one word for each task.
func (s *Store) Checks() (map[task.ID]string, error) {
	out := map[task.ID]string{}
	err := s.queryRows(func(rows *sql.Rows) error {
		var id task.ID
		var word string
		err := rows.Scan(&id, &word)
		out[id] = word
		return err
	}, "SELECT task, checks FROM sight")
	return out, s.describeError("read", err)
}

// SetChecks stores the checks of a task's pull request; "" removes them.
func (s *Store) SetChecks(id task.ID, word string) error {
	if word == "" {
		return s.execStatement("write to", "DELETE FROM sight WHERE task = ?", id)
	}
	return s.execStatement("write to", "INSERT INTO sight (task, checks) VALUES (?, ?) ON CONFLICT (task) DO UPDATE SET checks = excluded.checks", id, word)
}

// Notice returns what was last announced about a task, or "" if nothing was.
func (s *Store) Notice(id task.ID) (string, error) {
	var key string
	err := s.read.QueryRow("SELECT key FROM notice WHERE task = ?", id).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return key, s.describeError("read", err)
}

// SetNotice stores what was announced about a task; "" removes it.
func (s *Store) SetNotice(id task.ID, key string) error {
	if key == "" {
		return s.execStatement("write to", "DELETE FROM notice WHERE task = ?", id)
	}
	return s.execStatement("write to", "INSERT INTO notice (task, key) VALUES (?, ?) ON CONFLICT (task) DO UPDATE SET key = excluded.key", id, key)
}
