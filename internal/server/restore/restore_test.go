package restore

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
