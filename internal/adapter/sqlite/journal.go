package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// Journal returns the entries of a task after entry number after.
func (s *Store) Journal(id task.ID, after int) ([]journal.Entry, error) {
	entries, err := readJournal(context.Background(), s.read, id, after)
	if err != nil {
		return nil, s.describeError("read", err)
	}
	return entries, nil
}

func readJournal(ctx context.Context, q querier, id task.ID, after int) ([]journal.Entry, error) {
	var entries []journal.Entry
	err := eachOf(ctx, q, func(rows *sql.Rows) error {
		var seq int
		var text sql.RawBytes
		if err := rows.Scan(&seq, &text); err != nil {
			return err
		}
		e, err := decodeEntry(id, seq, text)
		entries = append(entries, e)
		return err
	}, "SELECT seq, entry FROM journal WHERE task = ? AND seq > ? ORDER BY seq", string(id), after)
	return entries, err
}

func decodeEntry(id task.ID, seq int, text []byte) (journal.Entry, error) {
	e, err := journal.Decode(text)
	if errors.Is(err, journal.ErrUpgrade) {
		return e, fmt.Errorf("entry %d of task %s cannot be read: %w", seq, id, err)
	}
	if err != nil {
		return e, fmt.Errorf("entry %d of task %s does not parse (%w): run orange doctor", seq, id, err)
	}
	if e.Task != id || e.Seq != seq {
		return e, fmt.Errorf("entry %d of task %s says that it is entry %d of task %q: run orange doctor", seq, id, e.Seq, e.Task)
	}
	return e, nil
}

// Rows returns at most limit entries, as stored, whose rows come after row after. They are those of
// one task, or of all tasks if id is empty.
func (s *Store) Rows(after int64, id task.ID, limit int) ([]journal.Row, error) {
	query, args := "SELECT row, entry FROM journal WHERE row > ? ORDER BY row LIMIT ?", []any{after, limit}
	if id != "" {
		// Within a task, the order of seq is the order of rows, and seq is indexed.
		query, args = "SELECT row, entry FROM journal WHERE task = ? AND +row > ? ORDER BY seq LIMIT ?", []any{string(id), after, limit}
	}
	var out []journal.Row
	err := s.queryRows(func(rows *sql.Rows) error {
		var r journal.Row
		err := rows.Scan(&r.ID, (*[]byte)(&r.Entry))
		out = append(out, r)
		return err
	}, query, args...)
	return out, s.describeError("read", err)
}

// EachRow calls yield for every entry, as stored, with its link, in the order of commits. The bytes
// are valid only until yield returns, and yield must not call the store.
func (s *Store) EachRow(ctx context.Context, yield func(journal.Row) error) error {
	var refused error
	err := eachStored(ctx, s.read, func(r *journal.Stored, link []byte) error {
		refused = yield(journal.Row{ID: r.Row, Entry: r.Entry, Link: hex.EncodeToString(link), Segment: r.Segment})
		return refused
	})
	if refused != nil {
		return refused
	}
	return s.describeError("read", err)
}

// MovedRows divides the journal into parts of the same length and returns, for each of them in which a task changed its
// state, the last row with such a change.
func (s *Store) MovedRows(parts int) ([]int64, error) {
	var out []int64
	err := s.queryRows(func(rows *sql.Rows) error {
		var row sql.NullInt64
		err := rows.Scan(&row)
		if row.Valid {
			out = append(out, row.Int64)
		}
		return err
	}, `WITH RECURSIVE part(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM part WHERE n < ?1), journal_end(row) AS (SELECT max(row) FROM journal)
		SELECT (SELECT row FROM journal WHERE row > journal_end.row * (n - 1) / ?1 AND row <= journal_end.row * n / ?1 AND instr(entry, ?2) > 0 ORDER BY row DESC LIMIT 1)
		FROM part, journal_end ORDER BY n`, parts, `"type":"`+string(journal.StatusChanged)+`"`)
	return out, s.describeError("read", err)
}

// LastRow returns the row of the newest entry, or 0 if there is none.
func (s *Store) LastRow() (int64, error) {
	var row int64
	err := s.read.QueryRow("SELECT coalesce(max(row), 0) FROM journal").Scan(&row)
	return row, s.describeError("read", err)
}
