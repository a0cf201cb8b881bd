package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A branch may be a symbolic ref, as after it was renamed; its checkout comes along all the same.
func TestLandInABranchThatStandsForAnother(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{"the other one is checked out": "trunk", "it is checked out itself": "main"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, _ := forMerge(t)
			do(t, root, "branch", "-m", "main", "trunk")
			do(t, root, "symbolic-ref", "refs/heads/main", "refs/heads/trunk")
			do(t, root, "symbolic-ref", "HEAD", "refs/heads/"+head)
			for _, strategy := range []string{FastForward, MergeCommit} {
				if _, err := merge(root, "x", "main", strategy, ""); err != nil {
					t.Fatal(err)
				}
				wantLanded(t, root, "trunk")
			}
		})
	}
	root, _ := forMerge(t)
	do(t, root, "update-ref", "refs/elsewhere", "main")
	do(t, root, "symbolic-ref", "refs/heads/alias", "refs/elsewhere")
	_, err := merge(root, "x", "alias", Auto, "")
	wantError(t, err, "alias stands for refs/elsewhere, which is no branch")
}

// wantLanded checks that a branch has the work of x, and that its checkout agrees with it.
func wantLanded(t *testing.T, root, branch string) {
	t.Helper()
	if got := read(t, root, "f"); got != "x" || out(t, root, "show", branch+":f") != "x" || out(t, root, "status", "--porcelain") != "" {
		t.Errorf("f is %q, status %q", got, out(t, root, "status", "--porcelain"))
	}
}

