package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/core/task"
)

// breakFilter makes a filter fail that the repository requires for every file.
func breakFilter(t *testing.T, dir, part string) {
	t.Helper()
	do(t, dir, "config", "filter.broken.clean", "cat")
	do(t, dir, "config", "filter.broken.smudge", "cat")
	do(t, dir, "config", "filter.broken."+part, "false")
	do(t, dir, "config", "filter.broken.required", "true")
}

// A checkout that fails leaves nothing of anybody's: trying it again moves no further copy of the
// repository aside.
func TestAcquireThatFailsLeavesOneFolder(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(t *testing.T, b *env, s Slot){
		"the branch cannot be checked out": func(t *testing.T, b *env, s Slot) {
			do(t, b.project.Path, "switch", "--quiet", "-c", s.Branch)
			commitFile(t, b.project.Path, ".gitattributes", "* filter=broken\n")
			commitFile(t, b.project.Path, "f", "1")
			do(t, b.project.Path, "switch", "--quiet", "main")
			breakFilter(t, b.project.Path, "smudge")
			do(t, b.project.Path, "config", "filter.broken.clean", "false")
		},
		"and an earlier task's work cannot be saved": func(t *testing.T, b *env, s Slot) {
			dir := b.acquire(b.slot(2))
			b.release(b.slot(2))
			write(t, dir, "f", "late")
			write(t, dir, ".gitattributes", "* filter=broken\n")
			do(t, b.project.Path, "branch", s.Branch)
			breakFilter(t, b.project.Path, "clean")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.slot(1)
			breaks(t, b, s)
			s.Setup = "echo '* filter=broken' >.gitattributes; git switch -q --detach; touch f; false"
			for range 4 {
				if err := b.Acquire(context.Background(), s); err == nil {
					t.Fatal("it was acquired")
				}
			}
			moved, err := filepath.Glob(filepath.Join(b.root, asideName, "*", "*", "folder*"))
			if err != nil || len(moved) > 1 || len(moved) == 1 && content(t, moved[0], "f") != "late" {
				t.Errorf("moved aside: %q, %v", moved, err)
			}
			if strings.HasPrefix(name, "and") && len(moved) == 0 {
				t.Error("the earlier work is gone")
			}
			s.Setup = ""
			do(t, b.project.Path, "config", "--remove-section", "filter.broken")
			b.acquire(s) // as soon as nothing fails
			b.isReady(s)
		})
	}
}

// What git could not save is not deleted with the rest, however old it is: only by its name.
func TestGCPurgesWholeFoldersByNameOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.Background()
	at := func(name string) string { return filepath.Join(b.root, asideName, "p--1", name) }
	write(t, at("files"), "node_modules/x", "x")
	write(t, at("workspace"), "folder/precious.txt", "p")
	write(t, at("workspace"), "cache/x", "x")
	write(t, at("again"), "folder/f", "0")
	write(t, at("again"), "folder~1/f", "1")
	do(t, b.project.Path, "clone", "-q", b.project.Path, at("repository/deep/inner"))
	write(t, at("linked"), "inner/.git", "gitdir: elsewhere\n")
	past := time.Now().Add(-400 * 24 * time.Hour)
	for _, name := range []string{"files", "workspace", "again", "repository", "linked"} {
		check(t, os.Chtimes(at(name), past, past))
	}
	projects := []task.Project{b.project}
	swept, err := b.GC(ctx, projects, nil, Sweep{Purge: true, Older: time.Hour})
	if err != nil || len(swept.Purged) != 1 || swept.Purged[0].Path != at("files") {
		t.Errorf("purged %+v, %v", swept.Purged, err)
	}
	want := map[string]string{
		at("workspace"): "a whole workspace was set aside 400d ago in ", at("again"): "2 whole workspaces were set aside 400d ago in ",
		at("repository"): "a repository (deep/inner) was set aside 400d ago in ", at("linked"): "a repository (inner) was set aside 400d ago in ",
	}
	for _, k := range swept.Kept {
		if !strings.HasPrefix(k.Reason, want[k.Path]+k.Path) || !strings.HasSuffix(k.Reason, "run orange workspace gc --purge "+k.Path) {
			t.Errorf("%s: %s", k.Path, k.Reason)
		}
		delete(want, k.Path)
	}
	if len(want) > 0 || content(t, at("workspace"), "folder/precious.txt") != "p" || !there(at("repository"), "deep/inner/.git") {
		t.Errorf("not kept: %v", want)
	}
}

