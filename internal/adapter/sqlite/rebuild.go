package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// CheckIntegrity checks that the file is in its place, and runs SQLite's integrity check of it.
func (s *Store) CheckIntegrity(ctx context.Context) error {
	if err := s.CheckPlace(); err != nil {
		return err
	}
	var first string
	err := s.read.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&first)
	if err == nil && first != "ok" {
		err = fmt.Errorf("it is damaged (%s): run orange stop, then orange doctor --restore", first)
	}
	return s.describeError("check", err)
}

// CompareRecords folds every journal again and lists the tasks whose stored record differs in any byte. It changes
// nothing.
func (s *Store) CompareRecords(ctx context.Context) (differences []string, err error) {
	tx, err := s.read.BeginTx(ctx, nil) // one snapshot, whatever is committed in the meantime
	if err != nil {
		return nil, s.describeError("check", err)
	}
	err = eachDifference(ctx, tx, func(d difference) error {
		differences = append(differences, d.text)
		return nil
	})
	return differences, s.describeError("check", errors.Join(err, tx.Rollback()))
}

// RepairRecords rewrites the records that CompareRecords lists. It leaves a task whose journal cannot be folded
// unchanged and names it in the error.
func (s *Store) RepairRecords(ctx context.Context) error {
	var broken []error
	err := s.runTransaction(func(inner context.Context, c *sql.Conn) error {
		var differing []task.Task
		err := eachDifference(inner, c, func(d difference) error {
			if d.folded == nil {
				broken = append(broken, errors.New(d.text))
				return ctx.Err()
			}
			differing = append(differing, *d.folded)
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		for i := range differing {
			if err := rewriteTask(inner, c, &differing[i]); err != nil {
				return err
			}
		}
		return nil
	}, func() { clear(s.known) })
	if err == nil && len(broken) > 0 {
		err = fmt.Errorf("%d tasks have a journal that cannot be read, the first: %w", len(broken), broken[0])
	}
	return s.describeError("repair", err)
}

// refoldRecords folds every record again. A task whose journal cannot be folded keeps its record, and
// CompareRecords lists it.
func refoldRecords(ctx context.Context, c *sql.Conn) error {
	ids, err := recordedTasks(ctx, c)
	if err != nil {
		return err
	}
	for _, id := range ids {
		t, wrong, err := foldJournal(ctx, c, id)
		if err == nil && wrong == nil && t.Seq > 0 {
			err = rewriteTask(ctx, c, &t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recordedTasks lists the tasks that have a record or a journal.
func recordedTasks(ctx context.Context, q querier) (ids []task.ID, err error) {
	err = eachOf(ctx, q, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, task.ID(id))
		return err
	}, "SELECT id FROM task UNION SELECT task FROM journal ORDER BY 1")
	return ids, err
}

// rewriteTask writes a record and the columns that derive from it. Only the workflow determines
// whether the task is over and when it is due, so those columns stay. A record that was missing is due
// immediately, so that the next start checks it.
func rewriteTask(ctx context.Context, c *sql.Conn, t *task.Task) error {
	v, err := taskValues(&journal.Commit{Task: *t})
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, `INSERT INTO task (project, branch, workspace, queued, over, deleted, status, pending, live, due, seq, fold, id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ifnull(?, 0), ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET project = excluded.project, branch = excluded.branch, status = excluded.status,
		workspace = excluded.workspace, queued = excluded.queued, deleted = excluded.deleted, pending = excluded.pending,
		live = excluded.live, seq = excluded.seq, fold = excluded.fold`, v...)
	return err
}

// difference is a task whose stored record differs from its journal.
type difference struct {
	text   string
	folded *task.Task // nil if the journal cannot be folded
}

func eachDifference(ctx context.Context, q querier, yield func(difference) error) error {
	ids, err := recordedTasks(ctx, q)
	if err != nil {
		return err
	}
	for _, id := range ids {
		d, err := compareRecord(ctx, q, id)
		if err != nil {
			return err
		}
		if d.text == "" {
			continue
		}
		if err := yield(d); err != nil {
			return err
		}
	}
	return nil
}

// compareRecord folds one task and compares it with its record. The error is one of reading, not of
// the content.
func compareRecord(ctx context.Context, q querier, id task.ID) (difference, error) {
	var stored []byte
	err := eachOf(ctx, q, func(rows *sql.Rows) error { return rows.Scan(&stored) }, "SELECT fold FROM task WHERE id = ?", string(id))
	if err != nil {
		return difference{}, err
	}
	t, wrong, err := foldJournal(ctx, q, id)
	switch {
	case err != nil:
		return difference{}, err
	case wrong != nil:
		return difference{text: fmt.Sprintf("task %s: %v", id, wrong)}, nil
	case t.Seq == 0:
		return difference{text: fmt.Sprintf("task %s: it has a record and no journal: run orange stop, then orange doctor --restore", id)}, nil
	}
	fold, err := json.Marshal(&t)
	switch {
	case err != nil:
		return difference{}, err
	case stored == nil:
		return difference{fmt.Sprintf("task %s: its record is missing", id), &t}, nil
	case string(stored) != string(fold):
		return difference{fmt.Sprintf("task %s: its record is not what its %d entries say", id, t.Seq), &t}, nil
	}
	return difference{}, nil
}

// foldJournal folds a journal entry by entry. wrong describes a bad entry; err is an error of reading.
func foldJournal(ctx context.Context, q querier, id task.ID) (t task.Task, wrong, err error) {
	err = eachOf(ctx, q, func(rows *sql.Rows) error {
		var seq int
		var text sql.RawBytes
		if err := rows.Scan(&seq, &text); err != nil || wrong != nil {
			return err
		}
		e, err := decodeEntry(id, seq, text)
		if err == nil {
			err = journal.Apply(&t, &e)
		}
		wrong = err
		return nil
	}, "SELECT seq, entry FROM journal WHERE task = ? ORDER BY seq", string(id))
	return t, wrong, err
}
