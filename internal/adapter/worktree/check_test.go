package worktree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"orange/internal/core/task"
	"orange/internal/wait"
)

// noted collects the notes for a person.
func noted(s *Slot) *[]string {
	var notes []string
	s.Note = func(text string) { notes = append(notes, text) }
	return &notes
}

// aside finds a file that was moved out of the workspace p--1 of a task.
func (b *env) aside(n int, name string) string {
	return content(b.t, b.root, filepath.Join(asideName, "p--1", string(id(n)), name))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A workspace that is not the task's worktree is found out, and made one again. Nothing
// that lies in its place is deleted.
func TestRepair(t *testing.T) {
	t.Parallel()
	gone := "is gone"
	none := "is no longer a worktree of"
	for name, tc := range map[string]struct {
		arrange func(b *env, s *Slot, dir string)
		wrong   string // error of CheckWorkspace; "" for none
		note    string // note for a person
		kept    map[string]string
	}{
		"nothing is wrong": {func(b *env, s *Slot, dir string) { write(b.t, dir, "f", "changed") }, "", "", map[string]string{"f": "changed"}},
		"removed":          {func(b *env, s *Slot, dir string) { check(b.t, os.RemoveAll(dir)) }, gone, "made again at the last commit of task/1", nil},
		"removed and pruned": {func(b *env, s *Slot, dir string) {
			check(b.t, os.RemoveAll(dir))
			do(b.t, b.project.Path, "worktree", "prune")
		}, gone, "made again", nil},
		"removed, and a folder in its place": {func(b *env, s *Slot, dir string) {
			check(b.t, os.RemoveAll(dir))
			write(b.t, dir, "late", "l")
		}, none, "is kept there", map[string]string{"aside/folder/late": "l"}},
		"removed and pruned, and a folder in its place": {func(b *env, s *Slot, dir string) {
			check(b.t, os.RemoveAll(dir))
			do(b.t, b.project.Path, "worktree", "prune")
			write(b.t, dir, "late", "l")
		}, none, "is kept there", map[string]string{"aside/folder/late": "l"}},
		"a folder inside another repository": {func(b *env, s *Slot, dir string) {
			check(b.t, os.RemoveAll(dir))
			write(b.t, dir, "late", "l")
			do(b.t, b.home, "init", "-q", "-b", "feature")
			commitFile(b.t, b.home, "outer", "o")
		}, none, "is kept there", map[string]string{"aside/folder/late": "l"}},
		"a repository in its place": {func(b *env, s *Slot, dir string) {
			check(b.t, os.RemoveAll(dir))
			do(b.t, b.home, "init", "-q", "-b", "task/1", dir)
			commitFile(b.t, dir, "late", "l")
		}, none, "is kept there", map[string]string{"aside/folder/late": "l"}},
		"a worktree of another repository in its place": {func(b *env, s *Slot, dir string) {
			check(b.t, os.RemoveAll(dir))
			other := filepath.Join(b.home, "other")
			do(b.t, b.home, "clone", "-q", b.project.Path, other)
			do(b.t, other, "worktree", "add", "-q", "-b", "task/1", dir)
			write(b.t, dir, "late", "l")
		}, none, "is kept there", map[string]string{"aside/folder/late": "l"}},
		"pruned while its folder was elsewhere": {func(b *env, s *Slot, dir string) {
			write(b.t, dir, "f", "changed")
			write(b.t, dir, "new", "n")
			check(b.t, os.Rename(dir, dir+".elsewhere"))
			do(b.t, b.project.Path, "worktree", "prune")
			check(b.t, os.Rename(dir+".elsewhere", dir))
		}, none, "registered again, with its files as they were", map[string]string{"f": "changed", "new": "n"}},
		"the repository was moved": {func(b *env, s *Slot, dir string) {
			write(b.t, dir, "f", "changed")
			check(b.t, os.Rename(b.project.Path, b.project.Path+".new"))
			b.project.Path += ".new"
			s.Project = b.project
		}, none, "registered again", map[string]string{"f": "changed"}},
		"a folder in the place of TASK.md": {func(b *env, s *Slot, dir string) {
			remove(b.t, dir, TaskFileName)
			write(b.t, dir, TaskFileName+"/notes", "n")
			write(b.t, dir, "f", "changed")
		}, "", "which is not a file, was moved to", map[string]string{"f": "changed", "aside/" + TaskFileName + "/notes": "n"}},
		"on another branch": {func(b *env, s *Slot, dir string) { do(b.t, dir, "switch", "-q", "-c", "other") }, "is on branch other instead of task/1", "switched back", nil},
		"on no branch":      {func(b *env, s *Slot, dir string) { do(b.t, dir, "switch", "-q", "--detach") }, "is on no branch", "switched back", nil},
		"in the middle of a rebase": {func(b *env, s *Slot, dir string) {
			commitFile(b.t, dir, "f", "task")
			commitFile(b.t, b.project.Path, "f", "main")
			if _, err := try(dir, "rebase", "main"); err == nil {
				b.t.Fatal("no conflict")
			}
			write(b.t, dir, "f", "half")
		}, "", "", map[string]string{"f": "half"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.slot(1)
			dir := b.acquire(s)
			commitFile(t, dir, "g", "committed")
			tc.arrange(b, &s, dir)
			notes := noted(&s)
			ctx := context.Background()
			switch _, err := b.CheckWorkspace(ctx, s); {
			case tc.wrong == "" && err != nil:
				t.Errorf("Check: %v", err)
			case tc.wrong != "":
				wantError(t, err, tc.wrong)
			}
			for range 2 {
				check(t, b.SyncTaskFile(ctx, s))
				_, err := b.CheckWorkspace(ctx, s)
				check(t, err)
			}
			if told := strings.Join(*notes, "\n"); !strings.Contains(told, tc.note) || tc.note == "" && told != "" {
				t.Errorf("a person is told %q, want %q", told, tc.note)
			}
			if content(t, dir, "g") != "committed" {
				t.Error("the branch is not there")
			}
			for file, want := range tc.kept {
				got := content(t, dir, file)
				if name, moved := strings.CutPrefix(file, "aside/"); moved {
					got = b.aside(1, name)
				}
				if got != want {
					t.Errorf("%s is %q, want %q", file, got, want)
				}
			}
			if target, err := os.Readlink(filepath.Join(dir, TaskFileName)); target != s.TaskFile || err != nil {
				t.Errorf("TASK.md leads to %q, %v", target, err)
			}
			if ref := b.release(s); len(tc.kept) > 0 && b.aside(1, "folder/late") == "" && b.salvaged(ref, "f") != tc.kept["f"] {
				t.Errorf("salvage %q", ref)
			}
			b.isClear(s.Name)
		})
	}
}

// Where going back to the branch would leave something behind a person decides.
func TestRepairLeavesToAPerson(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, dir string)
		want    string
	}{
		"changes on another branch": {func(t *testing.T, dir string) {
			do(t, dir, "switch", "-q", "-c", "other")
			write(t, dir, "f", "changed")
		}, "is on branch other instead of task/1"},
		"commits on no branch": {func(t *testing.T, dir string) {
			do(t, dir, "switch", "-q", "--detach")
			commitFile(t, dir, "f", "changed")
		}, "after giving its commits a branch"},
		"a branch that was renamed": {func(t *testing.T, dir string) {
			do(t, dir, "branch", "-m", "other")
			commitFile(t, dir, "f", "changed")
		}, "branch task/1 no longer exists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.slot(1)
			dir := b.acquire(s)
			tc.arrange(t, dir)
			before, branch, err := b.Head(s.Name)
			check(t, err)
			err = b.SyncTaskFile(context.Background(), s)
			wantError(t, err, tc.want)
			var mistake *task.Mistake
			if !errors.As(err, &mistake) {
				t.Error("it would be tried again")
			}
			if now, on, err := b.Head(s.Name); now != before || on != branch || err != nil || content(t, dir, "f") != "changed" {
				t.Errorf("it was touched: %s %s, %v", now, on, err)
			}
		})
	}
}

