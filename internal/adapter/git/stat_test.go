package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/view/diff"
)

// feature makes a worktree of a new branch.
func feature(t *testing.T, root string) Comparison {
	t.Helper()
	dir := worktreeOf(t, root)
	do(t, dir, "switch", "--quiet", "-c", "feature")
	return Comparison{Root: root, Worktree: dir, Branch: "feature", Default: "main"}
}

// past is when a file was written that has not changed since.
var past = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// withoutGit returns a git that cannot be started: what works with it starts none.
func withoutGit() *Git { return &Git{program: "/nowhere/git"} }

func wantStat(t *testing.T, g *Git, c Comparison, want Stat) {
	t.Helper()
	got, err := g.DiffStat(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// wantDiff compares what is read of a diff: a line for each file, then what is in it.
func wantDiff(t *testing.T, c Comparison, want string) {
	t.Helper()
	_, text, cut, err := New().BranchDiff(context.Background(), c, 1<<20)
	if err != nil || cut {
		t.Fatal(err, cut)
	}
	if d := cmp.Diff(want, told(diff.Parse(text))); d != "" {
		t.Errorf("%s\n%s", d, text)
	}
}

func told(files []diff.File) string {
	var b strings.Builder
	for _, f := range files {
		b.WriteString(f.Path)
		if f.Old != "" {
			b.WriteString(" was " + f.Old)
		}
		if f.Binary {
			b.WriteString(" binary")
		}
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				if l.Kind != " " {
					b.WriteString(" " + l.Kind + l.Text)
				}
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestStatCountsWhatABranchHasOfItsOwn(t *testing.T) {
	root := repository(t)
	commitFile(t, root, "a", "1\n2\n3\n")
	c := feature(t, root)
	wantStat(t, New(), c, Stat{})
	commitFile(t, c.Worktree, "a", "1\n2\nthree\n")
	commitFile(t, c.Worktree, "b", "1\n")
	commitFile(t, root, "elsewhere", "what happens on main does not count\n")
	wantStat(t, New(), c, Stat{Commits: 2, Files: 2, Added: 2, Deleted: 1})
	write(t, c.Worktree, "b", "1\n2\n")
	write(t, c.Worktree, "unknown", "git does not know it\n")
	wantStat(t, New(), c, Stat{Commits: 2, Files: 2, Added: 3, Deleted: 1})
	wantDiff(t, c, "a -3 +three\nb +1 +2\n")
	t.Run("without a worktree only what is committed counts", func(t *testing.T) {
		alone := c
		alone.Worktree = ""
		wantStat(t, New(), alone, Stat{Commits: 2, Files: 2, Added: 2, Deleted: 1})
		wantDiff(t, alone, "a -3 +three\nb +1\n")
	})
	t.Run("a worktree on another branch says nothing about it", func(t *testing.T) {
		do(t, c.Worktree, "switch", "--quiet", "--detach")
		wantStat(t, New(), c, Stat{Commits: 2, Files: 2, Added: 2, Deleted: 1})
	})
	t.Run("a worktree that is gone", func(t *testing.T) {
		gone := c
		gone.Worktree = filepath.Join(t.TempDir(), "gone")
		wantStat(t, New(), gone, Stat{Commits: 2, Files: 2, Added: 2, Deleted: 1})
	})
	t.Run("packed", func(t *testing.T) {
		do(t, root, "pack-refs", "--all")
		wantStat(t, New(), c, Stat{Commits: 2, Files: 2, Added: 2, Deleted: 1})
	})
}

// Only the worktree that git made for the project counts: what lies in its place may come from anywhere.
func TestTheDiffIsNotThatOfAnotherRepository(t *testing.T) {
	inPlace := map[string]struct {
		arrange func(t *testing.T, c Comparison)
		want    string
	}{
		"a clone with the branch checked out": {func(t *testing.T, c Comparison) {
			do(t, c.Root, "clone", "--quiet", "--branch", "feature", c.Root, c.Worktree)
			write(t, c.Worktree, "b", "foreign\n")
		}, "is no longer a worktree of"},
		"a worktree of a clone": {func(t *testing.T, c Comparison) {
			other := filepath.Join(t.TempDir(), "other")
			do(t, c.Root, "clone", "--quiet", c.Root, other)
			do(t, other, "worktree", "add", "--quiet", c.Worktree, "feature")
			write(t, c.Worktree, "b", "foreign\n")
		}, "is no longer a worktree of"},
		"another repository": {func(t *testing.T, c Comparison) {
			do(t, c.Root, "init", "--quiet", "--template=", "--initial-branch=feature", c.Worktree)
			commitFile(t, c.Worktree, "b", "foreign\n")
		}, "is no longer a worktree of"},
		"another worktree of the project": {func(t *testing.T, c Comparison) {
			do(t, c.Root, "worktree", "repair", c.Worktree+".away")
			check(t, os.Mkdir(c.Worktree, 0o700))
			write(t, c.Worktree, "b", "foreign\n")
			check(t, os.Symlink(filepath.Join(c.Worktree+".away", ".git"), filepath.Join(c.Worktree, ".git")))
		}, "is no longer a worktree of"},
		"a folder": {func(t *testing.T, c Comparison) {
			write(t, c.Worktree, "b", "foreign\n")
		}, "is no longer a worktree of"},
		"nothing": {func(*testing.T, Comparison) {}, "is gone"},
		"a worktree whose git works elsewhere": {func(t *testing.T, c Comparison) {
			check(t, os.Rename(c.Worktree+".away", c.Worktree))
			elsewhere := t.TempDir()
			write(t, elsewhere, "b", "foreign\n")
			do(t, c.Root, "config", "extensions.worktreeConfig", "true")
			do(t, c.Worktree, "config", "--worktree", "core.worktree", elsewhere)
		}, "git works on"},
		"a worktree on another branch": {func(t *testing.T, c Comparison) {
			check(t, os.Rename(c.Worktree+".away", c.Worktree))
			do(t, c.Worktree, "switch", "--quiet", "-c", "other")
			write(t, c.Worktree, "b", "foreign\n")
		}, "is on branch other instead of feature"},
	}
	for name, tc := range inPlace {
		t.Run(name, func(t *testing.T) {
			root := repository(t)
			c := feature(t, root)
			commitFile(t, c.Worktree, "b", "mine\n")
			check(t, os.Rename(c.Worktree, c.Worktree+".away"))
			tc.arrange(t, c)
			wantDiff(t, c, "b +mine\n")
			wantStat(t, New(), c, Stat{Commits: 1, Files: 1, Added: 1})
			if text, untracked, err := New().UncommittedDiff(t.Context(), c, 1<<20); err != nil || text != "" || len(untracked) > 0 {
				t.Errorf("not committed: %q, %q, %v", text, untracked, err)
			}
			if got, _, err := New().FileContent(t.Context(), c, "b", false, 100); err != nil || string(got) != "mine\n" {
				t.Errorf("content %q, %v", got, err)
			}
			if err := New().CheckCompared(t.Context(), c); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestStatAndDiffReadRefsOfAnotherForm(t *testing.T) {
	dir := t.TempDir()
	if err := plainly(dir, "init", "--quiet", "--template=", "--initial-branch=main", "--ref-format=reftable"); err != nil {
		t.Skip("this git has no reftable")
	}
	commit(t, dir)
	do(t, dir, "switch", "--quiet", "-c", "feature")
	commitFile(t, dir, "a", "1\n")
	wantStat(t, New(), Comparison{Root: dir, Branch: "feature", Default: "main"}, Stat{Commits: 1, Files: 1, Added: 1})
}

func plainly(dir string, args ...string) error {
	_, err := New().runOnce(context.Background(), call{dir: dir, args: args})
	return err
}

func TestNoGitIsStartedWhereThereIsNothingToCount(t *testing.T) {
	root := repository(t)
	do(t, root, "branch", "feature")
	wantStat(t, withoutGit(), Comparison{Root: root, Branch: "feature", Default: "main"}, Stat{})
	base, text, cut, err := withoutGit().BranchDiff(context.Background(), Comparison{Root: root, Branch: "feature", Default: "main"}, 100)
	if base != out(t, root, "rev-parse", "main") || text != "" || cut || err != nil {
		t.Error(base, text, cut, err)
	}
	for name, c := range map[string]Comparison{
		"no branch":         {Root: root, Branch: "gone", Default: "main"},
		"no default branch": {Root: root, Branch: "feature", Default: "master"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := withoutGit().DiffStat(context.Background(), c); !errors.Is(err, ErrNoBranch) {
				t.Error(err)
			}
			if _, _, _, err := withoutGit().BranchDiff(context.Background(), c, 100); !errors.Is(err, ErrNoBranch) {
				t.Error(err)
			}
		})
	}
	for name, c := range map[string]Comparison{
		"a name that is an option": {Root: root, Branch: "--output=x", Default: "main"},
		"no repository":            {Root: t.TempDir(), Branch: "feature", Default: "main"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := withoutGit().DiffStat(context.Background(), c); err == nil || errors.Is(err, ErrNoBranch) || strings.Contains(err.Error(), "\n") {
				t.Error(err)
			}
		})
	}
}

func TestABranchThatIsOnlyAtOriginIsCompared(t *testing.T) {
	root := repository(t)
	c := feature(t, root)
	commitFile(t, c.Worktree, "a", "1\n")
	there := filepath.Join(t.TempDir(), "clone")
	do(t, root, "clone", "--quiet", root, there)
	wantStat(t, New(), Comparison{Root: there, Branch: "feature", Default: "main"}, Stat{Commits: 1, Files: 1, Added: 1})
}

// Where origin is ahead of main, what the branch has from there is not its own.
func TestWhatTheDefaultBranchHasAtOriginIsNotCounted(t *testing.T) {
	root := repository(t)
	there := filepath.Join(t.TempDir(), "clone")
	do(t, root, "clone", "--quiet", root, there)
	commitFile(t, root, "others", "1\n2\n")
	do(t, there, "fetch", "--quiet")
	do(t, there, "switch", "--quiet", "--no-track", "-c", "feature", "origin/main")
	commitFile(t, there, "own", "1\n")
	wantStat(t, New(), Comparison{Root: there, Branch: "feature", Default: "main"}, Stat{Commits: 1, Files: 1, Added: 1})
}

func TestBranchesWithNothingInCommon(t *testing.T) {
	root := repository(t)
	do(t, root, "switch", "--quiet", "--orphan", "feature")
	commitFile(t, root, "a", "1\n")
	c := Comparison{Root: root, Branch: "feature", Default: "main"}
	wantStat(t, New(), c, Stat{Commits: 1, Files: 1, Added: 1})
	base, text, _, err := New().BranchDiff(context.Background(), c, 1<<20)
	if base != "" || err != nil || told(diff.Parse(text)) != "a +1\n" {
		t.Errorf("%q, %v\n%s", base, err, text)
	}
}

func TestDiffOfAllThatFilesCanBe(t *testing.T) {
	root := repository(t)
	long := strings.Repeat("a line that stays\n", 20)
	commitFile(t, root, "old name.txt", long)
	commitFile(t, root, "gone", "what nobody needs\n")
	commitFile(t, root, "script", "x\n")
	commitFile(t, root, "same", "x\n")
	c := feature(t, root)
	do(t, c.Worktree, "mv", "old name.txt", "new \"name\" ü.txt")
	do(t, c.Worktree, "rm", "--quiet", "gone")
	do(t, c.Worktree, "update-index", "--chmod=+x", "script")
	if err := os.Chmod(filepath.Join(c.Worktree, "script"), 0o755); err != nil {
		t.Fatal(err)
	}
	do(t, c.Worktree, "commit", "--quiet", "-m", "move")
	for name, text := range map[string]string{
		"a b/a b": "1\n", "tab\there": "1\n", "line\nend": "1\n", "-n": "1\n", "\xff": "1\n", ":(top)x": "1\n", "日本": "1\n", "empty": "", "no end": "1", "crlf": "1\r\n",
		"colour": "\x1b[31mred\n", "header": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n", "picture": "\x00\x01\x02",
	} {
		write(t, c.Worktree, name, text)
	}
	do(t, c.Worktree, "add", "--all")
	do(t, c.Worktree, "commit", "--quiet", "-m", "odd")
	if err := os.Chtimes(filepath.Join(c.Worktree, "same"), past, past); err != nil { // it looks changed, and is not
		t.Fatal(err)
	}
	wantDiff(t, c, `-n +1
:(top)x +1
a b/a b +1
colour +red
crlf +1
empty
gone -what nobody needs
header +--- a/x ++++ b/x +@@ -1 +1 @@
line end +1
new "name" ü.txt was old name.txt
no end +1
picture binary
script
tab here +1
日本 +1
`+"\ufffd +1\n")
	wantStat(t, New(), c, Stat{Commits: 2, Files: 16, Added: 13, Deleted: 1})
}

func TestDiffLooksTheSameWhateverIsConfigured(t *testing.T) {
	root := repository(t)
	commitFile(t, root, "a", "1\n\n\n\n\n\n\n\n2\n")
	commitFile(t, root, ".gitattributes", "*.up diff=up\n")
	commitFile(t, root, "b.up", "small\n")
	c := feature(t, root)
	commitFile(t, c.Worktree, "a", "one\n\n\n\n\n\n\n\ntwo\n")
	commitFile(t, c.Worktree, "b.up", "SMALL\n")
	ctx := context.Background()
	_, want, _, err := New().BranchDiff(ctx, c, 1<<20)
	if err != nil || !strings.Contains(want, "diff --git a/a b/a\n") {
		t.Fatalf("%v\n%s", err, want)
	}
	trap := filepath.Join(t.TempDir(), "trap")
	for key, value := range map[string]string{
		"color.ui": "always", "color.diff": "always", "diff.noprefix": "true", "diff.mnemonicPrefix": "true", "diff.external": "touch " + trap,
		"diff.context": "0", "diff.interHunkContext": "20", "diff.renames": "false", "diff.submodule": "log", "diff.relative": "true", "diff.algorithm": "patience",
		"diff.up.textconv": "tr A-Z a-z <", "diff.up.command": "touch " + trap, "diff.suppressBlankEmpty": "true", "core.quotePath": "false", "diff.orderFile": trap,
		"core.pager": "touch " + trap, "pager.diff": "true", "diff.wsErrorHighlight": "all", "diff.colorMoved": "zebra", "diff.wordRegex": ".", "core.hooksPath": "/nowhere",
	} {
		do(t, root, "config", key, value)
	}
	_, got, _, err := New().BranchDiff(ctx, c, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	wantStat(t, New(), c, Stat{Commits: 2, Files: 2, Added: 3, Deleted: 3})
	if _, err := os.Stat(trap); err == nil {
		t.Error("a program of the configuration was run")
	}
}

func TestAHugeDiffIsCutAtALineEnd(t *testing.T) {
	root := repository(t)
	c := feature(t, root)
	commitFile(t, c.Worktree, "big", strings.Repeat("another line of it\n", 400_000))
	const limit = 2 << 20
	base, text, cut, err := New().BranchDiff(context.Background(), c, limit)
	if err != nil || !cut || base == "" || len(text) > limit || len(text) < limit-100 || !strings.HasSuffix(text, "of it\n") {
		t.Fatalf("%v, %v, %q, %d bytes", err, cut, base, len(text))
	}
	if files := diff.Parse(text); len(files) != 1 || files[0].Added < 100_000 {
		t.Errorf("%d files", len(files))
	}
	commitFile(t, c.Worktree, "big", strings.Repeat("one line", 400_000))
	if _, text, cut, err = New().BranchDiff(context.Background(), c, limit); err != nil || !cut || strings.Contains(text, "one line") {
		t.Errorf("%v, %v, %d bytes", err, cut, len(text))
	}
	wantStat(t, New(), c, Stat{Commits: 2, Files: 1, Added: 1})
}

// Agents work in the worktree at the same time: nothing of theirs may be locked or written.
func TestLookingLeavesTheIndexAlone(t *testing.T) {
	root := repository(t)
	commitFile(t, root, "a", "1\n")
	c := feature(t, root)
	commitFile(t, c.Worktree, "a", "2\n")
	write(t, c.Worktree, "a", "3\n")
	l, err := layoutOf(c.Worktree)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(c.Worktree, ".git"), past, past); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(l.git, "index"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, l.git, "index.lock", "") // an agent's git is at work
	wantStat(t, New(), c, Stat{Commits: 1, Files: 1, Added: 1, Deleted: 1})
	wantDiff(t, c, "a -1 +3\n")
	after, err := os.Stat(filepath.Join(l.git, "index"))
	if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("the index was written: %v", err)
	}
}

func TestLookingEndsWithItsContext(t *testing.T) {
	root := repository(t)
	c := feature(t, root)
	commitFile(t, c.Worktree, "a", "1\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New().DiffStat(ctx, c); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, _, _, err := New().BranchDiff(ctx, c, 100); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
