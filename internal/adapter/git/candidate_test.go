package git

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/core/task"
)

const someTask = task.ID("0123456789abcdefghijk")

// A process that was killed after the branch moved leaves its record. Whoever finds the work merged settles it.
func TestAMergedBranchSettlesTheLandingThatWasInterrupted(t *testing.T) {
	for name, again := range map[string]func(g *Git, root string, m Merging) (string, error){
		"merge": func(g *Git, root string, m Merging) (string, error) {
			done, err := g.MergeBranch(t.Context(), root, m)
			if !done.Before {
				t.Error("it was merged before")
			}
			return done.Commit, err
		},
		"candidate": func(g *Git, root string, m Merging) (string, error) {
			_, landed, err := g.BuildCandidate(t.Context(), root, m)
			return landed, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, root := New(), repository(t)
			old := out(t, root, "rev-parse", "main")
			do(t, root, "switch", "-q", "-c", "b")
			commitFile(t, root, "f", "f\n")
			do(t, root, "switch", "-q", "--detach")
			m := Merging{Branch: "b", Into: "main", Strategy: Auto}
			done, err := g.MergeBranch(t.Context(), root, m)
			if err != nil || done.Before {
				t.Fatal(done, err)
			}
			landed := done.Commit
			text, err := json.Marshal(landRecord{Landing: Landing{Target: "main", What: "b", Old: old, New: landed}})
			if err == nil {
				err = os.WriteFile(filepath.Join(root, ".git", recordName), text, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := again(g, root, m); err != nil || got != landed {
				t.Errorf("%s, %v", got, err)
			}
			if pathExists(root, ".git/"+recordName) {
				t.Error("the record is left")
			}
		})
	}
}

func TestACandidateMovesNothing(t *testing.T) {
	g, root := New(), repository(t)
	do(t, root, "branch", "b")
	commitFile(t, root, "main-only", "x\n")
	do(t, root, "switch", "-q", "b")
	commitFile(t, root, "b-only", "y\n")
	do(t, root, "switch", "-q", "main")
	before := content(t, root)
	tip, head := out(t, root, "rev-parse", "main"), out(t, root, "rev-parse", "b")
	c, landed, err := g.BuildCandidate(t.Context(), root, Merging{Branch: "b", Into: "main", Strategy: Auto})
	if err != nil || landed != "" || c.Tip != tip || c.Head != head || c.Tree != out(t, root, "rev-parse", c.Commit+"^{tree}") || out(t, root, "rev-parse", c.Commit+"^1", c.Commit+"^2") != tip+"\n"+head {
		t.Fatalf("%+v, %q, %v", c, landed, err)
	}
	if out(t, root, "rev-parse", "main") != tip || content(t, root) != before {
		t.Error("main or its checkout changed")
	}
	if err := g.LandCommit(t.Context(), root, Landing{Target: "main", Old: tip, New: c.Commit, What: "b"}); err != nil || out(t, root, "rev-parse", "main") != c.Commit {
		t.Error(err)
	}
	ref, err := g.KeepWork(t.Context(), root, someTask, head)
	if err != nil || out(t, root, "rev-parse", ref) != head {
		t.Error(ref, err)
	}
}

// Nothing of an earlier candidate is left, whatever was done in the worktree.
func TestTheLandingWorktreeHasExactlyTheCandidate(t *testing.T) {
	g, root := New(), repository(t)
	write(t, root, ".gitignore", "ignored\n")
	do(t, root, "add", ".")
	do(t, root, "commit", "-q", "-m", "ignore")
	first := out(t, root, "rev-parse", "HEAD")
	commitFile(t, root, "second", "2\n")
	second := out(t, root, "rev-parse", "HEAD")
	dir := filepath.Join(t.TempDir(), "landing", "p--1")
	check := func(commit string) {
		t.Helper()
		if err := g.CheckOutCandidate(t.Context(), root, dir, commit); err != nil {
			t.Fatal(err)
		}
		if out(t, dir, "rev-parse", "HEAD") != commit || out(t, dir, "status", "--porcelain", "--ignored") != "" {
			t.Errorf("%s", out(t, dir, "status", "--porcelain", "--ignored"))
		}
	}
	check(first)
	for _, name := range []string{"ignored", "untracked", ".gitignore"} {
		write(t, dir, name, "changed\n")
	}
	write(t, dir, "nested/.git/HEAD", "ref: refs/heads/x\n")
	do(t, dir, "switch", "-q", "-c", "stray")
	check(second)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	check(first)
}

// A ref that keeps work is removed when its task is over, but never the last way to a commit.
func TestKeptWorkIsDroppedOnlyIfSomethingElseKeepsIt(t *testing.T) {
	g, root := New(), repository(t)
	const other = task.ID("kjihgfedcba9876543210")
	do(t, root, "switch", "-q", "-c", "b")
	var commits []string
	for _, file := range []string{"one", "two", "lost"} {
		commitFile(t, root, file, file)
		commits = append(commits, out(t, root, "rev-parse", "HEAD"))
		if _, err := g.KeepWork(t.Context(), root, someTask, commits[len(commits)-1]); err != nil {
			t.Fatal(err)
		}
	}
	do(t, root, "reset", "-q", "--hard", "HEAD~1") // nothing but its ref keeps the third
	kept, err := g.KeepWork(t.Context(), root, other, commits[0])
	if err != nil {
		t.Fatal(err)
	}
	over := func(id task.ID) bool { return id == someTask }
	for _, dry := range []bool{true, false} {
		dropped, left, err := g.DropKeptWork(t.Context(), root, over, dry)
		if err != nil || len(dropped) != 2 || len(left) != 1 || left[0].Commit != commits[2] || left[0].Task != someTask {
			t.Fatalf("%+v, %+v, %v", dropped, left, err)
		}
		want := map[bool]int{true: 4, false: 2}[dry]
		if refs := strings.Fields(out(t, root, "for-each-ref", "--format=%(refname)", landingRefs)); len(refs) != want || !slices.Contains(refs, kept) || !slices.Contains(refs, left[0].Ref) {
			t.Errorf("dry %v leaves %v", dry, refs)
		}
	}
	do(t, root, "branch", "again", commits[2])
	if dropped, left, err := g.DropKeptWork(t.Context(), root, over, false); err != nil || len(dropped) != 1 || len(left) != 0 {
		t.Errorf("%+v, %+v, %v", dropped, left, err)
	}
}
