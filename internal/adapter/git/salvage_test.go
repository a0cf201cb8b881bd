package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever is in a worktree and in no commit is at the salvage ref, and the worktree is as
// its HEAD afterwards.
// A lock that a killed git has left on a salvage ref keeps nothing from being saved: the next number is free.
func TestSalvageTakesTheNextNumber(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "f", "0")
	dir := worktreeOf(t, root)
	ctx := context.Background()
	refs := filepath.Join(root, ".git/refs/orange/salvage/task1")
	write(t, refs, "1.lock", "")
	write(t, refs, "2.lock", "")
	for _, want := range []string{"3", "4"} {
		write(t, dir, "f", want)
		ref, err := New().SalvageWork(ctx, dir, "task1")
		if err != nil || ref != "refs/orange/salvage/task1/"+want || salvaged(t, root, ref, "f") != want {
			t.Errorf("got %q, %v", ref, err)
		}
	}
	if !pathExists(refs, "1.lock") {
		t.Error("the lock is gone")
	}
}

func TestSalvageAndClean(t *testing.T) {
	t.Parallel()
	type situation struct{ root, dir string }
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, s situation)
		kept    map[string]string // files at the ref
		parents map[string]string // files at its further parents
		none    bool              // there is nothing to keep
		stay    []string          // ignored files that stay
	}{
		"nothing": {arrange: func(*testing.T, situation) {}, none: true},
		"a changed file": {
			arrange: func(t *testing.T, s situation) { write(t, s.dir, "f", "changed") },
			kept:    map[string]string{"f": "changed"},
		},
		"an untracked file in a folder": {
			arrange: func(t *testing.T, s situation) { write(t, s.dir, "deep/ä b", "new") },
			kept:    map[string]string{"deep/ä b": "new", "f": "0"},
		},
		"a deleted file": {
			arrange: func(t *testing.T, s situation) { do(t, s.dir, "rm", "-q", "f"); write(t, s.dir, "g", "1") },
			kept:    map[string]string{"g": "1"},
		},
		"an ignored file": {
			arrange: func(t *testing.T, s situation) { write(t, s.dir, "cache/x", "big") },
			none:    true, stay: []string{"cache/x"},
		},
		"staged and then taken back": {
			arrange: func(t *testing.T, s situation) {
				write(t, s.dir, "f", "only staged")
				do(t, s.dir, "add", "f")
				write(t, s.dir, "f", "0")
			},
			parents: map[string]string{"f": "only staged"},
		},
		"staged and then changed again": {
			arrange: func(t *testing.T, s situation) {
				write(t, s.dir, "f", "staged")
				do(t, s.dir, "add", "f")
				write(t, s.dir, "f", "later")
			},
			kept: map[string]string{"f": "later"}, parents: map[string]string{"f": "staged"},
		},
		"meant to be added": {
			arrange: func(t *testing.T, s situation) {
				write(t, s.dir, "n", "n")
				do(t, s.dir, "add", "--intent-to-add", "n")
			},
			kept: map[string]string{"n": "n"},
		},
		"hidden by skip-worktree": {
			arrange: func(t *testing.T, s situation) {
				do(t, s.dir, "update-index", "--skip-worktree", "f")
				write(t, s.dir, "f", "hidden")
			},
			kept: map[string]string{"f": "hidden"},
		},
		"hidden by assume-unchanged": {
			arrange: func(t *testing.T, s situation) {
				do(t, s.dir, "update-index", "--assume-unchanged", "f")
				write(t, s.dir, "f", "hidden")
			},
			kept: map[string]string{"f": "hidden"},
		},
		"a merge with conflicts": {
			arrange: func(t *testing.T, s situation) {
				do(t, s.dir, "switch", "-q", "-c", "x")
				commitFile(t, s.dir, "f", "x")
				commitFile(t, s.root, "f", "m")
				fails(t, s.dir, "merge", "main")
				write(t, s.dir, "f", "half resolved")
			},
			kept: map[string]string{"f": "half resolved"},
		},
		"a merge of a commit that is on no branch": {
			arrange: func(t *testing.T, s situation) {
				do(t, s.dir, "switch", "-q", "--detach")
				commitFile(t, s.dir, "lost", "lost")
				lost := out(t, s.dir, "rev-parse", "HEAD")
				do(t, s.dir, "switch", "-q", "-c", "x", "main")
				do(t, s.dir, "merge", "-q", "--no-commit", "--no-ff", lost)
			},
			kept: map[string]string{"lost": "lost"}, parents: map[string]string{"lost": "lost"},
		},
		"a rebase with conflicts": {
			arrange: func(t *testing.T, s situation) {
				do(t, s.dir, "switch", "-q", "-c", "x")
				commitFile(t, s.dir, "first", "1")
				commitFile(t, s.dir, "f", "x")
				commitFile(t, s.root, "f", "m")
				fails(t, s.dir, "rebase", "main")
				write(t, s.dir, "f", "half resolved")
			},
			kept: map[string]string{"f": "half resolved", "first": "1"},
		},
		"a rebase that has put changes by": {
			arrange: func(t *testing.T, s situation) {
				do(t, s.dir, "switch", "-q", "-c", "x")
				commitFile(t, s.dir, "f", "x")
				commitFile(t, s.dir, "g", "g")
				commitFile(t, s.root, "f", "m")
				write(t, s.dir, "g", "put by")
				fails(t, s.dir, "rebase", "--autostash", "main")
			},
			kept: map[string]string{}, parents: map[string]string{"g": "put by"},
		},
		"a merge that has put changes by": {
			arrange: func(t *testing.T, s situation) {
				do(t, s.dir, "switch", "-q", "-c", "x")
				commitFile(t, s.dir, "f", "x")
				commitFile(t, s.dir, "g", "g")
				commitFile(t, s.root, "f", "m")
				write(t, s.dir, "g", "put by")
				fails(t, s.dir, "merge", "--autostash", "main")
			},
			parents: map[string]string{"g": "put by"},
		},
		"a cherry-pick with conflicts": {
			arrange: func(t *testing.T, s situation) {
				do(t, s.dir, "switch", "-q", "-c", "x")
				commitFile(t, s.dir, "f", "x")
				commitFile(t, s.root, "f", "m")
				fails(t, s.dir, "cherry-pick", "main")
			},
			kept: map[string]string{},
		},
		"a revert with conflicts": {
			arrange: func(t *testing.T, s situation) {
				do(t, s.dir, "switch", "-q", "-c", "x")
				commitFile(t, s.dir, "f", "x")
				commitFile(t, s.dir, "f", "y")
				fails(t, s.dir, "revert", "HEAD~1")
			},
			kept: map[string]string{},
		},
		"a bisection": {
			arrange: func(t *testing.T, s situation) {
				do(t, s.dir, "switch", "-q", "-c", "x")
				for range 5 {
					commit(t, s.dir)
				}
				do(t, s.dir, "bisect", "start", "HEAD", "HEAD~4")
			},
			none: true,
		},
		"commits on no branch": {
			arrange: func(t *testing.T, s situation) { commitFile(t, s.dir, "d", "detached") },
			kept:    map[string]string{"d": "detached"},
		},
		"commits on a branch": {
			arrange: func(t *testing.T, s situation) {
				do(t, s.dir, "switch", "-q", "-c", "x")
				commitFile(t, s.dir, "d", "d")
			},
			none: true,
		},
		"a branch without a commit": {
			arrange: func(t *testing.T, s situation) {
				do(t, s.dir, "switch", "-q", "--orphan", "fresh")
				write(t, s.dir, "o", "o")
				do(t, s.dir, "add", "o")
			},
			kept: map[string]string{"o": "o"},
		},
		"a file in the place of a folder, and a folder in that of a file": {
			arrange: func(t *testing.T, s situation) {
				do(t, s.dir, "rm", "-q", "f")
				write(t, s.dir, "f/inner", "i")
				if err := os.RemoveAll(filepath.Join(s.dir, "folder")); err != nil {
					t.Fatal(err)
				}
				write(t, s.dir, "folder", "now a file")
			},
			kept: map[string]string{"f/inner": "i", "folder": "now a file"},
		},
		"a link and an executable file": {
			arrange: func(t *testing.T, s situation) {
				if err := os.Symlink("/nowhere", filepath.Join(s.dir, "l")); err != nil {
					t.Fatal(err)
				}
				write(t, s.dir, "run", "#!/bin/sh")
				if err := os.Chmod(filepath.Join(s.dir, "run"), 0o755); err != nil {
					t.Fatal(err)
				}
			},
			kept: map[string]string{"l": "/nowhere", "run": "#!/bin/sh"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := repository(t)
			commitFile(t, root, "f", "0")
			commitFile(t, root, "folder/x", "x")
			commitFile(t, root, ".gitignore", "/cache/\n")
			s := situation{root: root, dir: worktreeOf(t, root)}
			tc.arrange(t, s)
			before := out(t, s.dir, "for-each-ref", "refs/heads", "refs/tags", "refs/stash")

			ref := salvageAndClean(t, s.dir, "task1")
			if (ref == "") != tc.none {
				t.Fatalf("salvage %q", ref)
			}
			for file, want := range tc.kept {
				if got := salvaged(t, s.dir, ref, file); got != want {
					t.Errorf("%s at %s is %q, want %q", file, ref, got, want)
				}
			}
			for file, want := range tc.parents {
				if !inSomeParent(t, s.dir, ref, file, want) {
					t.Errorf("no parent of %s has %s with %q", ref, file, want)
				}
			}
			for _, file := range tc.stay {
				if !pathExists(s.dir, file) {
					t.Errorf("%s is gone", file)
				}
			}
			if after := out(t, s.dir, "for-each-ref", "refs/heads", "refs/tags", "refs/stash"); after != before {
				t.Errorf("refs were\n%s\nand are\n%s", before, after)
			}
			if again := salvageAndClean(t, s.dir, "task1"); again != "" {
				t.Errorf("there is more to salvage: %s", again)
			}
			if text := out(t, s.dir, "status"); strings.Contains(text, "in progress") || strings.Contains(text, "bisecting") {
				t.Errorf("still under way: %s", text)
			}
		})
	}
}