// A person deletes what git could not save by naming it.
func TestGCPurgesAFolderByItsName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.Background()
	at := func(name string) string { return filepath.Join(b.root, asideName, "p--1", name) }
	write(t, at("one"), "folder/f", "0")
	write(t, at("one"), "deep/inner/.git/HEAD", "h")
	write(t, at("one"), "cache/x", "x")
	write(t, at("two"), "folder/f", "0")
	write(t, at("old"), "cache/x", "x")
	past := time.Now().Add(-400 * 24 * time.Hour)
	check(t, os.Chtimes(at("old"), past, past))
	projects := []task.Project{b.project}
	for _, name := range []string{at("none"), at("one/cache"), filepath.Dir(at("one")), b.Path("p--1"), "one", ""} {
		_, err := b.GC(ctx, projects, nil, Sweep{Purge: true, Older: time.Hour, Folders: []string{at("two"), name}})
		wantError(t, err, "is not a folder that was set aside: orange workspace gc --dry-run lists them")
	}
	if !there(at("two"), "folder") || !there(at("old"), "cache") {
		t.Fatal("something was deleted")
	}
	swept, err := b.GC(ctx, projects, nil, Sweep{Dry: true, Purge: true, Folders: []string{at("two")}})
	if err != nil || len(swept.Purged) != 1 || !there(at("two"), "folder") {
		t.Fatalf("%+v, %v", swept, err)
	}
	swept, err = b.GC(ctx, projects, nil, Sweep{Purge: true, Folders: []string{at("one/deep/inner"), at("two")}})
	var purged []string
	for _, a := range swept.Purged {
		purged = append(purged, a.Path+": "+a.Describe())
	}
	if want := at("one/deep/inner") + ": a repository (.) " + at("two") + ": a whole workspace"; err != nil || strings.Join(purged, " ") != want {
		t.Errorf("purged %q, want %q, %v", purged, want, err)
	}
	if there(at("one"), "deep") || there(at("two"), "") || content(t, at("one"), "folder/f")+content(t, at("one"), "cache/x")+content(t, at("old"), "cache/x") != "0xx" {
		t.Error("the wrong ones are gone")
	}
}

// Whoever releases a workspace is told where the work is that git could not save, even if the release was
// interrupted after it was moved.
func TestReleaseSaysWhatGitCouldNotSave(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, b *env, dir string)
		want    []string // below .aside/p--1/<task>
	}{
		"all was saved": {func(t *testing.T, _ *env, dir string) {
			commitFile(t, dir, ".gitignore", "packages\n")
			write(t, dir, "packages/x", "x")
		}, nil},
		"a filter that fails": {func(t *testing.T, _ *env, dir string) {
			breakFilter(t, dir, "clean")
			write(t, dir, ".gitattributes", "* filter=broken\n")
		}, []string{"folder"}},
		"no worktree": {func(t *testing.T, _ *env, dir string) { remove(t, dir, ".git") }, []string{"folder"}},
		"a folder in its place": {func(t *testing.T, b *env, dir string) {
			check(t, os.RemoveAll(dir))
			write(t, dir, "late", "l")
		}, []string{"folder"}},
		"repositories": {func(t *testing.T, b *env, dir string) {
			do(t, dir, "clone", "-q", b.project.Path, "deep/one")
			do(t, dir, "init", "-q", "two")
		}, []string{"deep/one", "two"}},
		"no worktree, and pruned": {func(t *testing.T, b *env, dir string) {
			remove(t, dir, ".git")
			do(t, b.project.Path, "worktree", "prune", "--expire", "now")
			if there("/", b.admin("p--1")) {
				check(t, os.RemoveAll(b.admin("p--1")))
			}
		}, []string{"folder"}},
		"removed": {func(t *testing.T, _ *env, dir string) { check(t, os.RemoveAll(dir)) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.slot(1)
			dir := b.acquire(s)
			commitFile(t, dir, "g", "committed")
			write(t, dir, "f", "changed")
			tc.arrange(t, b, dir)
			var want, told []string
			for _, folder := range tc.want {
				want = append(want, filepath.Join(b.root, asideName, "p--1", string(s.Task), folder))
			}
			s.Aside = func(folder string) { told = append(told, folder) }
			for _, when := range []string{"once", "again"} {
				told = nil
				b.release(s)
				if strings.Join(told, " ") != strings.Join(want, " ") {
					t.Errorf("%s: told %q, want %q", when, told, want)
				}
			}
			other := b.slot(2)
			b.acquire(other)
			told = nil
			b.release(s) // another task has it
			if len(told) > 0 {
				t.Errorf("told %q", told)
			}
		})
	}
}
