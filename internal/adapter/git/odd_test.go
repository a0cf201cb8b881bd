package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A repository inside the worktree cannot be kept in this one, so nothing is cleared.
func TestARepositoryInsideIsNamedAndStays(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(t *testing.T, dir string){
		"without a commit": func(t *testing.T, dir string) {
			do(t, dir, "init", "-q", "inner/repo")
			write(t, dir, "inner/repo/work", "w")
		},
		"with commits": func(t *testing.T, dir string) {
			do(t, dir, "init", "-q", "inner/repo")
			commitFile(t, filepath.Join(dir, "inner/repo"), "work", "w")
		},
		"that is staged": func(t *testing.T, dir string) {
			do(t, dir, "init", "-q", "inner/repo")
			commitFile(t, filepath.Join(dir, "inner/repo"), "work", "w")
			do(t, dir, "add", "inner/repo")
		},
		"that is a worktree": func(t *testing.T, dir string) {
			do(t, dir, "worktree", "add", "-q", "--detach", "inner/repo")
			write(t, dir, "inner/repo/work", "w")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := worktreeOf(t, repository(t))
			arrange(t, dir)
			_, err := New().SalvageWork(context.Background(), dir, "task1")
			wantError(t, err, "inner/repo in "+dir+" is a separate git repository")
			wantError(t, New().CleanWorktree(context.Background(), dir, "task1"), "inner/repo")
			if read(t, dir, "inner/repo/work") != "w" {
				t.Error("its work is gone")
			}
		})
	}
}

// withSubmodule returns a worktree with a submodule at lib that is checked out.
func withSubmodule(t *testing.T) (root, dir, lib string) {
	t.Helper()
	source := repository(t)
	commitFile(t, source, "s", "0")
	root = repository(t)
	do(t, root, "submodule", "--quiet", "add", source, "lib")
	do(t, root, "commit", "-q", "-m", "lib")
	dir = worktreeOf(t, root)
	do(t, dir, "submodule", "--quiet", "update", "--init")
	return root, dir, filepath.Join(dir, "lib")
}

func TestSalvageKeepsTheWorkInASubmodule(t *testing.T) {
	t.Parallel()
	_, dir, lib := withSubmodule(t)
	before := out(t, lib, "rev-parse", "HEAD")
	if ref := salvageAndClean(t, dir, "task0"); ref != "" {
		t.Fatalf("nothing was changed, and %s was made", ref)
	}
	commitFile(t, lib, "s", "committed")
	write(t, lib, "s", "changed")
	write(t, lib, "new", "n")
	ref, err := New().SalvageWork(context.Background(), dir, "task1")
	if err != nil || ref == "" {
		t.Fatalf("got %q, %v", ref, err)
	}
	if s := salvaged(t, lib, "refs/orange/salvage/task1/1", "s") + salvaged(t, lib, "refs/orange/salvage/task1/1", "new"); s != "changedn" {
		t.Errorf("kept in the submodule: %q", s)
	}
	if text := out(t, dir, "log", "-1", "--format=%B", ref); !strings.Contains(text, `Submodule "lib": refs/orange/salvage/task1/`) {
		t.Errorf("the message does not say so: %s", text)
	}
	if err := New().CleanWorktree(context.Background(), dir, "task1"); err != nil {
		t.Fatal(err)
	}
	if err := New().DetachHead(context.Background(), dir, out(t, dir, "rev-parse", "main")); err != nil {
		t.Fatal(err)
	}
	if read(t, lib, "s") != "0" || pathExists(lib, "new") || out(t, lib, "rev-parse", "HEAD") != before || out(t, dir, "status", "--porcelain") != "" {
		t.Errorf("the submodule is not as it was: %s", out(t, dir, "status", "--porcelain"))
	}
}

// A file in a worktree must not make Orange clear another place.
func TestASubmoduleThatLeadsElsewhereIsRefused(t *testing.T) {
	t.Parallel()
	for name, redirect := range map[string]func(t *testing.T, dir, lib, elsewhere string){
		"by a link": func(t *testing.T, _, lib, elsewhere string) {
			if err := os.RemoveAll(lib); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(elsewhere, lib); err != nil {
				t.Fatal(err)
			}
		},
		"by its git file":  func(t *testing.T, _, lib, elsewhere string) { write(t, lib, ".git", "gitdir: "+elsewhere+"/.git\n") },
		"by core.worktree": func(t *testing.T, _, lib, elsewhere string) { do(t, lib, "config", "core.worktree", elsewhere) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, dir, lib := withSubmodule(t)
			elsewhere := repository(t)
			commitFile(t, elsewhere, "s", "mine")
			write(t, elsewhere, "s", "mine, changed")
			redirect(t, dir, lib, elsewhere)
			if _, err := New().SalvageWork(context.Background(), dir, "task1"); err == nil {
				t.Error("it was surveyed")
			}
			if err := New().CleanWorktree(context.Background(), dir, "task1"); err == nil {
				t.Error("it was cleaned")
			}
			if read(t, elsewhere, "s") != "mine, changed" || out(t, elsewhere, "for-each-ref", "refs/orange") != "" {
				t.Error("the other repository was touched")
			}
		})
	}
}