// What lies in the place of a free workspace does not keep tasks from it.
func TestAcquireMovesObstaclesAside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	write(t, b.Path("p--1"), "file", "x")
	s := b.slot(1)
	notes := noted(&s)
	b.acquire(s)
	b.isReady(s)
	moved := filepath.Join(b.root, asideName, "p--1", "p--1", "folder")
	if content(t, moved, "file") != "x" || len(*notes) != 1 || !strings.Contains((*notes)[0], moved) {
		t.Errorf("%q", *notes)
	}
}

// Nothing that an agent leaves behind keeps the slot from the next task.
func TestReleaseFreesTheSlot(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arrange func(t *testing.T, b *env, dir string)
		note    string
		aside   map[string]string
		folder  bool // all of it is set aside, nothing is salvaged
	}{
		"a stale index lock": {func(t *testing.T, b *env, dir string) { write(t, b.admin("p--1"), "index.lock", "") }, "index.lock", nil, false},
		"an empty index":     {func(t *testing.T, b *env, dir string) { write(t, b.admin("p--1"), "index", "") }, ".git/orange/" + string(id(1)) + "-", map[string]string{"folder/f": "changed", "folder/new": "n"}, true},
		"a damaged index": {func(t *testing.T, b *env, dir string) {
			write(t, b.admin("p--1"), "index", "garbage that is longer than the header of an index")
		}, "could not read", map[string]string{"folder/f": "changed", "folder/new": "n"}, true},
		"an empty HEAD":  {func(t *testing.T, b *env, dir string) { write(t, b.admin("p--1"), "HEAD", "") }, "could not read", map[string]string{"folder/f": "changed", "folder/new": "n"}, true},
		"a damaged HEAD": {func(t *testing.T, b *env, dir string) { write(t, b.admin("p--1"), "HEAD", "\x00\x00\x00\x00") }, "could not read", map[string]string{"folder/f": "changed", "folder/new": "n"}, true},
		"a folder in the place of TASK.md": {func(t *testing.T, b *env, dir string) {
			remove(t, dir, TaskFileName)
			write(t, dir, TaskFileName+"/notes", "n")
		}, "which is not a file, was moved to", map[string]string{TaskFileName + "/notes": "n"}, false},
		"a pipe in the place of TASK.md": {func(t *testing.T, b *env, dir string) {
			remove(t, dir, TaskFileName)
			check(t, syscall.Mkfifo(filepath.Join(dir, TaskFileName), 0o600))
		}, "which is not a file, was moved to", nil, false},
		"a stale lock of HEAD": {func(t *testing.T, b *env, dir string) { write(t, b.admin("p--1"), "HEAD.lock", "") }, "HEAD.lock", nil, false},
		"a repository without work": {func(t *testing.T, _ *env, dir string) {
			do(t, dir, "init", "-q", "inner")
			write(t, dir, "inner/work", "w")
		}, "inner in workspace p--1 is a separate git repository", map[string]string{"inner/work": "w"}, false},
		"two cloned repositories": {func(t *testing.T, b *env, dir string) {
			do(t, dir, "clone", "-q", b.project.Path, "deep/one")
			do(t, dir, "clone", "-q", b.project.Path, "two")
			commitFile(t, filepath.Join(dir, "two"), "work", "w")
		}, "two in workspace p--1", map[string]string{"deep/one/f": "0", "two/work": "w"}, false},
		"a repository that is staged": {func(t *testing.T, b *env, dir string) {
			do(t, dir, "clone", "-q", b.project.Path, "inner")
			do(t, dir, "add", "inner")
		}, "inner in workspace p--1", map[string]string{"inner/f": "0"}, false},
		"a filter that fails": {func(t *testing.T, _ *env, dir string) {
			do(t, dir, "config", "filter.broken.clean", "false")
			do(t, dir, "config", "filter.broken.required", "true")
			write(t, dir, ".gitattributes", "f filter=broken\n")
		}, "it was moved to", map[string]string{"folder/f": "changed", "folder/new": "n"}, true},
		"a filter that is missing": {func(t *testing.T, _ *env, dir string) {
			do(t, dir, "config", "filter.lfs.process", "git-no-such-lfs filter-process")
			do(t, dir, "config", "filter.lfs.required", "true")
			write(t, dir, ".gitattributes", "* filter=lfs\n")
		}, "it was moved to", map[string]string{"folder/f": "changed", "folder/new": "n"}, true},
		"pruned while its folder was elsewhere": {func(t *testing.T, b *env, dir string) {
			check(t, os.Rename(dir, dir+"-away"))
			do(t, b.project.Path, "worktree", "prune")
			check(t, os.Rename(dir+"-away", dir))
		}, "was registered again", nil, false},
		"no worktree": {func(t *testing.T, _ *env, dir string) { remove(t, dir, ".git") }, "it was moved to", map[string]string{"folder/f": "changed", "folder/new": "n"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.slot(1)
			dir := b.acquire(s)
			commitFile(t, dir, "g", "committed")
			write(t, dir, "f", "changed")
			write(t, dir, "new", "n")
			tc.arrange(t, b, dir)
			notes := noted(&s)
			ref := b.release(s)
			if told := strings.Join(*notes, "\n"); !strings.Contains(told, tc.note) {
				t.Errorf("a person is told %q, want %q", told, tc.note)
			}
			for file, want := range tc.aside {
				if got := b.aside(1, file); got != want {
					t.Errorf("aside, %s is %q, want %q", file, got, want)
				}
			}
			if tc.folder && there(filepath.Join(b.root, asideName, "p--1", string(s.Task), "folder"), ".git") {
				t.Error("git in the folder that was moved acts on the next worktree")
			}
			if !tc.folder {
				if b.salvaged(ref, "f") != "changed" || b.salvaged(ref, "new") != "n" {
					t.Errorf("salvage %s", ref)
				}
				b.isClear(s.Name)
			}
			b.acquire(b.slot(2))
			b.isReady(b.slot(2))
		})
	}
}

