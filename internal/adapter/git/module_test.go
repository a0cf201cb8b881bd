package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bringBack restores a salvage in a new clone of the project, with the submodules of the
// remote: from the ref alone, and from what the list contains about it.
func bringBack(t *testing.T, root, ref string) (clone string, s Salvage) {
	t.Helper()
	list, err := New().ListSalvages(context.Background(), root)
	if err != nil {
		t.Fatal(err)
	}
	for _, s = range list {
		if s.Ref == ref {
			break
		}
	}
	if s.Ref != ref || s.Commit != out(t, root, "rev-parse", ref) {
		t.Fatalf("%s is not in the list: %+v", ref, list)
	}
	clone = filepath.Join(t.TempDir(), "clone")
	do(t, root, "clone", "-q", "--recurse-submodules", "--branch", "main", root, clone)
	do(t, clone, "fetch", "-q", "--no-recurse-submodules", root, ref)
	do(t, clone, "switch", "-q", "-c", "back", "FETCH_HEAD")
	for i, sub := range s.Submodules {
		branch := "refs/heads/back" + strings.Repeat("-more", i)
		do(t, filepath.Join(clone, sub.Path), "fetch", "-q", "--no-recurse-submodules", sub.Repository, sub.Ref+":"+branch)
	}
	return clone, s
}

// discard removes a worktree as git does, with all that only it has.
func discard(t *testing.T, root, dir string) {
	t.Helper()
	do(t, root, "worktree", "remove", "--force", dir)
	do(t, root, "-c", "gc.pruneExpire=now", "-c", "gc.reflogExpire=now", "gc", "-q", "--prune=now")
	if pathExists(root, ".git/worktrees/w/modules") {
		t.Fatal("the submodules' repositories are still there")
	}
}

// Commits in a submodule that no remote has outlive the worktree they were made in.
func TestCommitsInASubmoduleOutliveTheWorktree(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, dir, lib string)
		want    string // content of s in what was kept, of each tip
	}{
		"named by the branch": {func(t *testing.T, dir, lib string) {
			commitFile(t, lib, "s", "committed")
			do(t, dir, "commit", "-q", "-a", "-m", "lib")
		}, "committed"},
		"on a branch of the submodule": {func(t *testing.T, dir, lib string) {
			do(t, lib, "switch", "-q", "-c", "fix")
			commitFile(t, lib, "s", "committed")
			do(t, dir, "commit", "-q", "-a", "-m", "lib")
		}, "committed"},
		"tagged": {func(t *testing.T, dir, lib string) {
			commitFile(t, lib, "s", "committed")
			do(t, lib, "tag", "v1")
		}, "committed"},
		"not named by anything": {func(t *testing.T, _, lib string) { commitFile(t, lib, "s", "committed") }, "committed"},
		"only staged around it": {func(t *testing.T, dir, lib string) {
			before := out(t, lib, "rev-parse", "HEAD")
			commitFile(t, lib, "s", "committed")
			do(t, dir, "add", "lib")
			do(t, lib, "checkout", "-q", before)
		}, "committed"},
		"named by an earlier commit of the branch": {func(t *testing.T, dir, lib string) {
			before := out(t, lib, "rev-parse", "HEAD")
			commitFile(t, lib, "s", "committed")
			do(t, dir, "commit", "-q", "-a", "-m", "lib")
			do(t, lib, "reset", "-q", "--hard", before)
			commitFile(t, lib, "s", "anew")
			do(t, dir, "commit", "-q", "-a", "-m", "lib again")
		}, "anew committed"},
		"put by": {func(t *testing.T, _, lib string) {
			for _, text := range []string{"first", "second"} {
				write(t, lib, "s", text)
				do(t, lib, "stash", "-q")
			}
		}, "first second"},
		"of a submodule that is not checked out any more": {func(t *testing.T, dir, lib string) {
			commitFile(t, lib, "s", "committed")
			do(t, dir, "commit", "-q", "-a", "-m", "lib")
			do(t, dir, "submodule", "--quiet", "deinit", "-f", "lib")
		}, "committed"},
		"changes": {func(t *testing.T, _, lib string) {
			commitFile(t, lib, "s", "committed")
			write(t, lib, "s", "changed")
		}, "changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, dir, lib := withSubmodule(t)
			do(t, dir, "switch", "-q", "-c", "task")
			tc.arrange(t, dir, lib)
			ctx := context.Background()
			ref, err := New().SalvageWork(ctx, dir, "task1")
			if err != nil {
				t.Fatal(err)
			}
			if again, err := New().SalvageWork(ctx, dir, "task1"); again != ref || err != nil {
				t.Errorf("again: %q, %v, want %s", again, err, ref)
			}
			if err := New().CleanWorktree(ctx, dir, "task1"); err != nil {
				t.Fatal(err)
			}
			if other, err := New().SalvageWork(ctx, dir, "task2"); other != "" || err != nil {
				t.Errorf("it was kept for another task, too: %s, %v", other, err)
			}
			discard(t, root, dir)
			clone, s := bringBack(t, root, ref)
			var got []string
			for i := range s.Submodules {
				got = append(got, out(t, filepath.Join(clone, "lib"), "show", "back"+strings.Repeat("-more", i)+":s"))
			}
			for want := range strings.FieldsSeq(tc.want) {
				if !strings.Contains(strings.Join(got, " "), want) {
					t.Errorf("kept %q, want %s", got, tc.want)
				}
			}
			if len(got) != len(strings.Fields(tc.want)) {
				t.Errorf("kept %q, want %s", got, tc.want)
			}
			do(t, clone, "submodule", "--quiet", "update") // what the salvage names is there
			if branch := out(t, root, "rev-parse", "task:lib"); name != "put by" {
				do(t, filepath.Join(clone, "lib"), "cat-file", "-e", branch)
			}
		})
	}
}

