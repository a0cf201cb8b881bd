package worktree

import (
	"testing"

	"orange/internal/core/task"
)

func TestGCRemovesTheLandingWorktreesThatAreNotUsed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	used := b.slot(1)
	unused := used
	unused.Project.DefaultBranch = "develop"
	do(t, b.project.Path, "branch", "develop")
	commit := do(t, b.project.Path, "rev-parse", "HEAD")
	for _, s := range []Slot{used, unused} {
		if err := b.PrepareLanding(t.Context(), s, commit); err != nil {
			t.Fatal(err)
		}
	}
	write(t, b.LandingPath(unused.Project), "left-by-a-check", "x")
	lands := func(path string) (bool, error) { return path == b.LandingPath(used.Project), nil }
	for _, dry := range []bool{true, false} {
		swept, err := b.GC(t.Context(), []task.Project{b.project}, nil, Sweep{Dry: dry, Landing: lands})
		if err != nil || len(swept.Removed) != 1 || swept.Removed[0].Path != b.LandingPath(unused.Project) || !swept.Removed[0].Landing {
			t.Fatalf("dry %v: %+v, %v", dry, swept, err)
		}
		if !there(b.LandingPath(used.Project), ".git") || there(b.LandingPath(unused.Project), ".git") != dry {
			t.Errorf("dry %v: the wrong one is gone", dry)
		}
	}
	if err := b.PrepareLanding(t.Context(), unused, commit); err != nil || there(b.LandingPath(unused.Project), "left-by-a-check") {
		t.Errorf("it is not made again: %v", err)
	}
}