func inSomeParent(t *testing.T, dir, ref, file, want string) bool {
	t.Helper()
	parents := strings.Fields(out(t, dir, "rev-list", "--max-count=1", "--parents", ref))[1:]
	return slices.ContainsFunc(parents[1:], func(p string) bool {
		return out(t, dir, "ls-tree", "--name-only", p, "--", file) == file && salvaged(t, dir, p, file) == want
	})
}

// Called again before the work was cleared away, it is the same work.
func TestSalvageTwiceIsOneSalvage(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "f", "0")
	dir := worktreeOf(t, root)
	write(t, dir, "f", "1")
	write(t, dir, "new", "n")
	ctx := context.Background()
	var refs []string
	for range 2 {
		ref, err := New().SalvageWork(ctx, dir, "task1")
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	// A part of it is in the ref, too: a clearing may be cut short.
	if err := os.Remove(filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	ref, err := New().SalvageWork(ctx, dir, "task1")
	if err != nil {
		t.Fatal(err)
	}
	want := "refs/orange/salvage/task1/1"
	if diff := cmp.Diff([]string{want, want, want}, append(refs, ref)); diff != "" {
		t.Error(diff)
	}
	write(t, dir, "f", "2")
	if ref, err = New().SalvageWork(ctx, dir, "task1"); ref != "refs/orange/salvage/task1/2" || err != nil {
		t.Errorf("new work: %q, %v", ref, err)
	}
	if ref, err = New().SalvageWork(ctx, dir, "task2"); ref != "refs/orange/salvage/task2/1" || err != nil {
		t.Errorf("another name: %q, %v", ref, err)
	}
}

func TestCleanWithoutASalvageIsRefused(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "f", "0")
	dir := worktreeOf(t, root)
	write(t, dir, "f", "1")
	ctx := context.Background()
	wantError(t, New().CleanWorktree(ctx, dir, "task1"), "not saved yet")
	if _, err := New().SalvageWork(ctx, dir, "task1"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "later", "l")
	wantError(t, New().CleanWorktree(ctx, dir, "task1"), "not saved yet")
	if read(t, dir, "f") != "1" || read(t, dir, "later") != "l" {
		t.Error("something was cleared")
	}
}