// A worktree that was cleared and goes to the next task has no second salvage for the
// commits that its submodule still has.
func TestCommitsInASubmoduleAreListedOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	_, dir, lib := withSubmodule(t)
	do(t, dir, "switch", "-q", "-c", "task")
	commitFile(t, lib, "s", "committed")
	do(t, dir, "commit", "-q", "-a", "-m", "lib")
	write(t, dir, "f", "not committed")
	ref, err := New().SalvageWork(ctx, dir, "task1")
	if err != nil || ref == "" {
		t.Fatalf("%q, %v", ref, err)
	}
	if err := New().CleanWorktree(ctx, dir, "task1"); err != nil {
		t.Fatal(err)
	}
	do(t, dir, "submodule", "--quiet", "deinit", "-f", "lib")
	do(t, dir, "switch", "-q", "--detach", "main")
	if again, err := New().SalvageWork(ctx, dir, "task1"); again != ref || err != nil {
		t.Errorf("again: %q, %v, want %s", again, err, ref)
	}
}

// What the remote has is not kept, however it was checked out.
func TestSubmodulesThatWereOnlyCheckedOutAreNotKept(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(t *testing.T, source, root string, update func(args ...string)){
		"a tag that is on no branch": func(t *testing.T, source, root string, update func(...string)) {
			do(t, source, "switch", "-q", "--detach")
			commitFile(t, source, "s", "released")
			do(t, source, "tag", "v1")
			do(t, filepath.Join(root, "lib"), "fetch", "-q", "--tags")
			do(t, filepath.Join(root, "lib"), "checkout", "-q", "v1")
			do(t, root, "commit", "-q", "-a", "-m", "v1")
			update()
		},
		"shallow": func(t *testing.T, source, root string, update func(...string)) {
			do(t, source, "config", "uploadpack.allowAnySHA1InWant", "true")
			for _, text := range []string{"1", "2", "3"} {
				commitFile(t, source, "s", text)
			}
			do(t, root, "config", "-f", ".gitmodules", "submodule.lib.url", "file://"+source)
			do(t, root, "commit", "-q", "-a", "-m", "by address")
			update("--depth", "1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := repository(t)
			commitFile(t, source, "s", "0")
			root := repository(t)
			do(t, root, "submodule", "--quiet", "add", source, "lib")
			do(t, root, "commit", "-q", "-m", "lib")
			var dir string
			arrange(t, source, root, func(args ...string) {
				dir = worktreeOf(t, root)
				do(t, dir, append([]string{"submodule", "--quiet", "update", "--init"}, args...)...)
			})
			if ref := salvageAndClean(t, dir, "task1"); ref != "" {
				t.Errorf("kept: %s", out(t, dir, "log", "-1", "--format=%B", ref))
			}
			if pathExists(root, ".git/orange") {
				t.Error("a repository was made for nothing")
			}
			lib := filepath.Join(dir, "lib")
			commitFile(t, lib, "s", "committed")
			ref, err := New().SalvageWork(context.Background(), dir, "task1")
			if err != nil {
				t.Fatal(err)
			}
			list, err := New().ListSalvages(context.Background(), root)
			if err != nil || len(list) != 1 || list[0].Ref != ref || len(list[0].Submodules) != 1 {
				t.Fatalf("got %+v, %v", list, err)
			}
			if pathExists(root, ".git/shallow") {
				t.Error("the repository of the project is shallow now")
			}
			if got := out(t, list[0].Submodules[0].Repository, "show", list[0].Submodules[0].Ref+":s"); got != "committed" {
				t.Errorf("kept %q", got)
			}
		})
	}
}

