package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDefault(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, origin, clone string)
		want    string // revision in the clone
	}{
		"the same":        {func(*testing.T, string, string) {}, "main"},
		"origin is ahead": {func(t *testing.T, origin, clone string) { commit(t, origin); do(t, clone, "fetch", "-q") }, "origin/main"},
		"the one here is": {func(t *testing.T, _, clone string) { commit(t, clone) }, "main"},
		"both have moved": {func(t *testing.T, origin, clone string) {
			commit(t, origin)
			commit(t, clone)
			do(t, clone, "fetch", "-q")
		}, "main"},
		"only origin's": {func(t *testing.T, _, clone string) {
			do(t, clone, "switch", "-q", "-c", "x")
			do(t, clone, "branch", "-D", "main")
		}, "origin/main"},
		"on another branch": {func(t *testing.T, _, clone string) { do(t, clone, "switch", "-q", "-c", "x"); commit(t, clone) }, "main"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin := repository(t)
			clone := filepath.Join(t.TempDir(), "clone")
			do(t, origin, "clone", "-q", origin, clone)
			tc.arrange(t, origin, clone)
			for _, branch := range []string{"main", ""} {
				if got, err := New().DefaultCommit(ctx, clone, branch); got != out(t, clone, "rev-parse", tc.want) || err != nil {
					t.Errorf("%q: got %s, %v", branch, got, err)
				}
			}
		})
	}
	empty := t.TempDir()
	do(t, empty, "init", "-q", "-b", "main")
	_, err := New().DefaultCommit(ctx, empty, "main")
	wantError(t, err, "make a first commit")
	_, err = New().DefaultCommit(ctx, repository(t), "--all")
	wantError(t, err, "not a name git accepts")
}

func TestSwitch(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, branch := range []string{"x", "a/b/c", "fix-ä日本", `x#$()'"%;&`, "x@y", "a;touch", "$(id)"} {
		t.Run(branch, func(t *testing.T) {
			t.Parallel()
			origin := repository(t)
			commitFile(t, origin, "f", "0")
			root := filepath.Join(t.TempDir(), "clone")
			do(t, origin, "clone", "-q", origin, root)
			first := out(t, root, "rev-parse", "main~1")

			dir := worktreeOf(t, root)
			for range 2 {
				if err := New().SwitchBranch(ctx, dir, branch, "main~1"); err != nil {
					t.Fatal(err)
				}
				if c, b, _ := New().Head(dir); c != first || b != branch {
					t.Errorf("a new one: %s %s", c, b)
				}
			}
			commitFile(t, dir, "g", "g")
			tip := out(t, dir, "rev-parse", "HEAD")
			if err := New().DetachHead(ctx, dir, first); err != nil {
				t.Fatal(err)
			}
			if err := New().SwitchBranch(ctx, dir, branch, "main"); err != nil {
				t.Fatal(err)
			}
			if c, b, _ := New().Head(dir); c != tip || b != branch {
				t.Errorf("one that is here: %s %s", c, b)
			}

			do(t, origin, "switch", "-q", "-c", "at-origin/"+branch)
			commit(t, origin)
			do(t, root, "fetch", "-q")
			if err := New().SwitchBranch(ctx, dir, "at-origin/"+branch, "main"); err != nil {
				t.Fatal(err)
			}
			if c, _, _ := New().Head(dir); c != out(t, origin, "rev-parse", "HEAD") {
				t.Error("the one at origin was not used")
			}
			if up := out(t, dir, "rev-parse", "--abbrev-ref", "@{u}"); up != "origin/at-origin/"+branch {
				t.Errorf("it tracks %s", up)
			}
		})
	}
}

func TestSwitchRefuses(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "f", "0")
	dir := worktreeOf(t, root)
	other := worktreeOf(t, root)
	ctx := context.Background()
	do(t, root, "tag", "a-tag")
	for name, tc := range map[string]struct{ branch, base, want string }{
		"the person's branch":    {"main", "main", "is checked out in " + root},
		"an option":              {"--detach", "main", "not a name git accepts"},
		"a revision":             {"main~1", "main", "not a name git accepts"},
		"no such base":           {"x", "none", "there is no such commit"},
		"a base like an option":  {"x", "--all", "there is no such commit"},
		"a folder of a branch":   {"main/x", "main", "make branch main/x"},
		"a branch under rebase":  {"rebased", "main", "a rebase is in progress"},
		"a branch of a worktree": {"taken", "main", "is checked out in " + other},
	} {
		t.Run(name, func(t *testing.T) {
			switch name {
			case "a branch under rebase":
				do(t, other, "switch", "-q", "-c", "rebased", "main")
				commitFile(t, other, "f", "r")
				commitFile(t, root, "f", "m")
				fails(t, other, "rebase", "main")
				t.Cleanup(func() { do(t, other, "rebase", "--abort") })
			case "a branch of a worktree":
				do(t, other, "switch", "-q", "-C", "taken")
				t.Cleanup(func() { do(t, other, "switch", "-q", "--detach") })
			}
			wantError(t, New().SwitchBranch(ctx, dir, tc.branch, tc.base), tc.want)
			if _, branch, _ := New().Head(dir); branch != "" {
				t.Errorf("on %s", branch)
			}
		})
	}
	if err := New().SwitchBranch(ctx, dir, "a-tag", "main"); err != nil {
		t.Errorf("a branch like a tag: %v", err)
	}
}