// A damaged entry keeps nobody from a free workspace either, and commits on no branch are kept.
func TestAcquireOfAFreeWorkspaceWithADamagedEntry(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, b *env, dir string){
		"an empty index": func(t *testing.T, b *env, _ string) { write(t, b.admin("p--1"), "index", "") },
		"an empty HEAD":  func(t *testing.T, b *env, _ string) { write(t, b.admin("p--1"), "HEAD", "") },
		"an empty index of a worktree that is gone": func(t *testing.T, b *env, dir string) {
			write(t, b.admin("p--1"), "index", "")
			check(t, os.RemoveAll(dir))
		},
		"an empty HEAD of a worktree that is gone": func(t *testing.T, b *env, dir string) {
			write(t, b.admin("p--1"), "HEAD", "")
			check(t, os.RemoveAll(dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			first := b.slot(1)
			dir := b.acquire(first)
			b.release(first)
			commitFile(t, dir, "late", "l")
			write(t, dir, "new", "n")
			gone := strings.Contains(name, "gone")
			damage(t, b, dir)
			second := b.slot(2)
			notes := noted(&second)
			b.acquire(second)
			b.isReady(second)
			if told := strings.Join(*notes, "\n"); !strings.Contains(told, "could not read its entry of workspace p--1") {
				t.Errorf("a person is told %q", told)
			}
			if got := b.aside(1, "folder/new"); got != "n" && !gone {
				t.Errorf("aside, new is %q", got)
			}
			if got := b.salvaged("refs/orange/salvage/"+string(first.Task)+"/1", "late"); got != "l" {
				t.Errorf("the salvage has %q", got)
			}
			moved, err := filepath.Glob(filepath.Join(b.project.Path, ".git/orange", string(first.Task)+"-*", "worktree", "logs", "HEAD"))
			if err != nil || len(moved) != 1 {
				t.Errorf("moved: %q, %v", moved, err)
			}
		})
	}
}

