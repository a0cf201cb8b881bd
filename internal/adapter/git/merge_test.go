package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// forMerge returns a repository with main and a branch x that has a commit more, checked out in
// a worktree.
func forMerge(t *testing.T) (root, dir string) {
	t.Helper()
	root = repository(t)
	commitFile(t, root, "f", "0")
	commitFile(t, root, "mine", "0")
	dir = worktreeOf(t, root)
	do(t, dir, "switch", "-q", "-c", "x")
	commitFile(t, dir, "f", "x")
	return root, dir
}

// merge merges and does not wait long for locks.
func merge(root, branch, into, strategy, message string) (string, error) {
	g := New()
	g.lockTimeout = 0
	done, err := g.MergeBranch(context.Background(), root, Merging{Branch: branch, Into: into, Strategy: strategy, Message: message})
	return done.Commit, err
}

func TestMerge(t *testing.T) {
	t.Parallel()
	moved := func(t *testing.T, root, _ string) { commitFile(t, root, "g", "main moved") }
	for name, tc := range map[string]struct {
		arrange  func(t *testing.T, root, dir string)
		strategy string
		want     string // error; "" if it is merged
		clean    bool   // the merged files are in the main checkout
	}{
		"forward, checked out":       {nil, "ff", "", true},
		"a commit, checked out":      {nil, "merge", "", true},
		"the target has moved":       {moved, "ff", "rebase x onto main, or merge with --strategy auto", false},
		"the target has moved, both": {moved, "merge", "", true},
		"another branch checked out": {func(t *testing.T, root, _ string) { do(t, root, "switch", "-q", "-c", "mine") }, "ff", "", false},
		"another, and it has moved":  {func(t *testing.T, root, dir string) { moved(t, root, dir); do(t, root, "switch", "-q", "-c", "mine") }, "merge", "", false},
		"nothing checked out":        {func(t *testing.T, root, _ string) { do(t, root, "switch", "-q", "--detach") }, "merge", "", false},
		"changes elsewhere":          {func(t *testing.T, root, dir string) { moved(t, root, dir); write(t, root, "mine", "changed") }, "merge", "", true},
		"changes in the way":         {func(t *testing.T, root, _ string) { write(t, root, "f", "changed") }, "ff", " are in the way of merging x: commit them or move them away: f", false},
		"changes in the way of both": {func(t *testing.T, root, dir string) { moved(t, root, dir); write(t, root, "f", "changed") }, "merge", "move them away: f", false},
		"changes in the way that git might put by": {func(t *testing.T, root, _ string) {
			do(t, root, "config", "merge.autoStash", "true")
			write(t, root, "f", "changed")
		}, "merge", "move them away: f", false},
		"an untracked file": {func(t *testing.T, root, dir string) {
			commitFile(t, dir, "untracked", "x")
			write(t, root, "untracked", "mine")
		}, "ff", "move them away: untracked", false},
		"a conflict": {func(t *testing.T, root, _ string) { commitFile(t, root, "f", "main") }, "merge", "conflict, nothing was changed: rebase x onto main and resolve: f", false},
		"a conflict, nothing checked out": {func(t *testing.T, root, _ string) {
			commitFile(t, root, "f", "main")
			do(t, root, "switch", "-q", "--detach")
		}, "merge", "resolve: f", false},
		"a merge under way": {func(t *testing.T, root, _ string) {
			do(t, root, "branch", "y")
			commitFile(t, root, "z", "1")
			do(t, root, "merge", "-q", "--no-commit", "--no-ff", "x")
		}, "merge", "is in progress in", false},
		"a rebase of the target under way": {func(t *testing.T, root, _ string) {
			do(t, root, "switch", "-q", "-c", "y")
			commitFile(t, root, "g", "y")
			do(t, root, "switch", "-q", "main")
			commitFile(t, root, "g", "main")
			fails(t, root, "rebase", "y")
		}, "merge", "finish it there", false},
		"an index lock": {func(t *testing.T, root, _ string) { write(t, root, ".git/index.lock", "") }, "ff", ".git/index.lock exists", false},
		"a ref lock": {func(t *testing.T, root, _ string) {
			do(t, root, "switch", "-q", "--detach")
			write(t, root, ".git/refs/heads/main.lock", "")
		}, "ff", ".git/refs/heads/main.lock exists", false},
		"a hook that refuses": {func(t *testing.T, root, dir string) {
			moved(t, root, dir)
			hook(t, root, "commit-msg", "echo no >&2; exit 1")
		}, "merge", "nothing was changed", false},
		"settings of the branch": {func(t *testing.T, root, _ string) {
			do(t, root, "config", "branch.main.mergeOptions", "--squash --no-commit")
			do(t, root, "config", "merge.autoStash", "true")
		}, "merge", "", true},
		"no such strategy": {nil, "octopus", "use auto, ff, merge, rebase, squash", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, dir := forMerge(t)
			if tc.arrange != nil {
				tc.arrange(t, root, dir)
			}
			tip, old := out(t, dir, "rev-parse", "x"), out(t, root, "rev-parse", "main")
			status := out(t, root, "status", "--porcelain")
			commit, err := merge(root, "x", "main", tc.strategy, "bring x\n\nits body")
			if tc.want != "" {
				wantError(t, err, tc.want)
				if now := out(t, root, "rev-parse", "main"); now != old {
					t.Errorf("main has moved to %s", now)
				}
				if now := out(t, root, "status", "--porcelain"); now != status {
					t.Errorf("the checkout was %q and is %q", status, now)
				}
				return
			}
			if err != nil || commit != out(t, root, "rev-parse", "main") {
				t.Fatalf("got %s, %v", commit, err)
			}
			checkMerged(t, root, tc.strategy, tip, old)
			if tc.clean && read(t, root, "f") != "x" {
				t.Error("the checkout has the old file")
			}
			if now := out(t, root, "status", "--porcelain"); now != status {
				t.Errorf("the checkout was %q and is %q", status, now)
			}
			if again, err := merge(root, "x", "main", tc.strategy, "m"); again != commit || err != nil {
				t.Errorf("again: %s, %v", again, err)
			}
		})
	}
}

