package taskdir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOnlyFoldersOfCommittedTasksAreFound(t *testing.T) {
	d := New(t.TempDir())
	if list, err := New(filepath.Join(d.root, "none")).ListFolders(); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	if err := d.CreateFolder("p", id, []byte("x")); err != nil { // as before the first entry
		t.Fatal(err)
	}
	if list, err := d.ListFolders(); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	const lines = `{"type":"task.created","timestamp":"a","seq":1,"branch":"b","status":"pending","tracker":"linear/X-1"}
{"type":"auto.advanced","timestamp":"b","seq":2,"from":"pending","to":"planning","reason":"its turn"}
{"type":"status.changed","timestamp":"b","seq":2,"from":"pending","to":"planning"}
not json
{"type":"x","timestamp":"e","seq":99999999}
{"type":"effect.done","timestamp":"c","seq":4,"effect":"t/2/0"}
{"type":"status.cha`
	if err := os.WriteFile(filepath.Join(d.Path("p", id), historyName), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := d.ListFolders()
	if err != nil || len(list) != 1 || list[0].ID != id || list[0].Written.IsZero() {
		t.Fatalf("%v, %v", list, err)
	}
	h, err := d.ReadHistory("p", id)
	if err != nil || h.Status != "planning" || h.Created.Tracker != "linear/X-1" || h.Last.Seq != 4 {
		t.Errorf("%+v, %v", h, err)
	}
	want := []string{"", "task.created a", "auto.advanced b pending -> planning: its turn; status.changed b pending -> planning", "", "effect.done c: t/2/0"}
	if diff := cmp.Diff(want, h.Lines); diff != "" {
		t.Error(diff)
	}
}