// A submodule inside a submodule, under a name that is not its path.
func TestCommitsInANestedSubmoduleAreKept(t *testing.T) {
	t.Parallel()
	inner, outer, root := repository(t), repository(t), repository(t)
	commitFile(t, inner, "s", "0")
	do(t, outer, "submodule", "--quiet", "add", "--name", "other/name", inner, "deep/in ner")
	do(t, outer, "commit", "-q", "-m", "inner")
	do(t, root, "submodule", "--quiet", "add", "--name", "a/b", outer, "lib")
	do(t, root, "commit", "-q", "-m", "lib")
	dir := worktreeOf(t, root)
	do(t, dir, "submodule", "--quiet", "update", "--init", "--recursive")
	commitFile(t, filepath.Join(dir, "lib/deep/in ner"), "s", "committed")
	ref, err := New().SalvageWork(context.Background(), dir, "task1")
	if err != nil {
		t.Fatal(err)
	}
	if err := New().CleanWorktree(context.Background(), dir, "task1"); err != nil {
		t.Fatal(err)
	}
	if err := New().RemoveWorktree(context.Background(), dir); err != nil || pathExists(root, ".git/worktrees/w") {
		t.Fatalf("it was not removed: %v", err)
	}
	_, s := bringBack(t, root, ref)
	found := false
	for _, sub := range s.Submodules {
		if sub.Path == "lib/deep/in ner" {
			found = out(t, sub.Repository, "show", sub.Ref+":s") == "committed"
		}
	}
	if !found {
		t.Errorf("kept %+v", s.Submodules)
	}
}

