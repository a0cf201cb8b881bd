package worktree

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/adapter/git"
)

// Files of a workspace that are on no branch are kept when it is released.
func TestReleaseKeepsTheWork(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, root, dir string)
		kept    map[string]string
	}{
		"changes, untracked files and ignored ones": {func(t *testing.T, _, dir string) {
			write(t, dir, "f", "changed")
			write(t, dir, "new/file", "n")
			write(t, dir, "cache/x", "c")
		}, map[string]string{"f": "changed", "new/file": "n"}},
		"a merge with conflicts": {func(t *testing.T, root, dir string) {
			commitFile(t, dir, "f", "task")
			commitFile(t, root, "f", "main")
			if _, err := try(dir, "merge", "main"); err == nil {
				t.Fatal("no conflict")
			}
			write(t, dir, "f", "half")
		}, map[string]string{"f": "half"}},
		"a rebase with conflicts": {func(t *testing.T, root, dir string) {
			commitFile(t, dir, "g", "g")
			commitFile(t, dir, "f", "task")
			commitFile(t, root, "f", "main")
			if _, err := try(dir, "rebase", "main"); err == nil {
				t.Fatal("no conflict")
			}
		}, map[string]string{"g": "g"}},
		"commits on no branch": {func(t *testing.T, _, dir string) {
			do(t, dir, "switch", "-q", "--detach")
			commitFile(t, dir, "d", "d")
		}, map[string]string{"d": "d"}},
		"a deleted TASK.md": {func(t *testing.T, _, dir string) {
			if err := os.Remove(filepath.Join(dir, TaskFileName)); err != nil {
				t.Fatal(err)
			}
		}, nil},
		"TASK.md committed by force": {func(t *testing.T, _, dir string) { commitFile(t, dir, "x", "x"); do(t, dir, "add", "-f", TaskFileName) }, map[string]string{"x": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.slot(1)
			dir := b.acquire(s)
			write(t, dir, ".claude/settings.local.json", "{}")
			tc.arrange(t, b.project.Path, dir)
			tip := do(t, dir, "rev-parse", "task/1")
			ref := b.release(s)
			if (ref != "") != (len(tc.kept) > 0) {
				t.Errorf("salvage %q", ref)
			}
			for file, want := range tc.kept {
				if got := b.salvaged(ref, file); got != want {
					t.Errorf("%s is %q, want %q", file, got, want)
				}
			}
			b.isClear(s.Name)
			if do(t, dir, "rev-parse", "task/1") != tip {
				t.Error("the branch has moved")
			}
			if strings.Contains(name, "ignored") && content(t, dir, "cache/x") != "c" {
				t.Error("the ignored file is gone")
			}
			if again := b.release(s); again != ref {
				t.Errorf("again: %q, want %q", again, ref)
			}
			b.acquire(b.slot(2))
			b.isReady(b.slot(2))
		})
	}
}

// Files that only the task's branch ignored can neither stay nor be committed.
func TestFilesThatOnlyTheTaskIgnoredAreSetAside(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(t *testing.T, dir string){
		"by a commit": func(t *testing.T, dir string) { commitFile(t, dir, ".gitignore", "/cache/\n.env\n/packages/\nnotes\n") },
		"by a change": func(t *testing.T, dir string) { write(t, dir, ".gitignore", "/cache/\n.env\n/packages/\nnotes\n") },
		"by an untracked file": func(t *testing.T, dir string) {
			write(t, dir, "packages/.gitignore", "*\n")
			write(t, dir, "deep/.gitignore", "notes\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.slot(1)
			dir := b.acquire(s)
			arrange(t, dir)
			write(t, dir, "packages/a/b", "installed")
			write(t, dir, "deep/notes", "n")
			b.release(s)
			b.isClear(s.Name)
			aside := filepath.Join(b.root, asideName, "p--1", string(s.Task))
			packages := aside
			if name == "by an untracked file" {
				packages = dir // that file ignores itself: nothing has changed
			}
			if got := content(t, packages, "packages/a/b") + content(t, aside, "deep/notes"); got != "installedn" {
				t.Errorf("set aside: %q", got)
			}
		})
	}
}

// A file that the task ignored and the default branch tracks is in the way of that.
func TestAnIgnoredFileInTheWayIsSetAside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	commitFile(t, b.project.Path, "config", "shared")
	s := b.slot(1)
	dir := b.acquire(s)
	do(t, dir, "rm", "-q", "config")
	commitFile(t, dir, ".gitignore", "/config\n/cache/\n.env\n")
	write(t, dir, "config", "mine alone")
	b.release(s)
	b.isClear(s.Name)
	if content(t, dir, "config") != "shared" || content(t, b.root, filepath.Join(asideName, "p--1", string(s.Task), "config")) != "mine alone" {
		t.Error("it was overwritten")
	}
	// And the other way round: a branch that tracks what an earlier task left ignored.
	write(t, dir, "cache/x", "an earlier task's")
	do(t, b.project.Path, "branch", "task/2")
	do(t, b.project.Path, "switch", "-q", "task/2")
	commitFile(t, b.project.Path, "cache/x", "tracked")
	do(t, b.project.Path, "switch", "-q", "main")
	b.acquire(b.slot(2))
	b.isReady(b.slot(2))
	if content(t, b.root, filepath.Join(asideName, "p--1", string(s.Task), "cache/x")) != "an earlier task's" {
		t.Error("it was overwritten")
	}
}

