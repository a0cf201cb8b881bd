package git

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// A folder inside a repository is not taken for a part of it.
func TestAnOuterRepositoryIsNotFound(t *testing.T) {
	t.Parallel()
	outer := repository(t)
	dir := filepath.Join(outer, "workspaces", "w")
	write(t, dir, "file", "f")
	ctx, g := context.Background(), New()
	if _, err := g.IsDirty(ctx, dir); err == nil {
		t.Error("the changes of the outer repository were found")
	}
	if commit, branch, err := g.Head(dir); err == nil {
		t.Errorf("the HEAD of the outer repository was found: %s %s", commit, branch)
	}
	if err := g.CheckAttached(ctx, outer, dir); err == nil {
		t.Error("a plain folder counts as a worktree")
	}
	if root, err := g.FindRoot(ctx, dir); err != nil || root != outer {
		t.Errorf("whoever searches for a repository does not find it: %q, %v", root, err)
	}
	admin, err := g.RegisteredDir(ctx, outer, dir)
	if admin != "" || err != nil {
		t.Errorf("%q, %v", admin, err)
	}
}

// Registering a worktree again is completed after a crash, and never touches its files.
func TestReattachAfterACrash(t *testing.T) {
	t.Parallel()
	root := repository(t)
	dir := worktreeOf(t, root)
	ctx, g := context.Background(), New()
	if err := g.SwitchBranch(ctx, dir, "task", "main"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "work", "w")
	for _, name := range []string{"before the entry is made", "before it names the worktree"} {
		if err := os.RemoveAll(filepath.Join(root, ".git/worktrees")); err != nil {
			t.Fatal(err)
		}
		if name == "before it names the worktree" { // what registerAgain leaves half way
			half := filepath.Join(filepath.Dir(dir), ".w.again", "w")
			do(t, root, "worktree", "add", "--quiet", "--no-checkout", "--detach", half, "task")
		}
		if again, err := g.ReattachWorktree(ctx, root, dir, "task"); !again || err != nil {
			t.Fatalf("%s: %v, %v", name, again, err)
		}
		if err := g.CheckAttached(ctx, root, dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := g.OnBranch(dir, "task"); err != nil || read(t, dir, "work") != "w" {
			t.Errorf("%s: %v", name, err)
		}
		if status := out(t, dir, "status", "--porcelain"); status != "?? work" {
			t.Errorf("%s: status %q", name, status)
		}
		if pathExists(filepath.Dir(dir), ".w.again") {
			t.Errorf("%s: the empty folder is left", name)
		}
		if list := out(t, root, "worktree", "list"); len(list) == 0 || pathExists(root, ".git/worktrees/w1") {
			t.Errorf("%s: %s", name, list)
		}
	}
}
