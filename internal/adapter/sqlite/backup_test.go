package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/core/journal"
)

func backUp(t *testing.T, s *Store, dir string, at time.Time) bool {
	t.Helper()
	made, err := s.WriteBackup(context.Background(), dir, at)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func backups(t *testing.T, dir string) []Backup {
	t.Helper()
	list, err := ListBackups(dir)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestABackupIsAWholeStore(t *testing.T) {
	s, dir := open(t), t.TempDir()
	commit(t, s, created(t, 1))
	if !backUp(t, s, dir, start) {
		t.Fatal("no backup was made")
	}
	commit(t, s, created(t, 2)) // is not in it
	made := backups(t, dir)[0]
	if info, err := os.Stat(made.Path); err != nil || info.Mode().Perm() != 0o600 || !made.At.Equal(start.Truncate(time.Millisecond)) {
		t.Errorf("%v, %v, %v", info.Mode(), made.At, err)
	}
	if rows, err := InspectFile(context.Background(), made.Path); err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("%q", left)
	}
}

func TestABackupIsNotMadeIfNothingChanged(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "orange.db"), t.TempDir()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, created(t, 1))
	backUp(t, s, dir, start)
	if err := s.SetSetting("k", ""); err != nil {
		t.Fatal(err)
	}
	if !backUp(t, s, dir, start.Add(time.Second)) {
		t.Error("a setting changed and no backup was made")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = OpenExisting(path); err != nil {
		t.Fatal(err)
	}
	defer s.Close()                               //nolint:errcheck // it was only read
	if err := s.SetSetting("k", ""); err != nil { // as it is
		t.Fatal(err)
	}
	if backUp(t, s, dir, start.Add(time.Hour)) || len(backups(t, dir)) != 2 {
		t.Error("nothing changed and a backup was made")
	}
}

func TestThreeBackupsAreKept(t *testing.T) {
	s, dir := open(t), t.TempDir()
	at := start
	for n := range 30 { // five starts a day
		commit(t, s, created(t, n))
		at = at.Add(5 * time.Hour)
		backUp(t, s, dir, at)
	}
	list := backups(t, dir)
	if len(list) != 3 || !list[0].At.Equal(at.Truncate(time.Millisecond)) || list[1].At.Sub(list[2].At) < 24*time.Hour || at.Sub(list[1].At) > 48*time.Hour {
		t.Errorf("%v", list)
	}
	backUp(t, s, dir, start) // the clock was put back, and nothing changed
	commit(t, s, created(t, 99))
	if backUp(t, s, dir, start); len(backups(t, dir)) != 3 {
		t.Errorf("%v", backups(t, dir))
	}
	if rows, err := InspectFile(context.Background(), backups(t, dir)[0].Path); err != nil || rows != 31 {
		t.Errorf("the newest has %d rows (%v)", rows, err)
	}
}

func TestABackupIsConsistentWhileOthersWrite(t *testing.T) {
	s, dir := open(t), t.TempDir()
	commit(t, s, created(t, 0))
	var group sync.WaitGroup
	stop := make(chan struct{})
	group.Go(func() {
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := s.Commit(context.Background(), []journal.Commit{created(t, n)}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for n := range 10 {
		backUp(t, s, dir, start.Add(time.Duration(n)*48*time.Hour))
	}
	close(stop)
	group.Wait()
	for _, b := range backups(t, dir) {
		if _, err := InspectFile(context.Background(), b.Path); err != nil {
			t.Error(err)
		}
	}
}

func TestABackupThatFailsLeavesNothing(t *testing.T) {
	s, dir := open(t), filepath.Join(t.TempDir(), "[backups]")
	commit(t, s, created(t, 1))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.WriteBackup(ctx, dir, start); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"orange-1.tmp", "orange-1.tmp-journal"} { // of a server that was killed
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	backUp(t, s, dir, start)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%q, %v", left, err)
	}
}

func TestInspectNamesWhatIsWrongAndChangesNothing(t *testing.T) {
	whole := func(t *testing.T) string {
		s, dir := open(t), t.TempDir()
		for n := range 50 {
			commit(t, s, created(t, n))
		}
		backUp(t, s, dir, start)
		return backups(t, dir)[0].Path
	}
	for name, tc := range map[string]struct {
		harm func(t *testing.T, path string) error
		want string
	}{
		"missing":    {func(_ *testing.T, path string) error { return os.Remove(path) }, ErrEmpty.Error()},
		"zero bytes": {func(_ *testing.T, path string) error { return os.Truncate(path, 0) }, ErrEmpty.Error()},
		"truncated":  {func(_ *testing.T, path string) error { return os.Truncate(path, 8192) }, "it is damaged; run orange stop, then orange doctor --restore"},
		"garbage": {func(_ *testing.T, path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("garbage ", 2048)), 0o600)
		},
			"it is not a database; run orange doctor --restore"},
		"no tables": {func(t *testing.T, path string) error { return execute(path, "DROP TABLE task") }, "its table task is missing; run orange doctor --restore"},
	} {
		t.Run(name, func(t *testing.T) {
			path := whole(t)
			if err := tc.harm(t, path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			_, err := InspectFile(context.Background(), path)
			wantError(t, err, tc.want)
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
			if s, err := OpenExisting(path); err == nil {
				s.Close() //nolint:errcheck // the test failed already
				t.Error("it was opened")
			}
			if _, err := os.Stat(path); name == "missing" && err == nil {
				t.Error("a store was made")
			}
		})
	}
}

func execute(path, statement string) error {
	db, err := connectPool(path, 1, "")
	if err != nil {
		return err
	}
	_, err = db.Exec(statement)
	return errors.Join(err, db.Close())
}

func TestReplaceKeepsWhatWasThere(t *testing.T) {
	s, dir := open(t), t.TempDir()
	commit(t, s, created(t, 1))
	backUp(t, s, dir, start)
	path, aside := filepath.Join(dir, "orange.db"), filepath.Join(dir, "aside")
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.WriteFile(path+end, []byte("bad"+end), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var steps []string
	if err := ReplaceStore(path, backups(t, dir)[0].Path, aside, func(step string) { steps = append(steps, step) }); err != nil {
		t.Fatal(err)
	}
	if rows, err := InspectFile(context.Background(), path); err != nil || rows != 1 || len(steps) != 5 {
		t.Errorf("%d rows, %v, %q", rows, err, steps)
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		if text, err := os.ReadFile(filepath.Join(aside, "orange.db"+end)); err != nil || string(text) != "bad"+end {
			t.Errorf("%s: %q, %v", end, text, err)
		}
	}
}
