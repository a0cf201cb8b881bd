package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"orange/internal/adapter/sqlite" // also registers the driver
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// Rows that the store writes for one transition that moves neither branch nor workspace.
const (
	insertRow  = `INSERT INTO journal (task, seq, at, entry) VALUES (?, ?, ?, ?)`
	updateTask = `UPDATE task SET status = ?, pending = ?, live = ?, due = ?, seq = ?, fold = ? WHERE id = ? AND seq = ?`
)

// bareSQLite is the baseline: a database with the store's tables and settings, without Orange between the program and
// SQLite.
type bareSQLite struct {
	life   *life
	db     *sql.DB
	conn   *sql.Conn
	begin  *sql.Stmt
	commit *sql.Stmt
	insert *sql.Stmt
	update *sql.Stmt
}

func newBareSQLite(def *workflow.Definition, path string) (*bareSQLite, error) {
	l := beginLife(def, 0, time.Now().UTC().Truncate(time.Microsecond), false)
	l.requestMove(task.Human, "planning")
	if err := startBareSQLite(l, def, path); err != nil {
		return nil, err
	}
	pragmas := url.Values{"_pragma": {"busy_timeout(5000)", "synchronous(FULL)", "foreign_keys(1)", "journal_size_limit(67108864)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: pragmas.Encode()}).String())
	if err != nil {
		return nil, err
	}
	b := &bareSQLite{life: l, db: db}
	if err := b.prepareStatements(); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// startBareSQLite lets the store create its tables, and fills them like those of the runtime.
func startBareSQLite(l *life, def *workflow.Definition, path string) error {
	if l.err != nil {
		return l.err
	}
	store, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	if _, err := fillStore(store, def, submitters); err != nil {
		store.Close()
		return err
	}
	return store.Close()
}

func (b *bareSQLite) prepareStatements() (err error) {
	ctx := context.Background()
	if b.conn, err = b.db.Conn(ctx); err != nil {
		return err
	}
	var mode string
	if err := b.conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{{&b.begin, "BEGIN IMMEDIATE"}, {&b.commit, "COMMIT"}, {&b.insert, insertRow}, {&b.update, updateTask}} {
		if *p.stmt, err = b.conn.PrepareContext(ctx, p.text); err != nil {
			return err
		}
	}
	return nil
}

func (b *bareSQLite) close() {
	if b.conn != nil {
		b.conn.Close()
	}
	b.db.Close()
}

// rows are the values of one transition.
type rows struct{ entry, task []any }

// timeRound writes transitions, one transaction each. It prepares the values before the clock starts.
func (b *bareSQLite) timeRound() (time.Duration, error) {
	var all []rows
	for i := range aloneTimes {
		r, err := b.nextRows(pauseOrResume(i))
		if err != nil {
			return 0, err
		}
		all = append(all, r)
	}
	start := time.Now()
	for _, r := range all {
		if err := b.writeTransition(r); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

func (b *bareSQLite) nextRows(sig signal.Signal) (rows, error) {
	l := b.life
	l.entries = l.entries[:0]
	l.at = time.Now().UTC().Truncate(time.Microsecond)
	l.decideSignal(sig)
	if l.err != nil || len(l.entries) != 1 || len(l.entries[0].Effects) != 0 {
		return rows{}, fmt.Errorf("a transition of the baseline makes %d entries: %w", len(l.entries), l.err)
	}
	e, t, c := &l.entries[0], &l.task, l.toCommit()
	entry, err := json.Marshal(e)
	if err != nil {
		return rows{}, err
	}
	fold, err := json.Marshal(t)
	if err != nil {
		return rows{}, err
	}
	var due any
	if !c.Due.IsZero() {
		due = c.Due.UnixMilli()
	}
	return rows{
		entry: []any{string(e.Task), e.Seq, e.At.Format(time.RFC3339Nano), string(entry)},
		task:  []any{t.Status, len(t.Pending), len(t.Attempts), due, t.Seq, string(fold), string(t.ID), t.Seq - 1},
	}, nil
}

func (b *bareSQLite) writeTransition(r rows) error {
	ctx := context.Background()
	if _, err := b.begin.ExecContext(ctx); err != nil {
		return err
	}
	result, err := b.update.ExecContext(ctx, r.task...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("the baseline updated %d tasks: %w", n, err)
	}
	if _, err := b.insert.ExecContext(ctx, r.entry...); err != nil {
		return err
	}
	_, err = b.commit.ExecContext(ctx)
	return err
}