// An ignored file of an earlier task is not overwritten silently.
func TestIgnoredFilesAreNotOverwritten(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, ".gitignore", "ignored\n")
	dir := worktreeOf(t, root)
	do(t, root, "switch", "-q", "-c", "x")
	commitFile(t, root, "ignored", "tracked now")
	commitFile(t, root, "deep/ignored/file", "tracked, too")
	do(t, root, "switch", "-q", "main")
	write(t, dir, "ignored", "mine")
	write(t, dir, "deep/ignored", "a file")
	ctx := context.Background()
	for what, err := range map[string]error{
		"switch": New().SwitchBranch(ctx, dir, "x", "main"),
		"detach": New().DetachHead(ctx, dir, out(t, root, "rev-parse", "x")),
	} {
		var blocked *BlockedError
		if !errors.As(err, &blocked) {
			t.Fatalf("%s: %v", what, err)
		}
		if diff := cmp.Diff([]string{"deep/ignored", "ignored"}, blocked.BlockingFiles()); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		wantError(t, err, "move them away")
	}
	if read(t, dir, "ignored") != "mine" {
		t.Error("it was overwritten")
	}
}

// A person's hooks run when a branch is checked out, and one that fails afterwards does
// not undo that.
func TestSwitchRunsHooks(t *testing.T) {
	t.Parallel()
	root := repository(t)
	dir := worktreeOf(t, root)
	write(t, root, ".git/hooks/post-checkout", "#!/bin/sh\ntouch "+root+"/.git/ran\nexit 3\n")
	if err := os.Chmod(filepath.Join(root, ".git/hooks/post-checkout"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := New().SwitchBranch(context.Background(), dir, "x", "main"); err != nil || !pathExists(root, ".git/ran") {
		t.Errorf("ran %v, %v", pathExists(root, ".git/ran"), err)
	}
}

func TestRenameBranch(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, tc := range map[string]struct {
		arrange  func(t *testing.T, dir string)
		from, to string
		want     string // error
		left     bool   // from is still there
	}{
		"to a new name":              {func(*testing.T, string) {}, "x", "new/name", "", false},
		"into a folder of itself":    {func(*testing.T, string) {}, "x", "x/y", "", false},
		"to itself":                  {func(*testing.T, string) {}, "x", "x", "", true},
		"to one that has all of it":  {func(t *testing.T, dir string) { do(t, dir, "branch", "y") }, "x", "y", "", false},
		"to one that has not":        {func(t *testing.T, dir string) { do(t, dir, "branch", "y"); commit(t, dir) }, "x", "y", "", true},
		"done before":                {func(t *testing.T, dir string) { do(t, dir, "branch", "-m", "x", "y") }, "x", "y", "", false},
		"done by a switch":           {func(t *testing.T, dir string) { do(t, dir, "switch", "-q", "-c", "y") }, "x", "y", "", false},
		"of none":                    {func(*testing.T, string) {}, "none", "y", "there is no branch none", false},
		"to a person's branch":       {func(*testing.T, string) {}, "x", "main", "is checked out in", true},
		"to an option":               {func(*testing.T, string) {}, "x", "-D", "not a name", true},
		"with changes in the way":    {func(t *testing.T, dir string) { changesInTheWay(t, dir) }, "x", "y", "check out y", true},
		"with an untracked file so":  {func(t *testing.T, dir string) { untrackedInTheWay(t, dir) }, "x", "y", "in the way", true},
		"with changes that are fine": {func(t *testing.T, dir string) { do(t, dir, "branch", "y"); write(t, dir, "f", "1") }, "x", "y", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := repository(t)
			commitFile(t, root, "f", "0")
			dir := worktreeOf(t, root)
			do(t, dir, "switch", "-q", "-c", "x")
			tc.arrange(t, dir)
			for range 2 {
				err := New().RenameBranch(ctx, dir, tc.from, tc.to)
				if tc.want != "" {
					wantError(t, err, tc.want)
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, branch, _ := New().Head(dir); branch != tc.to {
					t.Errorf("on %s", branch)
				}
			}
			if got := out(t, dir, "for-each-ref", "refs/heads/"+tc.from) != ""; tc.from != "none" && tc.to != "x/y" && got != tc.left {
				t.Errorf("%s is left: %v", tc.from, got)
			}
		})
	}
}

func changesInTheWay(t *testing.T, dir string) {
	t.Helper()
	do(t, dir, "switch", "-q", "-c", "y")
	commitFile(t, dir, "f", "y")
	do(t, dir, "switch", "-q", "x")
	write(t, dir, "f", "mine")
}

func untrackedInTheWay(t *testing.T, dir string) {
	t.Helper()
	do(t, dir, "switch", "-q", "-c", "y")
	commitFile(t, dir, "g", "y")
	do(t, dir, "switch", "-q", "x")
	write(t, dir, "g", "mine")
}