// A file that is tracked and that the task means to ignore, not committed yet, is neither
// part of the work nor can it stay.
func TestAFileThatIsNotTrackedAnyMoreIsSetAside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	commitFile(t, b.project.Path, "deep/config", "shared")
	s := b.slot(1)
	dir, lib := b.withLibrary(s)
	for _, top := range []string{dir, lib} {
		file := map[string]string{dir: "deep/config", lib: "s"}[top]
		do(t, top, "rm", "-q", "--cached", file)
		write(t, top, ".gitignore", "/cache/\n.env\n*.o\n"+file+"\n")
		write(t, top, file, "mine alone")
	}
	b.release(s)
	b.isClear(s.Name)
	aside := filepath.Join(b.root, asideName, "p--1", string(s.Task))
	if got := content(t, aside, "deep/config") + content(t, aside, "lib/s"); got != "mine alonemine alone" {
		t.Errorf("set aside: %q", got)
	}
	if content(t, dir, "deep/config") != "shared" || content(t, lib, "s") != "0" {
		t.Error("it was not brought back")
	}
}

// Git does not look into the folder of a submodule that is not checked out.
func TestFilesInTheFolderOfASubmoduleAreSetAside(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]func(b *env, s Slot){
		"release": func(b *env, s Slot) { b.release(s); b.isClear(s.Name) },
		"gc": func(b *env, s Slot) {
			b.release(s)
			write(b.t, b.Path(s.Name), "lib/later", "w")
			if swept, err := b.GC(context.Background(), nil, nil, Sweep{}); err != nil || len(swept.Removed) != 1 {
				b.t.Fatalf("got %+v, %v", swept, err)
			}
			if content(b.t, b.root, filepath.Join(asideName, s.Name, string(s.Task), "lib/later")) != "w" {
				b.t.Error("a file is gone")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.slot(1)
			dir, lib := b.withLibrary(s)
			do(t, dir, "submodule", "--quiet", "deinit", "-f", "lib")
			write(t, lib, "deep/new", "work")
			give(b, s)
			if got := content(t, b.root, filepath.Join(asideName, s.Name, string(s.Task), "lib/deep/new")); got != "work" {
				t.Errorf("set aside: %q", got)
			}
		})
	}
}

// A submodule that the task has added and not committed is kept and does not stay.
func TestASubmoduleThatWasAddedIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.slot(1)
	dir := b.acquire(s)
	do(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", b.project.Path, "more")
	commitFile(t, filepath.Join(dir, "more"), "new", "n")
	ref := b.release(s)
	b.isClear(s.Name)
	list, err := git.New().ListSalvages(context.Background(), b.project.Path)
	if err != nil || len(list) != 1 || list[0].Ref != ref || len(list[0].Submodules) != 1 {
		t.Fatalf("got %+v, %v", list, err)
	}
	if sub := list[0].Submodules[0]; sub.Path != "more" || do(t, sub.Repository, "show", sub.Ref+":new") != "n" {
		t.Errorf("kept %+v", sub)
	}
	b.acquire(b.slot(2))
	b.isReady(b.slot(2))
}

// lockOpenly makes a lock as a git command does that is at work.
func lockOpenly(t *testing.T, dir, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	check(t, err)
	return f
}

