package seedhome_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/adapter/seedhome"
	"orange/internal/core/task"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAHomeIsReadWithItsTasksAndItsProblems(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "projects.json"), `[{"name":"shop","path":"/src/shop","default_branch":"main","pool_size":3}]`)
	write(t, filepath.Join(root, "tasks/shop/abcdefghijklmnopqrstu/TASK.md"),
		"---\nid: abcdefghijklmnopqrstu\nbranch: fix\nharness: claude\nstatus: agent-review\nreview_round: 1\ncrash_count: 0\nsummary: mend it\ncreated_at: 2026-01-02T03:04:05.000Z\n---\n\n## Plan\n\nAPPROACH: x\n")
	write(t, filepath.Join(root, "tasks/shop/broken/TASK.md"), "---\nid: [\n---\n")
	h, err := seedhome.ReadHome(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Tasks) != 1 || len(h.Problems) != 1 || len(h.Projects) != 1 || h.Projects[0].PoolSize != 3 {
		t.Fatalf("%+v", h)
	}
	n := h.Tasks[0].New
	if n.Status != "agent-review" || n.Summary != "mend it" || n.CreatedAt.IsZero() {
		t.Errorf("%+v", n)
	}
	want := []task.Counter{{Name: "review_round", Value: 1}, {Name: "crash_count", Value: 0}}
	if diff := cmp.Diff(want, n.Counters); diff != "" {
		t.Error(diff)
	}
}

func TestAFolderThatIsNoHomeIsRefused(t *testing.T) {
	if _, err := seedhome.ReadHome(t.TempDir()); err == nil {
		t.Error("an empty folder was taken for a home")
	}
}