// The repository of a checkout may lie elsewhere: git then lists the repository in its place.
func TestLandWhereTheRepositoryLiesElsewhere(t *testing.T) {
	t.Parallel()
	t.Run("a separate folder", func(t *testing.T) {
		t.Parallel()
		root, w := forMerge(t)
		elsewhere := filepath.Join(t.TempDir(), "repository")
		do(t, root, "init", "-q", "--separate-git-dir", elsewhere)
		do(t, root, "worktree", "repair", w)
		if _, err := merge(root, "x", "main", FastForward, ""); err != nil {
			t.Fatal(err)
		}
		wantLanded(t, root, "main")
		do(t, w, "commit", "-q", "--allow-empty", "-m", "more")
		_, err := merge(w, "x", "main", FastForward, "") // from there, nothing leads to the main checkout
		wantError(t, err, "main is checked out in a folder that the repository "+elsewhere+" does not name")
		do(t, elsewhere, "config", "core.worktree", root) // as the error says
		if _, err := merge(w, "x", "main", FastForward, ""); err != nil {
			t.Fatal(err)
		}
		wantLanded(t, root, "main")
	})
	t.Run("a submodule", func(t *testing.T) {
		t.Parallel()
		library, _ := forMerge(t)
		outer := repository(t)
		do(t, outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib")
		root := filepath.Join(outer, "lib")
		do(t, root, "branch", "x", "origin/x")
		w := worktreeOf(t, root)
		for _, from := range []string{root, w} {
			do(t, w, "switch", "-q", "x")
			do(t, w, "commit", "-q", "--allow-empty", "-m", "more")
			if _, err := merge(from, "x", "main", FastForward, ""); err != nil {
				t.Fatal(err)
			}
			wantLanded(t, root, "main")
		}
	})
}

// A checkout whose folder is away, for example on a disk that is not mounted, would take the landing back when it returns.
func TestACheckoutThatIsAwayKeepsWorkFromLanding(t *testing.T) {
	t.Parallel()
	for _, locked := range []bool{false, true} {
		root, _ := forMerge(t)
		other := worktreeOf(t, root)
		do(t, root, "switch", "-q", "--detach")
		do(t, other, "switch", "-q", "main")
		forget := []string{"worktree", "prune"}
		if locked {
			do(t, root, "worktree", "lock", other)
			forget = []string{"worktree", "remove", "--force", "--force", other}
		}
		if err := os.Rename(other, other+"-away"); err != nil {
			t.Fatal(err)
		}
		before := out(t, root, "rev-parse", "main")
		_, err := merge(root, "x", "main", FastForward, "")
		wantError(t, err, "main is checked out in "+other+", which does not exist now: bring it back, or forget it with git -C "+root+" worktree "+forget[1])
		if out(t, root, "rev-parse", "main") != before {
			t.Error("main has moved")
		}
		do(t, root, forget...)
		if _, err := merge(root, "x", "main", FastForward, ""); err != nil {
			t.Error(err)
		}
	}
}

// A setting of the repository may hide the files of a checkout from git, or lead git to other files. An agent can make it: git
// config in a linked worktree writes to the settings that all share.
func TestSettingsThatHideACheckoutKeepWorkFromLanding(t *testing.T) {
	t.Parallel()
	t.Run("core.bare", func(t *testing.T) {
		t.Parallel()
		root, w := forMerge(t)
		do(t, w, "config", "core.bare", "true")
		_, err := merge(root, "x", "main", Auto, "")
		wantError(t, err, "main is checked out in "+root+", but core.bare hides its files from git: run git -C "+root+" config core.bare false, and try again")
		do(t, root, "config", "core.bare", "false")
		if status := out(t, root, "status", "--porcelain"); status != "" {
			t.Errorf("status %q", status)
		}
		if _, err := merge(root, "x", "main", Auto, ""); err != nil {
			t.Fatal(err)
		}
		wantLanded(t, root, "main")
	})
	t.Run("core.worktree", func(t *testing.T) {
		t.Parallel()
		root, w := forMerge(t)
		elsewhere := t.TempDir()
		do(t, w, "config", "core.worktree", elsewhere)
		_, err := merge(root, "x", "main", Auto, "")
		wantError(t, err, "nothing was changed: git works on "+elsewhere+" instead of "+root+": run git config --file "+root+"/.git/config --unset core.worktree")
		do(t, root, "config", "--file", filepath.Join(root, ".git", "config"), "--unset", "core.worktree")
		if list, err := os.ReadDir(elsewhere); err != nil || len(list) > 0 || out(t, root, "status", "--porcelain") != "" {
			t.Errorf("%v, %v, status %q", list, err, out(t, root, "status", "--porcelain"))
		}
		if _, err := merge(root, "x", "main", Auto, ""); err != nil {
			t.Fatal(err)
		}
		wantLanded(t, root, "main")
	})
	t.Run("worktrees beside a bare repository", func(t *testing.T) {
		t.Parallel()
		from, _ := forMerge(t)
		top := t.TempDir()
		do(t, top, "clone", "-q", "--bare", from, ".git")
		do(t, top, "branch", "other", "main~1")
		root := filepath.Join(top, "other")
		do(t, top, "worktree", "add", "-q", root, "other")
		if _, err := merge(root, "x", "main", Auto, ""); err != nil || out(t, root, "show", "main:f") != "x" {
			t.Error(err)
		}
	})
}

// A user may switch to another branch just before git merges in the checkout. The landing goes on without it, and the other
// branch is as the user left it.
func TestTheUserSwitchesBeforeTheMerge(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ begin, moves string }{
		"to a new branch":             {"", "switch -q -c mine"},
		"to an older branch":          {"branch -q mine main~1", "switch -q mine"},
		"to a branch with other work": {"branch -q mine other", "switch -q mine"},
		"to a commit":                 {"branch -q mine main", "switch -q --detach main"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, w := forMerge(t)
			do(t, w, "branch", "other", "main~1")
			o := worktreeOf(t, root)
			do(t, o, "switch", "-q", "other")
			commitFile(t, o, "other", "other")
			dir := t.TempDir()
			write(t, dir, "git", `#!/bin/sh
case " $* " in
*" --ff-only "*) test -e "$0.switched" || { touch "$0.switched"; git -C '`+root+`' `+tc.moves+`; } ;;
esac
exec git "$@"
`)
			write(t, root, "untracked", "u")
			if tc.begin != "" {
				do(t, root, append([]string{"-c", "advice.detachedHead=false"}, strings.Fields(tc.begin)...)...)
			}
			want := "main"
			if tc.begin != "" {
				want = "mine"
			}
			before := out(t, root, "rev-parse", want)
			g := New()
			g.program = filepath.Join(dir, "git")
			if err := os.Chmod(g.program, 0o700); err != nil {
				t.Fatal(err)
			}
			if _, err := g.MergeBranch(t.Context(), root, Merging{Branch: "x", Into: "main", Strategy: Auto}); err != nil {
				t.Fatal(err)
			}
			if got := out(t, root, "rev-parse", "mine"); got != before {
				t.Errorf("mine is at %s, and was at %s", got, before)
			}
			if out(t, root, "show", "main:f") != "x" || out(t, root, "status", "--porcelain") != "?? untracked" || read(t, root, "f") == "x" {
				t.Errorf("status %q, f %q", out(t, root, "status", "--porcelain"), read(t, root, "f"))
			}
		})
	}
}
