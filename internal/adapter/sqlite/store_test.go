package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)

// id makes a valid task id.
func id(n int) task.ID { return task.ID(fmt.Sprintf("%021d", n)) }

func open(t testing.TB) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "orange.db"))
}

func openAt(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// next folds an entry into a record and returns the commit of it.
func next(t testing.TB, have task.Task, e journal.Entry) journal.Commit {
	t.Helper()
	if e.Task == "" {
		e.Task = have.ID
	}
	e.Seq = have.Seq + 1
	e.At = start.Add(time.Duration(e.Seq) * time.Second)
	folded, err := journal.Fold(have, []journal.Entry{e})
	if err != nil {
		t.Fatal(err)
	}
	return journal.Commit{Task: folded, Entries: []journal.Entry{e}}
}

func created(t testing.TB, n int) journal.Commit {
	t.Helper()
	return next(t, task.Task{}, journal.Entry{
		Task: id(n), Type: journal.TaskCreated, Actor: task.Human, Move: journal.Move{To: "pending", From: "new"}, Creation: journal.Creation{Workflow: "orange", WorkflowHash: "h",
			New: &signal.New{ID: id(n), Project: "p", Branch: fmt.Sprintf("b%d", n), Summary: "do <it>", Harness: "claude"}},
		RecordChanges: journal.RecordChanges{Counters: []task.Counter{{Name: "review_round"}, {Name: "crash_count"}}},
	})
}

// pauseEntry is an entry that pauses a task.
func pauseEntry() journal.Entry {
	return journal.Entry{Type: journal.TaskPaused, RecordChanges: journal.RecordChanges{PauseCause: task.PausedByRequest}}
}

func commit(t testing.TB, s *Store, commits ...journal.Commit) int64 {
	t.Helper()
	row, err := s.Commit(context.Background(), commits)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has more than one line", err)
	}
}

func TestOpenCreatesForTheOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "a folder?#%", "orange.db")
	s := openAt(t, path)
	commit(t, s, created(t, 1))
	for name, want := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
}

func TestOpenSettings(t *testing.T) {
	s := open(t)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000"} {
		var got string
		if err := s.write.QueryRowContext(context.Background(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", pragma, got, err, want)
		}
	}
	if _, err := s.read.Exec("DELETE FROM task"); err == nil {
		t.Error("a reading connection can write")
	}
}

func TestOpenKeepsWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orange.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, created(t, 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := openAt(t, path).Task(id(1)); !ok || err != nil {
		t.Errorf("the task is gone (%v)", err)
	}
}

// raw runs statements on a file without any of the store's care.
func raw(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOpenUpgradesVersion1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orange.db")
	first := created(t, 1)
	c := next(t, first.Task, journal.Entry{Type: journal.StatusChanged, Move: journal.Move{To: "working"}, RecordChanges: journal.RecordChanges{BindWorkspace: "p--1"},
		AttemptChanges: journal.AttemptChanges{Started: []task.Attempt{{Number: 1, Role: "worker"}}}})
	statements := []string{schema1, fmt.Sprintf("PRAGMA application_id = %d", applicationID), "PRAGMA user_version = 1", fmt.Sprintf(
		`INSERT INTO task VALUES (1, '%s', 'p', 'b1', 'working', 'p--1', 0, 0, 0, 0, NULL, 2, '{"attempts":[{"number":1}]}')`, id(1))}
	for i, e := range append(first.Entries, c.Entries...) {
		text, err := journal.Encode(&e)
		if err != nil {
			t.Fatal(err)
		}
		statements = append(statements, fmt.Sprintf("INSERT INTO journal VALUES (%d, '%s', %d, '%s', '%s')", i+1, id(1), i+1, journal.StoredTime(e.At), text))
	}
	raw(t, path, statements...)

	s := openAt(t, path)
	tasks, err := s.UnsettledTasks()
	if err != nil || len(tasks) != 1 || tasks[0].Workspace != "p--1" {
		t.Errorf("a task of version 1 with a live agent is not found: %v, %v", tasks, err)
	}
	var version int
	if err := s.read.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version != len(schemaMigrations()) {
		t.Errorf("version %d (%v)", version, err)
	}
	commit(t, s, next(t, c.Task, pauseEntry()))
}

func TestOpenRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		make func(t *testing.T, path string)
		want []string
	}{
		"a file of a newer orange": {func(t *testing.T, path string) {
			openThenClose(t, path)
			raw(t, path, "PRAGMA user_version = 99")
		}, []string{"newer orange", "upgrade orange"}},
		"a file that is no database": {func(t *testing.T, path string) {
			write(t, path, strings.Repeat("not a database at all. ", 100))
		}, []string{"not a database", "orange doctor --restore"}},
		"another program's database": {func(t *testing.T, path string) {
			raw(t, path, "CREATE TABLE music (song)")
		}, []string{"another program", "move it away"}},
		"a folder": {func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, []string{"it is a folder"}},
		"a damaged file": {func(t *testing.T, path string) {
			openThenClose(t, path)
			damage(t, path)
		}, []string{"damaged", "orange doctor --restore"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "orange.db")
			tc.make(t, path)
			_, err := Open(path)
			wantError(t, err, append(tc.want, path)...)
		})
	}
}

func openThenClose(t *testing.T, path string) {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, created(t, 1), created(t, 2))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// damage overwrites everything behind the file's header.
func damage(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 100; i < len(data); i++ {
		data[i] = 0x5a
	}
	write(t, path, string(data))
}

func TestOpenReadOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may write everything")
	}
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "orange.db")
		openThenClose(t, path)
		if err := os.Chmod(path, 0o400); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		wantError(t, err, "may not be written", "permissions")
	})
	t.Run("folder", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		_, err := Open(filepath.Join(dir, "orange.db"))
		wantError(t, err, "may not be written", "permissions")
	})
}

func TestProblemsSayWhatToDo(t *testing.T) {
	s := &Store{path: "/x/orange.db"}
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"permission": {os.ErrPermission, "check the owner"},
		"unknown":    {fmt.Errorf("boom"), "open the store /x/orange.db: boom"},
	} {
		t.Run(name, func(t *testing.T) { wantError(t, s.describeError("open", tc.err), tc.want) })
	}
}
