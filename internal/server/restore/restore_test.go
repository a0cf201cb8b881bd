package restore

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/adapter/sqlite"
	"orange/internal/server/homestore"
	"orange/internal/ui/cli"
)

// A store against which nothing is known stays in its place.
func TestARestoreLeavesAStoreThatIsNotDamaged(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for name, tc := range map[string]struct {
		ctx     context.Context
		prepare func(t *testing.T, home string)
		want    string // "": it is intact
	}{
		"the check is broken off": {over, func(t *testing.T, home string) {
			store, err := sqlite.Open(homestore.Path(home))
			check(t, err)
			check(t, store.Close())
		}, "context canceled"},
		"a newer orange wrote it": {context.Background(), func(t *testing.T, home string) {
			store, err := sqlite.Open(homestore.Path(home))
			check(t, err)
			check(t, store.Close())
			db, err := sql.Open("sqlite", homestore.Path(home))
			check(t, err)
			_, err = db.Exec("PRAGMA user_version = 99")
			check(t, err)
			check(t, db.Close())
		}, "it was written by a newer orange (schema 99, this one knows "},
		"a link to a store whose server was killed": {context.Background(), func(t *testing.T, home string) {
			file := filepath.Join(t.TempDir(), "file.db")
			store, err := sqlite.Open(file)
			check(t, err)
			t.Cleanup(func() { check(t, store.Close()) }) // until then all is in the write-ahead log
			check(t, os.Symlink(file, homestore.Path(home)))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			tc.prepare(t, home)
			before, err := os.Lstat(homestore.Path(home))
			check(t, err)
			var report cli.Restored
			err = PlaceStore(tc.ctx, home, &report, func(string) {})
			if tc.want == "" {
				check(t, err)
			} else if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if after, err := os.Lstat(homestore.Path(home)); err != nil || !os.SameFile(before, after) {
				t.Errorf("the store was replaced: %v", err)
			}
			if report.Empty || report.Problem != "" || report.Aside != "" {
				t.Errorf("%+v", report)
			}
		})
	}
}

// A store that is missing behind a link is restored there, and the link stays.
func TestARestoreFollowsALinkToAStoreThatIsMissing(t *testing.T) {
	home, file := t.TempDir(), filepath.Join(t.TempDir(), "file.db")
	check(t, os.Symlink(file, homestore.Path(home)))
	store, err := sqlite.Open(file)
	check(t, err)
	_, err = store.WriteBackup(t.Context(), homestore.BackupFolder(home), time.Now())
	check(t, err)
	check(t, store.Close())
	check(t, os.Remove(file))
	var report cli.Restored
	check(t, PlaceStore(t.Context(), home, &report, func(string) {}))
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the file is not back: %v", err)
	}
	if to, err := os.Readlink(homestore.Path(home)); err != nil || to != file {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