func checkMerged(t *testing.T, root, strategy, tip, old string) {
	t.Helper()
	if strategy == FastForward {
		if now := out(t, root, "rev-parse", "main"); now != tip {
			t.Errorf("main is at %s, want %s", now, tip)
		}
		return
	}
	if parents := out(t, root, "log", "-1", "--format=%P", "main"); parents != old+" "+tip {
		t.Errorf("parents %s, want %s %s", parents, old, tip)
	}
	if text := out(t, root, "log", "-1", "--format=%B", "main"); text != "bring x\n\nits body" && text != "bring x\n\nits body\n" {
		t.Errorf("message %q", text)
	}
	if f := out(t, root, "show", "main:f"); f != "x" {
		t.Errorf("f is %q", f)
	}
}

func hook(t *testing.T, root, name, script string) {
	t.Helper()
	write(t, root, ".git/hooks/"+name, "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(filepath.Join(root, ".git/hooks", name), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestMergeRetriedAfterALock(t *testing.T) {
	t.Parallel()
	root, _ := forMerge(t)
	write(t, root, ".git/index.lock", "")
	_, err := merge(root, "x", "main", FastForward, "")
	wantError(t, err, "index.lock")
	if err := os.Remove(filepath.Join(root, ".git/index.lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := merge(root, "x", "main", FastForward, ""); err != nil {
		t.Error(err)
	}
}

func TestMergeRunsTheHooksOfACheckout(t *testing.T) {
	t.Parallel()
	root, _ := forMerge(t)
	for _, name := range []string{"prepare-commit-msg", "commit-msg", "post-merge"} {
		hook(t, root, name, "touch "+root+"/.git/ran-"+name)
	}
	if _, err := merge(root, "x", "main", MergeCommit, ""); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"prepare-commit-msg", "commit-msg", "post-merge"} {
		if !pathExists(root, ".git/ran-"+name) {
			t.Errorf("%s did not run", name)
		}
	}
	if text := out(t, root, "log", "-1", "--format=%s by %an", "main"); text != "Merge branch 'x' into main by Orange" {
		t.Errorf("got %q", text)
	}
}

// The target may be checked out in a worktree; that is where its files are updated.
func TestMergeInAnotherWorktree(t *testing.T) {
	t.Parallel()
	root, _ := forMerge(t)
	other := worktreeOf(t, root)
	do(t, root, "switch", "-q", "--detach")
	do(t, other, "switch", "-q", "main")
	if _, err := merge(root, "x", "main", FastForward, ""); err != nil || read(t, other, "f") != "x" || out(t, other, "status", "--porcelain") != "" {
		t.Errorf("f is %q, %v", read(t, other, "f"), err)
	}
}

func TestMergeOfStrangeNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a/b", `x#$()'"%;&`, "fix-ä日本", "$(id)"} {
		root, dir := forMerge(t)
		do(t, dir, "switch", "-q", "-c", name)
		commitFile(t, dir, "g", "g")
		if _, err := merge(root, name, "main", FastForward, "-F /etc/passwd"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	root, _ := forMerge(t)
	for _, name := range []string{"--help", "-x", "x~1", "x^{tree}", "", "none", "refs/heads/x"} {
		if _, err := merge(root, name, "main", FastForward, ""); err == nil {
			t.Errorf("%q was merged", name)
		}
		if _, err := merge(root, "x", name, FastForward, ""); err == nil {
			t.Errorf("merged into %q", name)
		}
	}
}

// A branch that only origin has is merged from there.
func TestMergeFromOrigin(t *testing.T) {
	t.Parallel()
	origin, _ := forMerge(t)
	clone := filepath.Join(t.TempDir(), "clone")
	do(t, origin, "clone", "-q", origin, clone)
	if commit, err := merge(clone, "x", "main", FastForward, ""); commit != out(t, origin, "rev-parse", "x") || err != nil {
		t.Errorf("got %s, %v", commit, err)
	}
}

// A target that moved is not moved back.
func TestLandComparesBeforeItMoves(t *testing.T) {
	t.Parallel()
	root, _ := forMerge(t)
	l := Landing{Target: "main", Old: out(t, root, "rev-parse", "main"), New: out(t, root, "rev-parse", "x")}
	commit(t, root)
	moved := out(t, root, "rev-parse", "main")
	for range 2 {
		if err := New().LandCommit(context.Background(), root, l); !errors.Is(err, ErrMoved) {
			t.Errorf("got %v", err)
		}
		if now := out(t, root, "rev-parse", "main"); now != moved {
			t.Errorf("main is at %s", now)
		}
		do(t, root, "switch", "-q", "--detach")
	}
}

func TestOnlyTheCommitThatWasConfirmedIsMerged(t *testing.T) {
	t.Parallel()
	root, dir := forMerge(t)
	confirmed := out(t, dir, "rev-parse", "x")
	commitFile(t, dir, "later", "x")
	m := Merging{ID: "m", Branch: "x", Tip: confirmed, Into: "main", Strategy: Auto}
	_, err := New().MergeBranch(t.Context(), root, m)
	wantError(t, err, "was confirmed: review the branch and request the merge again")
	m.Tip = out(t, dir, "rev-parse", "x")
	if _, err := New().MergeBranch(t.Context(), root, m); err != nil {
		t.Error(err)
	}
}

// A branch that is checked out twice, which git allows by force, has no one checkout that a merge
// can bring along. One that git was told to forget does not count.
func TestMergeIntoABranchThatIsCheckedOutTwice(t *testing.T) {
	t.Parallel()
	root, _ := forMerge(t)
	two := filepath.Join(filepath.Dir(worktreeOf(t, root)), "two")
	do(t, root, "worktree", "add", "-q", "-f", two, "main")
	before := out(t, root, "rev-parse", "main")
	_, err := merge(root, "x", "main", Auto, "")
	wantError(t, err, "main is checked out in "+root+" and "+two+", and a merge can bring only one of them along: switch to another branch in the others (git -C "+two+" switch --detach) and try again")
	for _, dir := range []string{root, two} {
		if status := out(t, dir, "status", "--porcelain"); status != "" || out(t, dir, "rev-parse", "main") != before || pathExists(root, ".git/"+recordName) {
			t.Errorf("%s is %q", dir, status)
		}
	}
	if err := os.RemoveAll(two); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(two, 0o755); err != nil { // not the worktree
		t.Fatal(err)
	}
	_, err = merge(root, "x", "main", Auto, "")
	wantError(t, err, "main is checked out in "+two+", which does not exist now")
	do(t, root, "worktree", "prune")
	if _, err := merge(root, "x", "main", Auto, ""); err != nil || out(t, root, "status", "--porcelain") != "" || read(t, root, "f") != "x" {
		t.Errorf("%v, %q", err, out(t, root, "status", "--porcelain"))
	}
}

// A file that is only announced to git (git add -N) is the user's. Its index entry looks like an
// empty file that is staged, which the branch may bring.
func TestMergeOverAFileThatIsOnlyAnnounced(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, root string)
		blocked bool
	}{
		"with text": {func(t *testing.T, root string) {
			write(t, root, "init.py", "mine\n")
			do(t, root, "add", "-N", "init.py")
		}, true},
		"empty": {func(t *testing.T, root string) {
			write(t, root, "init.py", "")
			do(t, root, "add", "-N", "init.py")
		}, true},
		"and removed": {func(t *testing.T, root string) {
			write(t, root, "init.py", "mine\n")
			do(t, root, "add", "-N", "init.py")
			remove(t, root, "init.py")
		}, true},
		"instead of a file of main": {func(t *testing.T, root string) {
			do(t, root, "rm", "-q", "--cached", "emptied")
			do(t, root, "add", "-N", "emptied")
		}, true},
		"the same is staged": {func(t *testing.T, root string) {
			write(t, root, "init.py", "")
			write(t, root, "emptied", "")
			do(t, root, "add", "init.py", "emptied")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := repository(t)
			commitFile(t, root, "emptied", "text\n")
			do(t, root, "switch", "-q", "-c", "x")
			write(t, root, "init.py", "")
			write(t, root, "emptied", "")
			do(t, root, "add", ".")
			do(t, root, "commit", "-q", "-m", "empty files")
			do(t, root, "switch", "-q", "main")
			tc.arrange(t, root)
			before, entries := content(t, root), out(t, root, "ls-files", "--debug", "--stage")
			_, err := merge(root, "x", "main", Auto, "")
			if !tc.blocked {
				if status := out(t, root, "status", "--porcelain"); err != nil || status != "" {
					t.Errorf("%v, %q", err, status)
				}
				return
			}
			wantError(t, err, " are in the way of merging x: commit them or move them away: ")
			if content(t, root) != before || out(t, root, "ls-files", "--debug", "--stage") != entries {
				t.Errorf("the checkout has changed: %q", out(t, root, "status", "--porcelain"))
			}
		})
	}
}