// A worktree that git forgot, and whose branch is gone, is set aside under the name of its task when the task is over.
func TestReleaseWithoutEntryAndBranch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.slot(1)
	dir := b.acquire(s)
	write(t, dir, "new", "n")
	check(t, os.Rename(dir, dir+"-away"))
	do(t, b.project.Path, "worktree", "prune")
	do(t, b.project.Path, "branch", "-D", s.Branch)
	check(t, os.Rename(dir+"-away", dir))
	notes := noted(&s)
	if ref := b.release(s); ref != "" || len(*notes) != 1 || there("/", dir) {
		t.Errorf("salvage %q, notes %q", ref, *notes)
	}
	if got := content(t, b.root, filepath.Join(asideName, "p--1", string(s.Task), "folder", "new")); got != "n" {
		t.Errorf("aside it is %q", got)
	}
	b.acquire(b.slot(2))
	b.isReady(b.slot(2))
}

// A setting by which git in the worktree works on another folder keeps nobody from the slot, and
// nothing is lost: neither what is in the workspace nor what is in that folder.
func TestASettingThatLeadsGitElsewhereIsRemoved(t *testing.T) {
	t.Parallel()
	for name, lead := range map[string]func(t *testing.T, dir, elsewhere string){
		"a folder": func(t *testing.T, dir, elsewhere string) {
			do(t, dir, "config", "--worktree", "core.worktree", elsewhere)
		},
		"the main checkout": func(t *testing.T, dir, elsewhere string) {
			do(t, dir, "config", "--worktree", "core.worktree", filepath.Dir(do(t, dir, "rev-parse", "--path-format=absolute", "--git-common-dir")))
		},
		"a folder that does not exist": func(t *testing.T, dir, elsewhere string) {
			do(t, dir, "config", "--worktree", "core.worktree", "../nowhere")
		},
		"two folders": func(t *testing.T, dir, elsewhere string) {
			do(t, dir, "config", "--worktree", "core.worktree", elsewhere)
			admin := do(t, dir, "rev-parse", "--absolute-git-dir")
			do(t, t.TempDir(), "config", "--file", filepath.Join(admin, "config.worktree"), "--add", "core.worktree", elsewhere+"-2")
		},
		"no working tree": func(t *testing.T, dir, elsewhere string) { do(t, dir, "config", "--worktree", "core.bare", "true") },
	} {
		arrange := func(t *testing.T) (b *env, s Slot, dir, elsewhere string) {
			b = newBench(t)
			s = b.slot(1)
			dir = b.acquire(s)
			commitFile(t, dir, "g", "committed")
			write(t, dir, "f", "changed")
			write(t, dir, "new", "n")
			elsewhere = t.TempDir()
			write(t, elsewhere, "theirs", "t")
			do(t, b.project.Path, "config", "extensions.worktreeConfig", "true")
			write(t, b.project.Path, "f", "a person's")
			write(t, b.project.Path, "theirs", "a person's")
			t.Cleanup(func() {
				if got := content(t, b.project.Path, "f") + content(t, b.project.Path, "theirs"); got != "a person'sa person's" {
					t.Errorf("the main checkout has %q", got)
				}
			})
			lead(t, dir, elsewhere)
			return b, s, dir, elsewhere
		}
		t.Run(name+" at release", func(t *testing.T) {
			t.Parallel()
			b, s, _, elsewhere := arrange(t)
			notes := noted(&s)
			ref := b.release(s)
			if ref == "" || b.salvaged(ref, "f") != "changed" || b.salvaged(ref, "new") != "n" || content(t, elsewhere, "theirs") != "t" {
				t.Errorf("salvage %q", ref)
			}
			if told := strings.Join(*notes, "\n"); !strings.Contains(told, "was removed from the git settings of workspace p--1") {
				t.Errorf("a person is told %q", told)
			}
			b.isClear(s.Name)
			b.acquire(b.slot(2))
			b.isReady(b.slot(2))
		})
		t.Run(name+" before the next agent", func(t *testing.T) {
			t.Parallel()
			b, s, dir, elsewhere := arrange(t)
			check(t, b.SyncTaskFile(context.Background(), s))
			if top := do(t, dir, "rev-parse", "--show-toplevel"); top != dir || content(t, dir, "f") != "changed" || content(t, elsewhere, "theirs") != "t" {
				t.Errorf("git works on %s", top)
			}
		})
		t.Run(name+" in a free workspace", func(t *testing.T) {
			t.Parallel()
			b, s, dir, elsewhere := arrange(t)
			do(t, b.project.Path, "config", "--file", filepath.Join(b.admin(s.Name), "config.worktree"), "--remove-section", "core")
			b.release(s)
			write(t, dir, "late", "l")
			lead(t, dir, elsewhere)
			b.acquire(b.slot(2))
			b.isReady(b.slot(2))
			if refs := do(t, b.project.Path, "for-each-ref", "--format=%(refname)", "refs/orange/salvage"); b.salvaged(refs[strings.LastIndex(refs, "\n")+1:], "late") != "l" {
				t.Errorf("salvaged: %s", refs)
			}
		})
	}
	t.Run("a setting that names the worktree stays", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		s := b.slot(1)
		dir := b.acquire(s)
		do(t, b.project.Path, "config", "extensions.worktreeConfig", "true")
		do(t, dir, "config", "--worktree", "core.worktree", dir)
		notes := noted(&s)
		b.release(s)
		if got := do(t, dir, "config", "--worktree", "core.worktree"); got != dir || len(*notes) != 0 {
			t.Errorf("got %q, notes %q", got, *notes)
		}
	})
}

