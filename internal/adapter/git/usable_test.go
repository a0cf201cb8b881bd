package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// brokenGPG makes git sign commits with a program that fails as gpg does.
func brokenGPG(t *testing.T, root string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "gpg")
	script := "#!/bin/sh\necho 'gpg: skipped \"Shop\": No secret key' >&2\necho 'gpg: signing failed: No secret key' >&2\nexit 2\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	do(t, root, "config", "user.name", "Shop")
	do(t, root, "config", "user.email", "shop@example.com")
	do(t, root, "config", "commit.gpgsign", "true")
	do(t, root, "config", "gpg.program", program)
}

func TestWhatGPGSaysIsPartOfTheError(t *testing.T) {
	t.Parallel()
	root, _ := forMerge(t)
	brokenGPG(t, root)
	_, err := New().run(context.Background(), root, "commit", "--allow-empty", "-m", "signed")
	if err == nil || !strings.Contains(err.Error(), "could not be signed") || !strings.Contains(err.Error(), "No secret key") || strings.Contains(err.Error(), "\n") {
		t.Errorf("commit: %v", err)
	}
}

func TestSalvageNeedsNoSignature(t *testing.T) {
	t.Parallel()
	root, dir := forMerge(t)
	brokenGPG(t, root)
	write(t, dir, "f", "not committed")
	ref, err := New().SalvageWork(context.Background(), dir, "task")
	if err != nil || ref == "" {
		t.Errorf("salvage: %q, %v", ref, err)
	}
}

func TestARepositoryThatWasMovedIsFound(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	root, dir := forMerge(t)
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(root, moved); err != nil {
		t.Fatal(err)
	}
	other := repository(t)
	commitFile(t, other, "f", "other")
	if err := New().RepairMoved(ctx, root, other, []string{dir}); err == nil || !strings.Contains(err.Error(), "is not the repository") {
		t.Errorf("another repository: %v", err)
	}
	if err := New().RepairMoved(ctx, root, moved, []string{dir, filepath.Join(t.TempDir(), "none")}); err != nil {
		t.Fatal(err)
	}
	if branch, err := New().CurrentBranch(ctx, dir); err != nil || branch != "x" {
		t.Errorf("the worktree is on %q, %v", branch, err)
	}
}

// A home folder that is renamed, or restored under another path, moves a repository together with its worktrees.
func TestARepositoryThatWasMovedWithItsWorktreesIsFound(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, root, w := filepath.Join(top, "home"), filepath.Join(top, "home", "shop"), filepath.Join(top, "home", "w")
	do(t, top, "init", "-q", "-b", "main", root)
	commit(t, root)
	do(t, root, "worktree", "add", "-q", "-b", "x", w)
	write(t, w, "staged", "s")
	do(t, w, "add", "staged")
	moved := filepath.Join(top, "moved")
	if err := os.Rename(home, moved); err != nil {
		t.Fatal(err)
	}
	at, place := filepath.Join(moved, "shop"), filepath.Join(moved, "w")
	other := filepath.Join(top, "other") // which has a worktree of the same name
	do(t, top, "clone", "-q", at, other)
	do(t, other, "worktree", "add", "-q", "--detach", filepath.Join(top, "elsewhere", "w"))
	if err := New().RepairMoved(t.Context(), root, other, []string{place}); err == nil || !strings.Contains(err.Error(), "is not the repository") {
		t.Errorf("a clone with a worktree of the same name: %v", err)
	}
	if err := New().RepairMoved(t.Context(), root, at, []string{place}); err != nil {
		t.Fatal(err)
	}
	if status := out(t, place, "status", "--porcelain", "-b"); status != "## x\nA  staged" {
		t.Errorf("the worktree is %q", status)
	}
	if err := New().CheckAttached(t.Context(), at, place); err != nil {
		t.Error(err)
	}
}

// A branch that is checked out in a folder that does not exist now cannot be freed there.
func TestABranchOfAFolderThatIsAwayIsNotUsable(t *testing.T) {
	t.Parallel()
	root, dir := forMerge(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	err := New().CheckUsable(t.Context(), root, "x", t.TempDir())
	wantError(t, err, "branch x is checked out in "+dir+", which does not exist now: bring it back, or forget it with git -C "+root+" worktree prune, or give the task another branch")
	do(t, root, "worktree", "prune")
	if err := New().CheckUsable(t.Context(), root, "x", t.TempDir()); err != nil {
		t.Error(err)
	}
}

// TestACloneIsNotTheMovedRepository uses a clone, which has the same first commit, beside the
// repository whose worktrees are at work.
func TestACloneIsNotTheMovedRepository(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	root, dir := forMerge(t)
	clone := filepath.Join(t.TempDir(), "clone")
	do(t, root, "clone", "-q", root, clone)
	own := filepath.Join(t.TempDir(), "own")
	do(t, root, "worktree", "add", "-q", "-b", "own", own)
	repair := func(old, root string, places ...string) error { return New().RepairMoved(ctx, old, root, places) }
	err := repair(root, clone, dir)
	if err == nil || !strings.Contains(err.Error(), root+" still is the repository of "+dir) {
		t.Errorf("a clone: %v", err)
	}
	if err := New().CheckAttached(ctx, root, dir); err != nil {
		t.Error(err)
	}
	if err := repair(root, own, dir); err != nil {
		t.Errorf("another working tree of the repository: %v", err)
	}
	if err := repair(root, clone, filepath.Join(t.TempDir(), "none")); err != nil {
		t.Errorf("a clone, and no worktree: %v", err)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(root, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(root, 0o700); err != nil { // a folder is there, and no repository
		t.Fatal(err)
	}
	if err := repair(root, clone, dir); err == nil || !strings.Contains(err.Error(), "is not the repository that was at") {
		t.Errorf("a clone of a repository that was moved: %v", err)
	}
	if err := repair(root, moved, dir); err != nil {
		t.Errorf("another folder is at the old place: %v", err)
	}
}

// TestAWorktreeThatIsBeingMadeHidesNoCommit uses a repository in which git worktree add has
// written the HEAD of a worktree as zeros, as it does before the worktree has a commit.
func TestAWorktreeThatIsBeingMadeHidesNoCommit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	root, dir := forMerge(t)
	half := filepath.Join(root, ".git", "worktrees", "half")
	if err := os.MkdirAll(half, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, half, "HEAD", strings.Repeat("0", 40)+"\n")
	write(t, half, "commondir", "../..\n")
	write(t, half, "gitdir", filepath.Join(t.TempDir(), ".git")+"\n")
	if err := New().CheckUsable(ctx, root, "next", filepath.Dir(dir)); err != nil {
		t.Errorf("a branch for the next task: %v", err)
	}
	if _, err := New().rootCommits(ctx, root); err != nil {
		t.Error(err)
	}
}

func TestARepositoryThatIsGoneIsNamedWithTheWayOut(t *testing.T) {
	t.Parallel()
	gone := filepath.Join(t.TempDir(), "gone")
	err := New().CheckUsable(context.Background(), gone, "x", t.TempDir())
	wantError(t, err, "there is no folder "+gone+": if it is a repository that was moved, run orange project update NAME --path NEW")
}