func TestSalvages(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "f", "0")
	dir := worktreeOf(t, root)
	write(t, dir, "f", "1")
	write(t, dir, "ä b", "n")
	salvageAndClean(t, dir, "task1")
	do(t, dir, "switch", "-q", "--orphan", "fresh")
	write(t, dir, "o", "o")
	salvageAndClean(t, dir, "task2")
	list, err := New().ListSalvages(context.Background(), root)
	if err != nil || len(list) != 2 {
		t.Fatalf("got %+v, %v", list, err)
	}
	for i, want := range []Salvage{
		{Ref: "refs/orange/salvage/task1/1", Task: "task1", Files: []string{"f", "ä b"}},
		{Ref: "refs/orange/salvage/task2/1", Task: "task2", Files: []string{"o"}},
	} {
		got := list[i]
		if got.Time.IsZero() {
			t.Error("no time")
		}
		want.Time, want.Commit = got.Time, out(t, root, "rev-parse", want.Ref)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if list, err := New().ListSalvages(context.Background(), repository(t)); len(list) != 0 || err != nil {
		t.Errorf("got %+v, %v", list, err)
	}
}

// Hooks and signing are a person's; a salvage needs neither, nor an identity.
func TestSalvageRunsNoHookAndSignsNothing(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "f", "0")
	dir := worktreeOf(t, root)
	for _, hook := range []string{"pre-commit", "commit-msg", "post-checkout", "reference-transaction", "post-index-change"} {
		write(t, root, ".git/hooks/"+hook, "#!/bin/sh\ntouch "+root+"/.git/hook-ran\nexit 1\n")
		if err := os.Chmod(filepath.Join(root, ".git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, setting := range []string{"commit.gpgSign=true", "user.useConfigOnly=true", "gpg.program=false"} {
		key, value, _ := strings.Cut(setting, "=")
		do(t, root, "config", key, value)
	}
	write(t, dir, "f", "1")
	ref := salvageAndClean(t, dir, "task1")
	if err := New().DetachHead(context.Background(), dir, out(t, root, "rev-parse", "main")); err != nil {
		t.Error(err)
	}
	if pathExists(root, ".git/hook-ran") {
		t.Error("a hook ran")
	}
	if who := out(t, dir, "log", "-1", "--format=%an <%ce>", ref); who != "Orange <orange@localhost>" {
		t.Errorf("made by %s", who)
	}
	do(t, root, "config", "user.name", "Someone")
	do(t, root, "config", "user.email", "someone@example.com")
	write(t, dir, "f", "2")
	if who := out(t, dir, "log", "-1", "--format=%an", salvageAndClean(t, dir, "task1")); who != "Someone" {
		t.Errorf("made by %s", who)
	}
}

// What was kept before is enough only if it leads to everything that is there now.
func TestSalvageAgainOnlyIfSomethingIsMissing(t *testing.T) {
	t.Parallel()
	root := repository(t)
	commitFile(t, root, "f", "0")
	dir := worktreeOf(t, root)
	ctx := context.Background()
	commitFile(t, dir, "first", "1")
	write(t, dir, "f", "1")
	want := func(n, file, text string) {
		t.Helper()
		ref, err := New().SalvageWork(ctx, dir, "task1")
		if err != nil || ref != "refs/orange/salvage/task1/"+n {
			t.Fatalf("got %q, %v, want number %s", ref, err, n)
		}
		if text != "" && salvaged(t, dir, ref, file) != text {
			t.Errorf("%s has %q of %s", ref, salvaged(t, dir, ref, file), file)
		}
	}
	want("1", "first", "1")
	do(t, dir, "add", "f")
	do(t, dir, "commit", "-q", "--allow-empty", "--only", "-m", "one more, on no branch")
	want("2", "first", "1")

	write(t, dir, "f", "put by")
	stash := out(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "stash", "create")
	write(t, dir, "f", "1")
	want("2", "f", "1")
	write(t, root, ".git/worktrees/w/MERGE_AUTOSTASH", stash+"\n")
	want("3", "f", "1")
	if !inSomeParent(t, dir, "refs/orange/salvage/task1/3", "f", "put by") {
		t.Error("what was put by is not kept")
	}
}
