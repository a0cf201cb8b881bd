package lock_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/adapter/lock"
)

func self() lock.Holder { return lock.Holder{PID: os.Getpid(), Socket: "/run/s", Mark: "12 boot"} }

func isSelf(h lock.Holder) bool { return h.Mark == self().Mark }

func take(t *testing.T, home string) *lock.Lock {
	t.Helper()
	l, err := lock.Take(home, self(), isSelf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Release() })
	return l
}

func TestASecondServerLearnsWhoHoldsTheFolder(t *testing.T) {
	home := t.TempDir()
	other := filepath.Join(t.TempDir(), "other")
	linked := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(home, "orange.db"), nil, 0o600),
		os.Symlink(home, other),
		os.Symlink(filepath.Join(home, "orange.db"), filepath.Join(linked, "orange.db")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	first := take(t, home)
	if !lock.HeldBy(home, os.Getpid()) || lock.HeldBy(home, os.Getppid()) {
		t.Errorf("this process holds it: %v; its parent: %v", lock.HeldBy(home, os.Getpid()), lock.HeldBy(home, os.Getppid()))
	}
	if diff := cmp.Diff(self(), lock.ReadHolder(home)); diff != "" || !lock.IsHeld(home) {
		t.Errorf("held %v, %s", lock.IsHeld(home), diff)
	}
	for _, tt := range []struct {
		name, home string
		known      bool
	}{{"the folder", home, true}, {"a link to it", other, true}, {"a link to its database", linked, false}} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := lock.Take(tt.home, self(), isSelf)
			held, ok := errors.AsType[*lock.HeldError](err)
			if !ok || held.PID != os.Getpid() || held.Known != tt.known || !strings.Contains(err.Error(), "in use by pid") {
				t.Errorf("%+v, %v", held, err)
			}
		})
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if lock.IsHeld(home) {
		t.Error("it is held after its release")
	}
	take(t, linked)
}

func TestWhatADeadServerLeftIsTaken(t *testing.T) {
	for _, text := range []string{"", "999999\n", "999999\n/run/s\n", "999999\n/run/s\n1 boot\n"} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, "server.lock"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		take(t, home)
	}
}

func TestALostLockFileIsWrittenAgain(t *testing.T) {
	home := t.TempDir()
	l := take(t, home)
	path := filepath.Join(home, "server.lock")
	for _, tt := range []struct {
		name string
		lose func() error
		lost bool
	}{
		{"it is there", func() error { return nil }, false},
		{"it is removed", func() error { return os.Remove(path) }, true},
		{"it is replaced", func() error { return errors.Join(os.Remove(path), os.WriteFile(path, []byte("1\n"), 0o600)) }, true},
		{"it is emptied", func() error { return os.Truncate(path, 0) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.lose(); err != nil {
				t.Fatal(err)
			}
			lost, err := l.EnsureFile("/run/other")
			want := self()
			want.Socket = "/run/other"
			if diff := cmp.Diff(want, lock.ReadHolder(home)); diff != "" || lost != tt.lost || err != nil {
				t.Errorf("lost %v, %v, %s", lost, err, diff)
			}
		})
	}
	if l.HasMoved() {
		t.Error("the folder is said to be gone")
	}
	if err := os.Rename(home, home+".aside"); err != nil {
		t.Fatal(err)
	}
	if !l.HasMoved() {
		t.Error("the folder is gone")
	}
}

// A link locks the folder of the database before the first server makes the database, too.
func TestTheFolderOfADatabaseThatDoesNotExistYetIsLocked(t *testing.T) {
	link := func(t *testing.T, to string) string {
		home := t.TempDir()
		if err := os.Symlink(to, filepath.Join(home, "orange.db")); err != nil {
			t.Fatal(err)
		}
		return home
	}
	for _, tt := range []struct {
		name    string
		folders func(t *testing.T) (first, second string)
	}{
		{"the folder and a link into it", func(t *testing.T) (string, string) {
			home := t.TempDir()
			return home, link(t, filepath.Join(home, "orange.db"))
		}},
		{"two links to one file", func(t *testing.T) (string, string) {
			file := filepath.Join(t.TempDir(), "store.db")
			return link(t, file), link(t, file)
		}},
		{"a link to a link, by a relative path", func(t *testing.T) (string, string) {
			home := t.TempDir()
			first := link(t, filepath.Join(home, "orange.db"))
			second := link(t, filepath.Join("..", filepath.Base(first), "orange.db"))
			if err := os.Rename(second, filepath.Join(filepath.Dir(first), "second")); err != nil {
				t.Fatal(err)
			}
			return home, filepath.Join(filepath.Dir(first), "second")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			one, other := tt.folders(t)
			for _, order := range [][2]string{{one, other}, {other, one}} {
				l := take(t, order[0])
				again, err := lock.Take(order[1], self(), isSelf)
				if _, ok := errors.AsType[*lock.HeldError](err); !ok {
					t.Errorf("%s is taken beside %s: %v", order[1], order[0], err)
				}
				if err == nil {
					again.Release()
				}
				l.Release()
			}
		})
	}
	take(t, link(t, filepath.Join(t.TempDir(), "none", "orange.db"))) // no store can be made there
	take(t, link(t, "orange.db"))                                     // nor here
}
