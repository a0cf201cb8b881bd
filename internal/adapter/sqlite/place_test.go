package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A store whose file was removed or replaced is copied from what is still open.
func TestAStoreThatIsNoLongerInItsPlaceIsCopied(t *testing.T) {
	remove := func(t *testing.T, paths ...string) {
		for _, path := range paths {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tc := range map[string]struct {
		lose func(t *testing.T, path string)
		says string
	}{
		"the file is removed":       {func(t *testing.T, path string) { remove(t, path) }, "orange.db was removed"},
		"all its files are removed": {func(t *testing.T, path string) { remove(t, path, path+"-wal", path+"-shm") }, "orange.db was removed"},
		"the log is removed":        {func(t *testing.T, path string) { remove(t, path+"-wal") }, "orange.db-wal was removed"},
		"another is in its place":   {func(t *testing.T, path string) { remove(t, path); write(t, path, "") }, "another file is in the place of"},
		"an older one is put back":  {func(t *testing.T, path string) { putOlder(t, path) }, "another file is in the place of"},
		"the link to it is removed": {func(t *testing.T, path string) { remove(t, filepath.Join(filepath.Dir(path), "link")) }, "link was removed"},
		"the link to it leads away": {func(t *testing.T, path string) { leadAway(t, path) }, "another file is in the place of"},
		"its folder is moved":       {func(t *testing.T, path string) { moveFolder(t, path) }, "orange.db was removed"},
		"nothing happens to it":     {func(*testing.T, string) {}, ""},
		"another file comes beside": {func(t *testing.T, path string) { write(t, path+".old", "") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root, dir := t.TempDir(), t.TempDir()
			path := filepath.Join(root, "data", "orange.db")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path, filepath.Join(filepath.Dir(path), "link")); err != nil {
				t.Fatal(err)
			}
			s := openAt(t, filepath.Join(filepath.Dir(path), "link"))
			commit(t, s, created(t, 1))
			backUp(t, s, dir, start)
			commit(t, s, created(t, 2))
			tc.lose(t, path)
			err := s.CheckPlace()
			if tc.says == "" {
				if err != nil {
					t.Error(err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tc.says) || !strings.HasSuffix(err.Error(), "run orange stop, then orange doctor --restore") {
				t.Errorf("it says %v", err)
			}
			if integrity := s.CheckIntegrity(context.Background()); (integrity == nil) != (err == nil) {
				t.Errorf("the check says %v", integrity)
			}
			commit(t, s, created(t, 3)) // what is decided later is copied later
			if !backUp(t, s, dir, start.Add(time.Hour)) {
				t.Error("no copy was made")
			}
			if rows, err := InspectFile(context.Background(), backups(t, dir)[0].Path); err != nil || rows != 3 {
				t.Errorf("the copy has %d rows, %v", rows, err)
			}
			if _, err := os.Stat(path); tc.says == "orange.db was removed" && err == nil {
				t.Error("an empty store was made")
			}
			if tasks, err := s.LastSequences(); err != nil || len(tasks) != 3 {
				t.Errorf("%d tasks, %v", len(tasks), err)
			}
		})
	}
}

// putOlder replaces a store by a valid one.
func putOlder(t *testing.T, path string) {
	t.Helper()
	older := filepath.Join(t.TempDir(), "older.db")
	openThenClose(t, older)
	if err := os.Rename(older, path); err != nil {
		t.Fatal(err)
	}
}

func leadAway(t *testing.T, path string) {
	t.Helper()
	other, link := filepath.Join(t.TempDir(), "other.db"), filepath.Join(filepath.Dir(path), "link")
	openThenClose(t, other)
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
}

func moveFolder(t *testing.T, path string) {
	t.Helper()
	if err := os.Rename(filepath.Dir(path), filepath.Dir(path)+".aside"); err != nil {
		t.Fatal(err)
	}
}
