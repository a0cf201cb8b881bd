package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

const (
	insertRow  = `INSERT INTO journal (row, task, seq, at, entry, link) VALUES (?, ?, ?, ?, ?, ?)`
	createTask = `INSERT INTO task (project, branch, workspace, queued, over, deleted, status, pending, live, due, seq, fold, id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateTask = `UPDATE task SET project = ?, branch = ?, workspace = ?, queued = ?, over = ?, deleted = ?,
		status = ?, pending = ?, live = ?, due = ?, seq = ?, fold = ? WHERE id = ? AND seq = ?`
	touchTask = `UPDATE task SET status = ?, pending = ?, live = ?, due = ?, seq = ?, fold = ? WHERE id = ? AND seq = ?`
)

// indexed holds the indexed columns of a task. SQLite writes the pages of an index whenever a
// statement sets its columns, even to the same values, so the store sets them only when they change.
// It remembers them for the tasks that it has written.
type indexed struct {
	project, branch, workspace string
	queued, over, deleted      bool
}

// Commit makes all the commits durable, or none of them. It returns the row of the first entry; the
// others follow it without a gap. It returns an error for a commit that does not follow the stored
// entries. Once it has begun, it ignores ctx.
func (s *Store) Commit(ctx context.Context, commits []journal.Commit) (firstRow int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, s.describeError("write to", err)
	}
	b, err := newBatch(commits)
	if err != nil {
		return 0, s.describeError("write to", err)
	}
	err = s.runTransaction(func(ctx context.Context, c *sql.Conn) error {
		return s.writeBatch(ctx, c, b)
	}, func() { firstRow = s.rememberCommitted(b) })
	if err != nil {
		return 0, s.describeError("write to", err)
	}
	return firstRow, nil
}

// batch is what a commit writes, encoded before the transaction begins.
type batch struct {
	rows  []journal.Stored // without their numbers
	tasks []taskRow
	head  chainHead // after the batch
}

// taskRow is the record of one task after the batch.
type taskRow struct {
	id     task.ID
	before int // seq of the record before the batch
	keys   indexed
	values []any
}

func newBatch(commits []journal.Commit) (*batch, error) {
	b := &batch{}
	last := make(map[task.ID]int, len(commits)) // index of a task's row in tasks
	for i := range commits {
		c := &commits[i]
		if err := b.addEntries(c); err != nil {
			return nil, err
		}
		at, again := last[c.Task.ID]
		before := c.Task.Seq - len(c.Entries)
		if again {
			if b.tasks[at].values[seqColumn] != before {
				return nil, fmt.Errorf("the entries of task %s have a gap before %d", c.Task.ID, before+1)
			}
			before = b.tasks[at].before
		} else {
			at = len(b.tasks)
			last[c.Task.ID] = at
			b.tasks = append(b.tasks, taskRow{})
		}
		values, err := taskValues(c)
		if err != nil {
			return nil, err
		}
		b.tasks[at] = taskRow{id: c.Task.ID, before: before, keys: keysOf(c), values: values}
	}
	return b, nil
}

func (b *batch) addEntries(c *journal.Commit) error {
	first := c.Task.Seq - len(c.Entries) + 1
	for i := range c.Entries {
		e := &c.Entries[i]
		if e.Task != c.Task.ID || e.Seq != first+i {
			return fmt.Errorf("entry %d of task %s does not lead to entry %d of task %s", e.Seq, e.Task, c.Task.Seq, c.Task.ID)
		}
		text, err := journal.Encode(e)
		if err != nil {
			return fmt.Errorf("encode entry %d of task %s: %w", e.Seq, e.Task, err)
		}
		row := journal.Stored{Task: string(e.Task), Seq: e.Seq, At: journal.StoredTime(e.At), Entry: text}
		if i == 0 {
			row.Segment = c.Segment
		}
		b.rows = append(b.rows, row)
	}
	return nil
}

func keysOf(c *journal.Commit) indexed {
	t := &c.Task
	return indexed{t.Project, t.Branch, t.Workspace, t.Queued, c.Over, t.Deleted}
}

// Indexes into the result of taskValues.
const (
	statusColumn = 6 // the first column without an index
	seqColumn    = 10
)

// taskValues returns the columns of a task in the order of createTask and updateTask.
func taskValues(c *journal.Commit) ([]any, error) {
	t := &c.Task
	fold, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("encode task %s: %w", t.ID, err)
	}
	var due any
	if !c.Due.IsZero() {
		due = c.Due.UnixMilli()
	}
	return []any{t.Project, t.Branch, t.Workspace, t.Queued, c.Over, t.Deleted,
		t.Status, len(t.Pending), len(t.Attempts), due, t.Seq, string(fold), string(t.ID)}, nil
}

func (s *Store) writeBatch(ctx context.Context, c *sql.Conn, b *batch) error {
	for i := range b.tasks {
		if err := s.writeTask(ctx, &b.tasks[i]); err != nil {
			return err
		}
	}
	b.head = s.head
	for i := range b.rows {
		r := &b.rows[i]
		r.Row = b.head.row + 1
		if i == 0 && s.segment != "" {
			r.Segment = joinSegments(s.segment, r.Segment)
			if _, err := c.ExecContext(ctx, "DELETE FROM setting WHERE key = ?", nextSegmentKey); err != nil {
				return err
			}
		}
		b.head = chainHead{r.Row, b.head.link.NextLink(r)}
		_, err := s.insert.ExecContext(ctx, r.Row, r.Task, r.Seq, r.At, string(r.Entry), b.head.link[:])
		if err == nil && r.Segment != "" {
			_, err = c.ExecContext(ctx, "INSERT INTO journal_segment (row, text) VALUES (?, ?)", r.Row, r.Segment)
		}
		if isConflict(err) {
			return fmt.Errorf("entry %d of task %s is there already: %w", r.Seq, r.Task, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func joinSegments(first, second string) string {
	if second == "" {
		return first
	}
	return first + "; " + second
}

func (s *Store) writeTask(ctx context.Context, r *taskRow) error {
	if r.before == 0 {
		_, err := s.create.ExecContext(ctx, r.values...)
		if isConflict(err) {
			return fmt.Errorf("task %s is there already: %w", r.id, err)
		}
		return err
	}
	stmt, values := s.update, append(r.values, r.before)
	if known, ok := s.known[r.id]; ok && known == r.keys {
		stmt, values = s.touch, values[statusColumn:]
	}
	result, err := stmt.ExecContext(ctx, values...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return fmt.Errorf("task %s is not at entry %d: another process has written to it; stop that process, then run orange restart", r.id, r.before)
}

// rememberCommitted records what was committed and returns its first row, or 0 if there is none. It
// forgets the columns of finished tasks, for which few commits follow.
func (s *Store) rememberCommitted(b *batch) (firstRow int64) {
	if len(b.rows) > 0 {
		firstRow, s.head, s.segment = b.rows[0].Row, b.head, ""
	}
	for i := range b.tasks {
		if r := &b.tasks[i]; r.keys.over {
			delete(s.known, r.id)
		} else {
			s.known[r.id] = r.keys
		}
	}
	return firstRow
}
