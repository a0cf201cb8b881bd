package git

import (
	"errors"
	"testing"
)

// forStack returns a repository with a branch below that changes the file f, and a branch above that was stacked on it and
// changes the same line again. base is where above begins.
func forStack(t *testing.T) (root, base string) {
	t.Helper()
	root = repository(t)
	commitFile(t, root, "f", "0\n")
	do(t, root, "switch", "-q", "-c", "below")
	commitFile(t, root, "f", "below\n")
	commitFile(t, root, "g", "below\n")
	base = out(t, root, "rev-parse", "below")
	do(t, root, "switch", "-q", "-c", "above")
	commitFile(t, root, "f", "above\n")
	do(t, root, "switch", "-q", "main")
	return root, base
}

// squash brings the work of below into main as one other commit.
func squash(t *testing.T, root string) {
	t.Helper()
	do(t, root, "merge", "-q", "--squash", "below")
	do(t, root, "commit", "-q", "-m", "squashed")
}

func TestAStackedBranchLandsAfterItsPredecessorWasSquashed(t *testing.T) {
	root, base := forStack(t)
	squash(t, root)
	g := New()
	m := Merging{Branch: "above", Into: "main", Strategy: Auto}
	var conflict *ConflictError
	if _, err := g.MergeBranch(t.Context(), root, m); !errors.As(err, &conflict) {
		t.Fatalf("without its base: %v", err)
	}
	m.StackBase = base
	c, _, err := g.BuildCandidate(t.Context(), root, m)
	if err != nil || c.StackBase != base {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := g.MergeBranch(t.Context(), root, m); err != nil {
		t.Fatal(err)
	}
	if f, lines := read(t, root, "f"), out(t, root, "log", "--format=%s", "--first-parent", "-2"); f != "above\n" || lines != "Merge branch 'above' into main\nsquashed" {
		t.Errorf("%q, %q", f, lines)
	}
	if holds, _, err := g.IsMerged(t.Context(), root, "above", "main"); !holds || err != nil {
		t.Error(holds, err)
	}
}

// The predecessor was changed after the other one was stacked on it, and then merged or squashed.
func TestAStackedBranchLandsOnWhatBecameOfItsPredecessor(t *testing.T) {
	for name, land := range map[string]func(t *testing.T, root string){
		"squashed": squash,
		"merged":   func(t *testing.T, root string) { do(t, root, "merge", "-q", "--no-ff", "-m", "merged", "below") },
	} {
		t.Run(name, func(t *testing.T) {
			root, base := forStack(t)
			do(t, root, "switch", "-q", "below")
			commitFile(t, root, "g", "reworked\n")
			do(t, root, "switch", "-q", "main")
			land(t, root)
			if _, err := New().MergeBranch(t.Context(), root, Merging{Branch: "above", Into: "main", Strategy: Auto, StackBase: base}); err != nil {
				t.Fatal(err)
			}
			if f, g := read(t, root, "f"), read(t, root, "g"); f != "above\n" || g != "reworked\n" {
				t.Errorf("%q, %q", f, g)
			}
		})
	}
}

// What a worker is told to run after a conflict ends with a branch that needs no base.
func TestARebasedBranchNeedsNoBase(t *testing.T) {
	root, base := forStack(t)
	squash(t, root)
	commitFile(t, root, "f", "main\n")
	g, m := New(), Merging{Branch: "above", Into: "main", Strategy: Auto, StackBase: base}
	var conflict *ConflictError
	if _, err := g.MergeBranch(t.Context(), root, m); !errors.As(err, &conflict) {
		t.Fatalf("%v", err)
	}
	dir := worktreeOf(t, root)
	do(t, dir, "switch", "-q", "above")
	fails(t, dir, "rebase", "-q", "--onto", "main", base)
	write(t, dir, "f", "both\n")
	do(t, dir, "add", "-A")
	do(t, dir, "-c", "core.editor=true", "rebase", "--continue")
	if g.NeedsStackBase(t.Context(), root, base, out(t, dir, "rev-parse", "above"), out(t, root, "rev-parse", "main")) {
		t.Error("the base is used again")
	}
	if _, err := g.MergeBranch(t.Context(), root, m); err != nil || read(t, root, "f") != "both\n" {
		t.Errorf("%v, %q", err, read(t, root, "f"))
	}
}

func TestTheOwnWorkOfAStackedBranchIsMeasured(t *testing.T) {
	root, base := forStack(t)
	g := New()
	w, err := g.MeasureBranch(t.Context(), root, "above", "main", base)
	if err != nil || w.Commits != 1 || w.Base != base {
		t.Errorf("%+v, %v", w, err)
	}
	if whole, err := g.MeasureBranch(t.Context(), root, "above", "main", ""); err != nil || whole.Commits != 3 {
		t.Errorf("%+v, %v", whole, err)
	}
	stat, err := g.DiffStat(t.Context(), Comparison{Root: root, Branch: "above", Default: "main", StackBase: base})
	if err != nil || stat != (Stat{Commits: 1, Files: 1, Added: 1, Deleted: 1}) {
		t.Errorf("%+v, %v", stat, err)
	}
	squash(t, root)
	if w, err := g.MeasureBranch(t.Context(), root, "above", "main", base); err != nil || w.Commits != 1 {
		t.Errorf("after its predecessor was squashed: %+v, %v", w, err)
	}
	do(t, root, "switch", "-q", "-c", "empty", "below")
	if w, err := g.MeasureBranch(t.Context(), root, "empty", "main", base); err != nil || w.Commits != 0 {
		t.Errorf("a stacked branch without commits: %+v, %v", w, err)
	}
}

// The work below came to the target at origin, and the target here is behind: the merge must not leave that work out.
func TestAStackedBranchKeepsWhatTheTargetAtOriginHas(t *testing.T) {
	root, base := forStack(t)
	do(t, root, "update-ref", "refs/remotes/origin/main", base)
	if _, err := New().MergeBranch(t.Context(), root, Merging{Branch: "above", Into: "main", Strategy: MergeCommit, StackBase: base}); err != nil {
		t.Fatal(err)
	}
	if f, g := read(t, root, "f"), read(t, root, "g"); f != "above\n" || g != "below\n" {
		t.Errorf("%q, %q", f, g)
	}
}

// A rebase or a squash of a stacked branch brings its own commits only: those of its predecessor are in the target as another commit.
func TestAStackedBranchIsRebasedAndSquashedWithItsOwnCommits(t *testing.T) {
	for strategy, want := range map[string]string{Rebase: "change f", Squash: "Above"} {
		t.Run(strategy, func(t *testing.T) {
			root, base := forStack(t)
			squash(t, root)
			g := New()
			c, _, err := g.BuildCandidate(t.Context(), root, Merging{Branch: "above", Into: "main", Strategy: strategy, Title: "Above", StackBase: base})
			if err != nil {
				t.Fatal(err)
			}
			do(t, root, "merge", "-q", "--ff-only", c.Commit)
			if f, message := read(t, root, "f"), out(t, root, "log", "--format=%B", "main~1.."); f != "above\n" || message != want || out(t, root, "log", "-1", "--format=%s", "main~1") != "squashed" {
				t.Errorf("%q, %q", f, message)
			}
		})
	}
}