// A lock that a dead attempt left on the task's branch does not keep the next one from the branch.
func TestAStaleLockOfTheBranchIsRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.slot(1)
	dir := b.acquire(s)
	commitFile(t, dir, "g", "committed")
	heads := filepath.Join(b.project.Path, ".git", "refs", "heads")
	for _, name := range []string{"task/1.lock", "task/10.lock", "main.lock"} {
		write(t, heads, name, "")
	}
	notes := noted(&s)
	for name, held := range map[string]func() (release func()){
		"open": func() func() {
			f, err := os.Open(filepath.Join(heads, "task/1.lock"))
			check(t, err)
			return func() { check(t, f.Close()) }
		},
		"a git command in the main checkout": func() func() { return b.runningGit(b.project.Path) },
		"a git command in another worktree": func() func() {
			other := b.slot(2)
			other.Name = "p--2"
			return b.runningGit(b.acquire(other))
		},
	} {
		release := held()
		check(t, b.SyncTaskFile(context.Background(), s))
		if !there(heads, "task/1.lock") {
			t.Fatalf("%s: the lock was removed", name)
		}
		release()
	}
	busy := s
	busy.Busy = true
	check(t, b.SyncTaskFile(context.Background(), busy))
	if !there(heads, "task/1.lock") {
		t.Fatal("the lock was removed while an agent works")
	}
	wait.Until(t, "the lock is removed", func() bool {
		check(t, b.SyncTaskFile(context.Background(), s))
		return !there(heads, "task/1.lock")
	})
	commitFile(t, dir, "g", "by the next agent")
	if !there(heads, "task/10.lock") || !there(heads, "main.lock") {
		t.Error("a lock of another branch is gone")
	}
	if told := strings.Join(*notes, "\n"); !strings.Contains(told, "which was removed: "+filepath.Join(heads, "task/1.lock")) {
		t.Errorf("a person is told %q", told)
	}
}

