package sqlite_test

import (
	"path/filepath"
	"testing"

	"orange/internal/adapter/sqlite"
	"orange/internal/core/task"
)

func TestNoticesAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orange.db")
	open := func() *sqlite.Store {
		s, err := sqlite.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	s := open()
	is := func(id, want string) {
		t.Helper()
		if got, err := s.Notice(task.ID(id)); err != nil || got != want {
			t.Errorf("of %s is kept %q, %v; not %q", id, got, err, want)
		}
	}
	set := func(id, key string) {
		t.Helper()
		if err := s.SetNotice(task.ID(id), key); err != nil {
			t.Fatal(err)
		}
	}
	is("a", "")
	set("a", "review-1-abc ntfy-1 bell-2")
	set("b", "stuck-2-def")
	set("a", "review-1-abc bell-2") // instead of what was there
	is("a", "review-1-abc bell-2")
	is("b", "stuck-2-def")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open() // and outlives the server
	is("a", "review-1-abc bell-2")
	set("a", "")
	set("a", "") // forgetting nothing is no error
	is("a", "")
	is("b", "stuck-2-def")
}