// Likewise for the worktree itself.
func TestAWorktreeThatMeansAnotherPlaceIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		redirect func(t *testing.T, root, dir string)
		want     string
	}{
		"core.worktree of its own": {func(t *testing.T, root, dir string) {
			do(t, root, "config", "extensions.worktreeConfig", "true")
			do(t, dir, "config", "--worktree", "core.worktree", root)
		}, "--unset core.worktree"},
		"the main repository": {func(t *testing.T, root, dir string) {
			write(t, dir, ".git", "gitdir: "+root+"/.git\n")
		}, "git worktree repair"},
		"a repository of its own": {func(t *testing.T, _, dir string) {
			if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
			do(t, dir, "init", "-q")
		}, "git worktree repair"},
		"no repository": {func(t *testing.T, _, dir string) {
			if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
		}, "git worktree repair"},
		"nonsense": {func(t *testing.T, _, dir string) { write(t, dir, ".git", "hello") }, "git worktree repair"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := repository(t)
			commitFile(t, root, "f", "0")
			dir := worktreeOf(t, root)
			write(t, root, "f", "a person's change")
			write(t, dir, "f", "an agent's change")
			tc.redirect(t, root, dir)
			ctx := context.Background()
			_, err := New().SalvageWork(ctx, dir, "task1")
			wantError(t, err, tc.want)
			for _, err := range []error{New().CleanWorktree(ctx, dir, "task1"), New().DetachHead(ctx, dir, "main"), New().SwitchBranch(ctx, dir, "x", "main")} {
				wantError(t, err, tc.want)
			}
			if read(t, root, "f") != "a person's change" || read(t, dir, "f") != "an agent's change" {
				t.Error("something was cleared")
			}
		})
	}
}

// The shared core.worktree does not count in a linked worktree, nor where the main
// checkout keeps its repository.
func TestUnusualMainCheckouts(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(t *testing.T) string{
		"core.worktree": func(t *testing.T) string {
			root := repository(t)
			commitFile(t, root, "f", "0")
			do(t, root, "config", "core.worktree", t.TempDir())
			return root
		},
		"its repository apart": func(t *testing.T) string {
			root := repository(t)
			commitFile(t, root, "f", "0")
			do(t, root, "init", "-q", "--separate-git-dir", filepath.Join(t.TempDir(), "apart"))
			return root
		},
		"bare": func(t *testing.T) string {
			root := repository(t)
			commitFile(t, root, "f", "0")
			bare := filepath.Join(t.TempDir(), "bare")
			do(t, root, "clone", "-q", "--bare", root, bare)
			return bare
		},
		"a worktree": func(t *testing.T) string {
			root := repository(t)
			commitFile(t, root, "f", "0")
			return worktreeOf(t, root)
		},
		"on another branch": func(t *testing.T) string {
			root := repository(t)
			commitFile(t, root, "f", "0")
			do(t, root, "switch", "-q", "-c", "mine")
			return root
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := arrange(t)
			dir := worktreeOf(t, root)
			ctx := context.Background()
			if err := New().SwitchBranch(ctx, dir, "x", "main"); err != nil {
				t.Fatal(err)
			}
			write(t, dir, "f", "1")
			if ref := salvageAndClean(t, dir, "task1"); salvaged(t, dir, ref, "f") != "1" {
				t.Errorf("salvage %s", ref)
			}
			if err := New().DetachHead(ctx, dir, out(t, dir, "rev-parse", "main")); err != nil {
				t.Error(err)
			}
			if err := New().RemoveWorktree(ctx, dir); err != nil || pathExists(dir, "") {
				t.Error(err)
			}
		})
	}
}