// A worktree whose folder is gone still has its index, the commits of an operation in progress,
// and the repositories of its submodules.
func TestForgetKeepsWhatIsLeft(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, root, dir string)
		want    map[string]string // of the salvage
		parents map[string]string // of its further parents
		lib     string
	}{
		"a staged file": {
			arrange: func(t *testing.T, _, dir string) { write(t, dir, "new", "staged"); do(t, dir, "add", "new") },
			want:    map[string]string{"new": "staged"},
		},
		"a staged file in an index of two parts": {
			arrange: func(t *testing.T, _, dir string) {
				do(t, dir, "update-index", "--split-index")
				write(t, dir, "new", "staged")
				do(t, dir, "add", "new")
			},
			want: map[string]string{"new": "staged"},
		},
		"a staged file beside a conflict": {
			arrange: func(t *testing.T, root, dir string) {
				commitFile(t, dir, "f", "x")
				commitFile(t, root, "f", "m")
				fails(t, dir, "merge", "main")
				write(t, dir, "new", "staged")
				do(t, dir, "add", "new")
			},
			want: map[string]string{"new": "staged", "f": "x"},
		},
		"changes that a rebase has put by": {
			arrange: func(t *testing.T, root, dir string) {
				commitFile(t, dir, "f", "x")
				commitFile(t, dir, "g", "g")
				commitFile(t, root, "f", "m")
				write(t, dir, "g", "put by")
				fails(t, dir, "rebase", "--autostash", "main")
			},
			parents: map[string]string{"g": "put by"},
		},
		"commits in a submodule": {
			arrange: func(t *testing.T, _, dir string) {
				commitFile(t, filepath.Join(dir, "lib"), "s", "committed")
				do(t, dir, "commit", "-q", "-a", "-m", "lib")
			},
			lib: "committed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, dir, _ := withSubmodule(t)
			do(t, dir, "switch", "-q", "-c", "task")
			tc.arrange(t, root, dir)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			ref, _, err := New().ForgetWorktree(context.Background(), root, dir, "task1")
			if err != nil || ref == "" || pathExists(root, ".git/worktrees/w") {
				t.Fatalf("got %q, %v", ref, err)
			}
			for file, want := range tc.want {
				if got := salvaged(t, root, ref, file); got != want {
					t.Errorf("%s is %q, want %q", file, got, want)
				}
			}
			for file, want := range tc.parents {
				if !inSomeParent(t, root, ref, file, want) {
					t.Errorf("no parent of %s has %s with %q", ref, file, want)
				}
			}
			if tc.lib != "" {
				clone, _ := bringBack(t, root, ref)
				if got := out(t, filepath.Join(clone, "lib"), "show", "back:s"); got != tc.lib {
					t.Errorf("lib has %q", got)
				}
			}
		})
	}
}

// A worktree with a submodule is removed only if nothing in it would be lost.
func TestAWorktreeWithASubmoduleIsRemovedWhenAllIsKept(t *testing.T) {
	t.Parallel()
	root, dir, lib := withSubmodule(t)
	ctx := context.Background()
	commitFile(t, lib, "s", "committed")
	before := out(t, lib, "rev-parse", "HEAD~1")
	do(t, lib, "branch", "fix")
	do(t, lib, "checkout", "-q", before)
	wantError(t, New().RemoveWorktree(ctx, dir), "lib")
	if _, err := New().SalvageWork(ctx, dir, "task1"); err != nil {
		t.Fatal(err)
	}
	write(t, lib, "later", "l")
	wantError(t, New().RemoveWorktree(ctx, dir), "changes")
	if read(t, lib, "later") != "l" {
		t.Error("it was removed")
	}
	salvageAndClean(t, dir, "task1")
	if err := New().RemoveWorktree(ctx, dir); err != nil || pathExists(dir, "") || pathExists(root, ".git/worktrees/w") {
		t.Errorf("it was not removed: %v", err)
	}
}

// A damaged repository cannot be fetched from; it is kept as it is.
func TestForgetMovesADamagedSubmodule(t *testing.T) {
	t.Parallel()
	root, dir, lib := withSubmodule(t)
	commitFile(t, lib, "broken", "b")
	blob := out(t, lib, "rev-parse", "HEAD:broken")
	commitFile(t, lib, "s", "committed")
	objects := filepath.Join(out(t, lib, "rev-parse", "--absolute-git-dir"), "objects")
	if err := os.Remove(filepath.Join(objects, blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	ref, _, err := New().ForgetWorktree(context.Background(), root, dir, "task1")
	if err != nil || pathExists(root, ".git/worktrees/w") {
		t.Fatalf("got %q, %v", ref, err)
	}
	list, err := New().ListSalvages(context.Background(), root)
	if err != nil || len(list) != 1 || list[0].Ref != ref || len(list[0].Submodules) != 1 {
		t.Fatalf("got %+v, %v", list, err)
	}
	if s := list[0].Submodules[0]; s.Path != "lib" || out(t, s.Repository, "show", s.Ref+":s") != "committed" {
		t.Errorf("kept %+v", s)
	}
}