// runningGit starts a git command that runs in a folder until the returned function is called.
func (b *env) runningGit(dir string) (end func()) {
	b.t.Helper()
	cmd := exec.Command("git", "-C", dir, "hash-object", "--stdin")
	in, err := cmd.StdinPipe()
	check(b.t, err)
	check(b.t, cmd.Start())
	wait.Until(b.t, "git runs in the folder", func() bool {
		cwd, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "cwd"))
		return err == nil && cwd == dir
	})
	return func() {
		check(b.t, in.Close())
		check(b.t, cmd.Wait())
	}
}

// A lock that a process holds is not removed.
func TestALockThatIsHeldStays(t *testing.T) {
	t.Parallel()
	t.Run("open", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		s := b.slot(1)
		b.acquire(s)
		f, err := os.Create(filepath.Join(b.admin("p--1"), "index.lock"))
		check(t, err)
		_, err = b.Release(context.Background(), s)
		wantError(t, err, "index.lock exists")
		check(t, f.Close())
		// A process that a test beside it starts has the file open for a moment, too.
		wait.Until(t, "the workspace is released", func() bool { _, err := b.Release(context.Background(), s); return err == nil })
		b.isClear(s.Name)
	})
	t.Run("a commit whose message is being written", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		s := b.slot(1)
		dir := b.acquire(s)
		write(t, dir, "f", "changed")
		cmd := exec.Command("git", "-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-a")
		cmd.Env = append(os.Environ(), `GIT_EDITOR=f() { echo message >"$1"; while test ! -e `+filepath.Join(b.home, "go")+`; do sleep 0.05; done; }; f`)
		check(t, cmd.Start())
		wait.Until(t, "git locks the index", func() bool { return there(b.admin("p--1"), "index.lock") })
		_, err := b.Release(context.Background(), s)
		wantError(t, err, "index.lock exists")
		write(t, b.home, "go", "")
		check(t, cmd.Wait())
		if ref := b.release(s); ref != "" || do(t, b.project.Path, "show", "task/1:f") != "changed" {
			t.Errorf("the commit was lost; salvage %q", ref)
		}
		b.isClear(s.Name)
	})
}
