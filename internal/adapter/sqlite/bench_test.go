package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// BenchmarkCommit compares a commit of one transition with a bare transaction that
// writes the same rows to plain tables, turn by turn in the same run. The ratio is
// the bare time, encoding not counted, divided by ours: 1 means that the store costs nothing.
func BenchmarkCommit(b *testing.B) {
	s := open(b)
	bare := openBare(b)
	c := created(b, 1)
	commit(b, s, c)
	var ours, theirs time.Duration
	for b.Loop() {
		c = transition(b, c.Task)
		rows, err := newBatch([]journal.Commit{c})
		if err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		commit(b, s, c)
		middle := time.Now()
		bare.commit(b, rows)
		ours += middle.Sub(begin)
		theirs += time.Since(middle)
	}
	b.ReportMetric(float64(theirs)/float64(ours), "ratio")
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "µs/commit")
}

type bareDB struct {
	db           *sql.DB
	entry, state *sql.Stmt
}

func openBare(b *testing.B) *bareDB {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	b.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec(`CREATE TABLE journal (row INTEGER PRIMARY KEY, task TEXT, seq INTEGER, at TEXT, entry TEXT, UNIQUE (task, seq));
		CREATE TABLE task (id TEXT PRIMARY KEY, fold TEXT)`); err != nil {
		b.Fatal(err)
	}
	d := &bareDB{db: db}
	if d.entry, err = db.Prepare("INSERT INTO journal (task, seq, at, entry) VALUES (?, ?, ?, ?)"); err != nil {
		b.Fatal(err)
	}
	if d.state, err = db.Prepare("INSERT INTO task (id, fold) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET fold = excluded.fold"); err != nil {
		b.Fatal(err)
	}
	return d
}

func (d *bareDB) commit(b *testing.B, rows *batch) {
	b.Helper()
	tx, err := d.db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	if _, err := tx.Stmt(d.entry).Exec(rows.rows[0].Task, rows.rows[0].Seq, rows.rows[0].At, string(rows.rows[0].Entry)); err != nil {
		b.Fatal(err)
	}
	if _, err := tx.Stmt(d.state).Exec(string(rows.tasks[0].id), rows.tasks[0].values[11]); err != nil {
		b.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkEachTask lists 10,000 tasks.
func BenchmarkEachTask(b *testing.B) {
	s := open(b)
	var commits []journal.Commit
	for n := range 10_000 {
		commits = append(commits, created(b, n))
	}
	if _, err := s.Commit(context.Background(), commits); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		n := 0
		if err := s.EachTask(task.Filter{}, func([]byte) error { n++; return nil }); err != nil || n != len(commits) {
			b.Fatal(n, err)
		}
	}
}