func TestReleaseStopsWhereWorkCannotBeKept(t *testing.T) {
	t.Parallel()
	var work *os.File
	for name, tc := range map[string]struct {
		arrange, repair func(t *testing.T, b *env, dir string)
		want            string
	}{
		"a git command that is at work": {
			func(t *testing.T, b *env, dir string) { work = lockOpenly(t, b.admin("p--1"), "index.lock") },
			func(t *testing.T, b *env, dir string) {
				check(t, work.Close())
				remove(t, b.admin("p--1"), "index.lock")
			},
			"index.lock exists",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.slot(1)
			dir := b.acquire(s)
			write(t, dir, "f", "changed")
			write(t, dir, "new", "n")
			tc.arrange(t, b, dir)
			_, err := b.Release(context.Background(), s)
			wantError(t, err, tc.want)
			if content(t, dir, "f") != "changed" || content(t, dir, "new") != "n" {
				t.Error("the work is gone")
			}
			if now, err := readBinding(b.admin("p--1"), bindingName); now.Task != s.Task || err != nil {
				t.Errorf("it is not bound any more: %+v, %v", now, err)
			}
			tc.repair(t, b, dir)
			if ref := b.release(s); b.salvaged(ref, "f") != "changed" || b.salvaged(ref, "new") != "n" {
				t.Errorf("salvage %s", ref)
			}
			b.isClear(s.Name)
		})
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// With a full disk nothing is cleared; when there is space again it continues.
func TestReleaseOnAFullDisk(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m", "none", base).Run(); err != nil {
		t.Skip("a small file system cannot be mounted here")
	}
	t.Cleanup(func() {
		if err := exec.Command("umount", "-l", base).Run(); err != nil {
			t.Errorf("unmount %s: %v", base, err)
		}
	})
	b := newBench(t)
	moved := filepath.Join(base, "repo")
	if err := os.CopyFS(moved, os.DirFS(b.project.Path)); err != nil {
		t.Fatal(err)
	}
	b.project.Path = moved
	s := b.slot(1)
	dir := b.acquire(s)
	work := strings.Repeat("work that needs room\n", 3000)
	write(t, dir, "f", work)
	write(t, dir, "new", "n")
	full := filepath.Join(base, "full")
	fill(t, full)
	if _, err := b.Release(context.Background(), s); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	if content(t, dir, "f") != work || content(t, dir, "new") != "n" {
		t.Fatal("the work is gone")
	}
	makeRoom(t, full)
	if ref := b.release(s); b.salvaged(ref, "f") != strings.TrimRight(work, "\n") {
		t.Errorf("salvage %s", ref)
	}
	b.isClear(s.Name)
}

// makeRoom empties the file of fill. A child that starts now may have it open, so its removal would not make room at once.
func makeRoom(t *testing.T, path string) {
	t.Helper()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
}

// fill takes all the room that a file system has left.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// The same for the disk that the workspace itself is on.
func TestAcquireOnAFullDisk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := os.MkdirAll(b.root, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "none", b.root).Run(); err != nil {
		t.Skip("a small file system cannot be mounted here")
	}
	t.Cleanup(func() {
		if err := exec.Command("umount", "-l", b.root).Run(); err != nil {
			t.Errorf("unmount %s: %v", b.root, err)
		}
	})
	commitFile(t, b.project.Path, "big", strings.Repeat("b", 64<<10))
	fill(t, filepath.Join(b.root, "full"))
	s := b.slot(1)
	if err := b.Acquire(context.Background(), s); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	makeRoom(t, filepath.Join(b.root, "full"))
	b.acquire(s)
	b.isReady(s)
}

func TestBranchNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i, branch := range []string{"a/b/c", "fix-ä日本", `x#$()'"%;&`, "$(id)", "a;touch"} {
		s := b.slot(i)
		s.Branch = branch
		dir := b.acquire(s)
		b.isReady(s)
		commitFile(t, dir, "g", branch)
		write(t, dir, "f", branch)
		if ref := b.release(s); b.salvaged(ref, "f") != branch || do(t, dir, "show", branch+":g") != branch {
			t.Errorf("%s: salvage %s", branch, ref)
		}
		b.isClear(s.Name)
	}
}

func TestHooksOfTheRepository(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"post-checkout", "pre-commit", "reference-transaction", "post-index-change"} {
		write(t, b.project.Path, ".git/hooks/"+name, "#!/bin/sh\necho "+name+" >>"+b.home+"/ran\nexit 0\n")
		if err := os.Chmod(filepath.Join(b.project.Path, ".git/hooks", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := b.slot(1)
	dir := b.acquire(s)
	if got := strings.Count(content(t, b.home, "ran"), "post-checkout"); got != 1 {
		t.Errorf("post-checkout ran %d times", got)
	}
	remove(t, b.home, "ran")
	write(t, dir, "f", "1")
	b.release(s)
	if got := content(t, b.home, "ran"); got != "" {
		t.Errorf("ran at release: %s", got)
	}
}

func TestWhatIsSetAsideReplacesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.slot(1)
	dir := b.acquire(s)
	w, err := b.openWorkspace(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second", "third"} {
		write(t, dir, "cache/x", text)
		if err := w.setAside(string(s.Task), []string{"cache/x", "cache/none"}); err != nil {
			t.Fatal(err)
		}
	}
	aside := filepath.Join(b.root, asideName, "p--1", string(s.Task), "cache")
	if got := content(t, aside, "x") + content(t, aside, "x~1") + content(t, aside, "x~2"); got != "firstsecondthird" {
		t.Errorf("got %q", got)
	}
	// A link in a workspace leads nothing out of the pool.
	outside := t.TempDir()
	write(t, outside, "x", "outside")
	symlink(t, outside, filepath.Join(dir, "cache/out"))
	if err := w.setAside(string(s.Task), []string{"cache/out/x"}); err == nil || content(t, outside, "x") != "outside" {
		t.Errorf("it was moved: %v", err)
	}
}
