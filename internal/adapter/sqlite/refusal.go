package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

const (
	insertRefusal = "INSERT INTO refusal (task, at, actor, attempt, kind, asked, why, via) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
	trimRefusals  = `DELETE FROM refusal WHERE task = ? AND row <=
		(SELECT row FROM refusal WHERE task = ? ORDER BY row DESC LIMIT 1 OFFSET ?)`
)

// SaveRefusals stores refusals, all of them or none. It keeps only the newest of each task.
func (s *Store) SaveRefusals(list []journal.Refusal) error {
	return s.describeError("write to", s.runTransaction(func(ctx context.Context, c *sql.Conn) error {
		trim := map[task.ID]bool{}
		for i := range list {
			r := &list[i]
			trim[r.Task] = true
			via, err := viaText(r.Via)
			if err != nil {
				return err
			}
			_, err = c.ExecContext(ctx, insertRefusal, string(r.Task), r.At.UTC().Format(time.RFC3339Nano), string(r.Actor), r.Attempt, string(r.Kind), r.Asked, r.Why, via)
			if err != nil {
				return err
			}
		}
		for id := range trim {
			if _, err := c.ExecContext(ctx, trimRefusals, string(id), string(id), journal.MaxRefusals); err != nil {
				return err
			}
		}
		return nil
	}, func() {}))
}

// Refusals lists the refusals of a task, oldest first.
func (s *Store) Refusals(id task.ID) ([]journal.Refusal, error) {
	var out []journal.Refusal
	err := s.queryRows(func(rows *sql.Rows) error {
		r := journal.Refusal{Task: id}
		var at, actor, kind, via string
		if err := rows.Scan(&at, &actor, &r.Attempt, &kind, &r.Asked, &r.Why, &via); err != nil {
			return err
		}
		r.Actor, r.Kind = task.Actor(actor), signal.Kind(kind)
		var err error
		if r.At, err = time.Parse(time.RFC3339Nano, at); err != nil {
			return fmt.Errorf("a refusal of task %s has no time: %w", id, err)
		}
		if via != "" {
			if err := json.Unmarshal([]byte(via), &r.Via); err != nil {
				return fmt.Errorf("a refusal of task %s does not say where it came from: %w", id, err)
			}
		}
		out = append(out, r)
		return nil
	}, "SELECT at, actor, attempt, kind, asked, why, via FROM refusal WHERE task = ? ORDER BY row", string(id))
	return out, s.describeError("read", err)
}

// viaText encodes where a refused action came from, as it is stored. It returns "" if that is not
// known.
func viaText(v *signal.Via) (string, error) {
	if v == nil {
		return "", nil
	}
	text, err := json.Marshal(v)
	return string(text), err
}