// What git cannot take in is not cleared away.
func TestWorkThatGitCannotReadIsAnError(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(t *testing.T, dir string){
		"a filter that fails": func(t *testing.T, dir string) {
			do(t, dir, "config", "filter.broken.clean", "false")
			do(t, dir, "config", "filter.broken.required", "true")
			write(t, dir, ".gitattributes", "f filter=broken\n")
		},
		"an unreadable file": func(t *testing.T, dir string) {
			if os.Getuid() == 0 {
				t.Skip("root reads everything")
			}
			if err := os.Chmod(filepath.Join(dir, "f"), 0); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := repository(t)
			commitFile(t, root, "f", "0")
			dir := worktreeOf(t, root)
			write(t, dir, "f", "changed")
			arrange(t, dir)
			_, err := New().SalvageWork(context.Background(), dir, "task1")
			wantError(t, err, "nothing was cleared")
			if err := New().CleanWorktree(context.Background(), dir, "task1"); err == nil {
				t.Error("it was cleared")
			}
			if info, err := os.Stat(filepath.Join(dir, "f")); err != nil || info.Size() != int64(len("changed")) {
				t.Errorf("f: %v, %v", info, err)
			}
		})
	}
}

func TestLineEndsAndFiltersAreNoObstacle(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "crlf", "a\r\nb\r\n") // from before there were attributes: looks changed permanently
	commitFile(t, root, "main-only", "m")
	do(t, root, "config", "core.safecrlf", "true")
	do(t, root, "config", "filter.rot.clean", "tr a-z n-za-m")
	do(t, root, "config", "filter.rot.smudge", "tr a-z n-za-m")
	commitFile(t, root, ".gitattributes", "crlf text eol=lf\nsecret filter=rot\n")
	commitFile(t, root, "secret", "hello")
	dir := worktreeOf(t, root)
	ctx := context.Background()
	if err := New().SwitchBranch(ctx, dir, "x", "main~1"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "crlf", "a\r\nmine\r\n")
	write(t, dir, "secret", "bye")
	ref, err := New().SalvageWork(ctx, dir, "task1")
	if err != nil {
		t.Fatal(err)
	}
	if got := salvaged(t, dir, ref, "crlf") + salvaged(t, dir, ref, "secret"); got != "a\nmine"+"olr" {
		t.Errorf("kept %q", got)
	}
	if err := New().CleanWorktree(ctx, dir, "task1"); err != nil {
		t.Fatal(err)
	}
	if err := New().DetachHead(ctx, dir, out(t, root, "rev-parse", "main")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "secret"); got != "hello" {
		t.Errorf("secret is %q", got)
	}
}

// Files outside a sparse checkout are missing, not deleted.
func TestASparseCheckoutIsNoDeletion(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "in/f", "0")
	commitFile(t, root, "out/f", "0")
	dir := worktreeOf(t, root)
	do(t, dir, "sparse-checkout", "set", "in")
	if ref := salvageAndClean(t, dir, "task1"); ref != "" {
		t.Errorf("salvage %s of nothing", ref)
	}
	write(t, dir, "in/f", "1")
	write(t, dir, "out/new", "n")
	ref := salvageAndClean(t, dir, "task1")
	for file, want := range map[string]string{"in/f": "1", "out/f": "0", "out/new": "n"} {
		if got := salvaged(t, dir, ref, file); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
}

// A change that neither the size nor the time of a file shows is found by its content, as long
// as the copied index is as old as the original.
func TestAChangeInTheSameInstantIsKept(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "f", "0")
	do(t, root, "config", "core.trustctime", "false")
	do(t, root, "config", "core.checkStat", "minimal")
	dir := worktreeOf(t, root)
	instant := time.Now().Add(-time.Hour).Truncate(time.Second)
	at := func(path string) {
		if err := os.Chtimes(path, instant, instant); err != nil {
			t.Fatal(err)
		}
	}
	at(filepath.Join(dir, "f"))
	do(t, dir, "update-index", "--refresh")
	at(filepath.Join(root, ".git/worktrees/w/index"))
	write(t, dir, "f", "1")
	at(filepath.Join(dir, "f"))
	if ref, err := New().SalvageWork(context.Background(), dir, "task1"); ref == "" || err != nil {
		t.Fatalf("%q, %v", ref, err)
	}
}

func TestALockIsNamed(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "f", "0")
	dir := worktreeOf(t, root)
	write(t, dir, "f", "1")
	ctx := context.Background()
	lock := filepath.Join(root, ".git/worktrees/w/index.lock")
	write(t, "/", lock, "")
	_, err := New().SalvageWork(ctx, dir, "task1")
	wantError(t, err, lock)
	wantError(t, err, "remove the file and try again")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	salvageAndClean(t, dir, "task1")
	write(t, "/", lock, "")
	wantError(t, New().SwitchBranch(ctx, dir, "x", "main"), lock)
	wantError(t, New().DetachHead(ctx, dir, out(t, root, "rev-parse", "main")), lock)
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := New().SwitchBranch(ctx, dir, "x", "main"); err != nil {
		t.Error(err)
	}
	write(t, root, ".git/config.lock", "")
	_, err = New().run(ctx, root, "config", "a.b", "c")
	wantError(t, err, filepath.Join(root, ".git/config.lock"))
}
