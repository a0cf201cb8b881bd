package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/adapter/git"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/runtime/local"
)

func TestPathsThatNeedAPersonAreComparedWithTheMergeBase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repo")
	gitIn(t, t.TempDir(), "init", "-qb", "main", dir)
	write := func(name, text string) {
		check(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	commit := func() {
		gitIn(t, dir, "add", "-A")
		gitIn(t, dir, "commit", "-qm", "x")
	}
	write("ci/a.sh", "echo a, which is long enough to be found as a rename\n")
	write("ci/b.sh", "echo b\n")
	write("main.go", "package main\n")
	commit()
	gitIn(t, dir, "checkout", "-qb", "feature")
	source := Source{Git: git.New()}
	q := local.Question{Name: workflow.Unchanged, Project: task.Project{Path: dir, DefaultBranch: "main"}, Task: &task.Task{ID: "t", Branch: "feature"}}
	q.Task.Unchanged = task.PathPatterns{"ci/"}
	probe := func(holds bool, paths string) {
		t.Helper()
		e := source.Probe(t.Context(), q)
		if got := strings.Join(task.PathsOf(e.Changes), " "); e.Holds != holds || got != paths {
			t.Errorf("%v, %q (%s); want %v, %q", e.Holds, got, e.Detail, holds, paths)
		}
		if err := source.RequireApproval(t.Context(), q.Project, q.Task); (err == nil) != holds {
			t.Errorf("approval: %v", err)
		}
		q.Task.ProtectedChanges = e.Changes
	}
	probe(true, "")
	write("main.go", "package main // more\n")
	commit()
	probe(true, "")
	gitIn(t, dir, "mv", "ci/a.sh", "a.sh") // out of the folder, and into it
	gitIn(t, dir, "mv", "main.go", "ci/main.go")
	commit()
	probe(false, "ci/a.sh ci/main.go")
	q.Task.ApprovedChanges = q.Task.ProtectedChanges
	probe(true, "ci/a.sh ci/main.go")
	check(t, os.Chmod(filepath.Join(dir, "ci/main.go"), 0o700))
	commit()
	probe(false, "ci/a.sh ci/main.go")

	gitIn(t, dir, "checkout", "-q", "main") // what others change there is not the task's
	write("ci/b.sh", "echo c\n")
	commit()
	probe(false, "ci/a.sh ci/main.go")
	q.Task.ApprovedChanges = q.Task.ProtectedChanges
	probe(true, "ci/a.sh ci/main.go")
	q.Task.Branch = "gone"
	probe(true, "")
}
