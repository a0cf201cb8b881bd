package homestore

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"orange/internal/adapter/sqlite"
)

// upgradeStore does to a store what a newer program does, and adds rows to its journal.
func upgradeStore(t *testing.T, home string, rows int) {
	t.Helper()
	db, err := sql.Open("sqlite", Path(home))
	check(t, err)
	defer db.Close() //nolint:errcheck // the statements' errors count
	_, err = db.Exec("PRAGMA user_version = 99")
	check(t, err)
	for i := range rows {
		_, err = db.Exec("INSERT INTO journal (task, seq, at, entry, link) VALUES ('t', ?, '', '{}', x'00')", i+1)
		check(t, err)
	}
}

func TestAStoreIsPutBackUnlessItHasNewEntries(t *testing.T) {
	for name, tt := range map[string]struct {
		upgrade bool
		rows    int
		schema  int
		says    string
	}{
		"it was not touched":  {false, 0, sqlite.SchemaVersion(), ""},
		"it was upgraded":     {true, 0, sqlite.SchemaVersion(), ""},
		"it has more entries": {true, 2, 99, "the store has new entries since it was upgraded"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			store, err := sqlite.Open(Path(home))
			check(t, err)
			check(t, store.Close())
			kept, err := Keep(home)
			check(t, err)
			if tt.upgrade {
				upgradeStore(t, home, tt.rows)
			}
			err = kept.PutBack()
			if tt.says == "" {
				check(t, err)
			} else if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("it says %v", err)
			}
			if now, err := sqlite.ReadProgress(Path(home)); err != nil || now.Schema != tt.schema || now.Row != int64(tt.rows) {
				t.Errorf("%+v, %v", now, err)
			}
			if _, err := os.Stat(Path(home) + ".previous"); (err == nil) != (tt.says != "") {
				t.Errorf("the copy: %v", err)
			}
		})
	}
	kept, err := Keep(t.TempDir())
	check(t, err)
	check(t, kept.PutBack())
	check(t, kept.Drop())
}
