package sqlite

import (
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// unversionedStore returns a store that the last version before format 1 of the journal wrote: two tasks whose issues were
// worked on and merged.
func unversionedStore(t *testing.T) string { return unpackStore(t, "unversioned") }

// unpackStore returns a store that another version wrote.
func unpackStore(t *testing.T, name string) string {
	t.Helper()
	in, err := os.Open("testdata/" + name + ".db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	unzipped, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "orange.db")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, unzipped)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// readColumn reads one column of a store without opening it as one.
func readColumn(t *testing.T, path, query string) (out []string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = eachOf(context.Background(), db, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		out = append(out, text)
		return err
	}, query)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// flatRecord returns a record without its groups, in the names from before format 1.
func flatRecord(t *testing.T, text string) map[string]any {
	t.Helper()
	var record map[string]any
	if err := json.Unmarshal([]byte(text), &record); err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{"setup", "resources", "current_visit", "waiting", "agents", "results"} {
		fields, _ := record[group].(map[string]any)
		delete(record, group)
		for name, value := range fields {
			if _, twice := record[name]; twice {
				t.Errorf("%s is in two groups", name)
			}
			record[name] = value
		}
	}
	for now, then := range map[string]string{
		"tracker_ref": "tracker", "entry_commit": "tip", "pause_reason": "hold", "state_reason": "because", "work_failed": "held",
		"attempt_counts": "ran", "last_report": "said", "card_snapshot": "face",
	} {
		if value, ok := record[now]; ok {
			delete(record, now)
			record[then] = value
		}
	}
	return record
}

func TestAStoreFromBeforeFormat1KeepsItsRowsAndItsRecords(t *testing.T) {
	const rowsOf, recordsOf = "SELECT entry FROM journal ORDER BY row", "SELECT fold FROM task ORDER BY n"
	path := unversionedStore(t)
	rows, records := readColumn(t, path, rowsOf), readColumn(t, path, recordsOf)
	over := readColumn(t, path, "SELECT over || '/' || coalesce(due, '') FROM task ORDER BY n")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if diff := cmp.Diff(rows, readColumn(t, path, rowsOf)); diff != "" || len(rows) != 46 {
		t.Errorf("%d rows changed:\n%s", len(rows), diff)
	}
	if diff := cmp.Diff(over, readColumn(t, path, "SELECT over || '/' || coalesce(due, '') FROM task ORDER BY n")); diff != "" {
		t.Error(diff)
	}
	now := readColumn(t, path, recordsOf)
	if len(now) != len(records) {
		t.Fatalf("%d records instead of %d", len(now), len(records))
	}
	for i, was := range records {
		var want map[string]any
		if err := json.Unmarshal([]byte(was), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, flatRecord(t, now[i])); diff != "" {
			t.Errorf("(-before +after)\n%s", diff)
		}
	}
	if differences, err := s.CompareRecords(t.Context()); len(differences) > 0 || err != nil {
		t.Errorf("%q, %v", differences, err)
	}
	if chain, broken, err := s.VerifyChain(t.Context()); broken != nil || err != nil || chain.Rows != 46 {
		t.Errorf("%d rows, %v, %v", chain.Rows, broken, err)
	}
	if tracked, err := s.TrackedTasks("lin:"); len(tracked) != 2 || err != nil {
		t.Errorf("%d tasks, %v", len(tracked), err)
	}
}

// format1.db.gz was written with schema 10 and format 1: a task that failed a review and was merged, one that waits and one
// that was cancelled. Every version reads it.
func TestAStoreOfFormat1KeepsItsRowsAndItsRecords(t *testing.T) {
	path := unpackStore(t, "format1")
	if was, err := ReadProgress(path); err != nil || was != (Progress{Schema: 10, Row: 31}) {
		t.Fatalf("%+v, %v", was, err)
	}
	rows := readColumn(t, path, "SELECT entry FROM journal ORDER BY row")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if diff := cmp.Diff(rows, readColumn(t, path, "SELECT entry FROM journal ORDER BY row")); diff != "" {
		t.Errorf("rows changed:\n%s", diff)
	}
	if differences, err := s.CompareRecords(t.Context()); len(differences) > 0 || err != nil {
		t.Errorf("%q, %v", differences, err)
	}
	if chain, broken, err := s.VerifyChain(t.Context()); broken != nil || err != nil || chain.Rows != 31 {
		t.Errorf("%d rows, %v, %v", chain.Rows, broken, err)
	}
	got := map[string]string{}
	err = s.EachTask(task.Filter{All: true}, func(record []byte) error {
		var t task.Task
		err := json.Unmarshal(record, &t)
		got[t.Branch] = t.Status
		return err
	})
	if diff := cmp.Diff(map[string]string{"login": "done", "later": "pending", "never": "cancelled"}, got); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	if now, err := ReadProgress(path); err != nil || now != (Progress{Schema: SchemaVersion(), Row: 31}) {
		t.Errorf("%+v, %v", now, err)
	}
	if none, err := ReadProgress(filepath.Join(t.TempDir(), "orange.db")); err != nil || none != (Progress{}) {
		t.Errorf("%+v, %v", none, err)
	}
}

// A record of schema 11 has no cause of its pause. The migration adds it.
func TestARecordFromBeforePausesHadACauseIsFoldedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orange.db")
	s := openAt(t, path)
	first := created(t, 1)
	commit(t, s, first, next(t, first.Task, journal.Entry{Task: id(1), Type: journal.TaskPaused, Reason: "the store was restored (entries lost: 1, owed effects dropped: 0)"}))
	if _, err := s.write.ExecContext(t.Context(), "DROP INDEX task_over; PRAGMA user_version = 11"); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, path)
	if got, _, err := s.Task(id(1)); err != nil || got.PauseCause != task.PausedByRestore {
		t.Errorf("cause %q, %v", got.PauseCause, err)
	}
	if differences, err := s.CompareRecords(t.Context()); len(differences) > 0 || err != nil {
		t.Errorf("%q, %v", differences, err)
	}
}

func TestAnEntryOfALaterVersionAsksForAnUpgrade(t *testing.T) {
	for name, tc := range map[string]struct{ from, to, why string }{
		"a type":   {`"type":"task.created"`, `"type":"check.passed"`, `cannot be read: its type "check.passed" is not known to this version: upgrade orange`},
		"a format": {`{"format":1,`, `{"format":2,`, "cannot be read: its format is 2, and this version reads up to 1: upgrade orange"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			commit(t, s, created(t, 1))
			if _, err := s.write.ExecContext(t.Context(), "UPDATE journal SET entry = replace(entry, ?, ?)", tc.from, tc.to); err != nil {
				t.Fatal(err)
			}
			_, err := s.Journal(id(1), 0)
			if !errors.Is(err, journal.ErrUpgrade) || !strings.HasSuffix(err.Error(), tc.why) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A path into a record that names nothing finds nothing, and SQLite does not complain.
func TestQueriesNameFieldsThatRecordsHave(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "migrate.go" { // migrations speak of records as they were
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`'\$\.([a-z_.]+)'`).FindAllStringSubmatch(string(text), -1) {
			found++
			at := reflect.TypeFor[task.Task]()
			for step := range strings.SplitSeq(m[1], ".") {
				i := slices.IndexFunc(reflect.VisibleFields(at), func(f reflect.StructField) bool {
					name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
					return name == step && (len(f.Index) == 1 || at == reflect.TypeFor[task.Spend]())
				})
				if i < 0 {
					t.Errorf("%s: a record has no %s", file, m[1])
					break
				}
				at = reflect.VisibleFields(at)[i].Type
			}
		}
	}
	if found == 0 {
		t.Error("no query names a field")
	}
}
