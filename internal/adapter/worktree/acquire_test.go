package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"orange/internal/core/task"
	"orange/internal/wait"
)

func TestAcquireAndRelease(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.slot(1)
	dir := b.acquire(s)
	b.isReady(s)
	if got := content(t, dir, TaskFileName); !strings.Contains(got, "the body") {
		t.Errorf("TASK.md is %q", got)
	}
	write(t, dir, "f", "work in progress")
	b.acquire(s) // again: what is there stays
	if content(t, dir, "f") != "work in progress" {
		t.Error("the work is gone")
	}
	do(t, dir, "checkout", "f")
	commitFile(t, dir, "g", "done")
	if ref := b.release(s); ref != "" {
		t.Errorf("salvage %s of committed work", ref)
	}
	b.isClear(s.Name)
	if ref := b.release(s); ref != "" {
		t.Errorf("again: %s", ref)
	}
	if do(t, b.project.Path, "show", "task/1:g") != "done" {
		t.Error("the branch is gone")
	}
	other := b.slot(2)
	b.acquire(other)
	b.isReady(other)
	if ref := b.release(s); ref != "" || !there(b.admin("p--1"), bindingName) {
		t.Error("a late release took the workspace from another task")
	}
}

func TestAcquireRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arrange func(b *env, s *Slot)
		want    string
	}{
		"a workspace of another task": {func(b *env, s *Slot) { b.acquire(b.slot(9)) }, "is bound to task " + string(id(9))},
		"a branch in use":             {func(_ *env, s *Slot) { s.Branch = "main" }, "switch to another branch there"},
		"a branch like an option":     {func(_ *env, s *Slot) { s.Branch = "--force" }, "not a name git accepts"},
		"an unknown base":             {func(_ *env, s *Slot) { s.Base = "nothing" }, "no such commit"},
		"a tracked TASK.md":           {func(b *env, _ *Slot) { commitFile(b.t, b.project.Path, TaskFileName, "theirs") }, "already tracks a file TASK.md"},
		"another project's name":      {func(_ *env, s *Slot) { s.Name = "q--1" }, "not one of project"},
		"a name that leads out":       {func(_ *env, s *Slot) { s.Name = "../p--1" }, "not of the form"},
		"a slot number of zero":       {func(_ *env, s *Slot) { s.Name = "p--0" }, "not of the form"},
		"no task":                     {func(_ *env, s *Slot) { s.Task = "../x" }, "not the id of a task"},
		"a relative task file":        {func(_ *env, s *Slot) { s.TaskFile = "TASK.md" }, "absolute"},
		"a relative project":          {func(_ *env, s *Slot) { s.Project.Path = "repo" }, "absolute"},
		"an exclude that leads out":   {func(_ *env, s *Slot) { s.Exclude = []string{"../x"} }, "is not a file in it"},
		"a repository without commits": {func(b *env, s *Slot) {
			s.Project.Path = b.t.TempDir()
			do(b.t, s.Project.Path, "init", "-q", "-b", "main")
		}, "make a first commit"},
		"no repository":        {func(b *env, s *Slot) { s.Project.Path = b.t.TempDir() }, "not a git repository"},
		"a failing setup":      {func(_ *env, s *Slot) { s.Setup = "echo first; printf '\\033[1mno\\tway\\n'; exit 3" }, "exit status 3: [1mnoway"},
		"an unreadable marker": {func(b *env, s *Slot) { b.acquire(*s); write(b.t, b.admin("p--1"), bindingName, "") }, "remove the file if no task uses the workspace"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			s := b.slot(1)
			tc.arrange(b, &s)
			wantError(t, b.Acquire(context.Background(), s), tc.want)
		})
	}
}

// Acquire succeeds once its obstacle is removed.
func TestAcquireAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.slot(1)
	s.Branch = "main"
	wantError(t, b.Acquire(context.Background(), s), "is checked out in "+b.project.Path)
	do(t, b.project.Path, "switch", "-q", "-c", "mine")
	b.acquire(s)
	b.isReady(s)
	b.release(s)
	s = b.slot(2)
	s.Setup = "test -f allowed && echo x >>ran"
	wantError(t, b.Acquire(context.Background(), s), "setup")
	write(t, b.Path(s.Name), "cache/allowed", "")
	s.Setup = "test -f cache/allowed && echo x >>cache/ran"
	for range 2 {
		b.acquire(s)
	}
	b.isReady(s)
	if ran := content(t, b.Path(s.Name), "cache/ran"); ran != "x\n" {
		t.Errorf("the setup ran: %q", ran)
	}
}

// Leftovers of a task that never gave its workspace back properly are kept under its name.
func TestAcquireKeepsLeftovers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.slot(1)
	dir := b.acquire(first)
	b.release(first)
	write(t, dir, "f", "late change")
	write(t, dir, "untracked", "late file")
	do(t, dir, "switch", "-q", "-c", "stray")
	second := b.slot(2)
	b.acquire(second)
	b.isReady(second)
	ref := "refs/orange/salvage/" + string(first.Task) + "/1"
	if got := b.salvaged(ref, "f") + b.salvaged(ref, "untracked"); got != "late changelate file" {
		t.Errorf("kept %q", got)
	}
	b.release(second)

	fresh := Slot{Project: b.project, Name: "p--2"}
	if err := b.MakeWorkspaces(context.Background(), fresh.Project, 2); err != nil {
		t.Fatal(err)
	}
	write(t, b.Path("p--2"), "nobody's", "n")
	third := b.slot(3)
	third.Name = "p--2"
	b.acquire(third)
	if got := b.salvaged("refs/orange/salvage/p--2/1", "nobody's"); got != "n" {
		t.Errorf("kept %q", got)
	}
}

func TestAcquireTakesTheBranchThatIsThere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	root := b.project.Path
	do(t, root, "branch", "task/1", "main~1")
	s := b.slot(1)
	b.acquire(s)
	if c, _, _ := b.Head(s.Name); c != do(t, root, "rev-parse", "main~1") {
		t.Error("the branch here was not used")
	}
	b.release(s)
	s = b.slot(2)
	s.Base = do(t, root, "rev-parse", "main~1")
	b.acquire(s)
	if c, _, _ := b.Head(s.Name); c != s.Base {
		t.Error("it does not begin at its base")
	}
}

func TestAcquireMakesAWorkspaceThatIsGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.slot(1)
	dir := b.acquire(s)
	do(t, dir, "switch", "-q", "--detach")
	commitFile(t, dir, "lost", "l")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	other := b.slot(2)
	wantError(t, b.Acquire(context.Background(), other), "is bound to task")
	b.acquire(s)
	b.isReady(s)
	if got := b.salvaged("refs/orange/salvage/"+string(s.Task)+"/1", "lost"); got != "l" {
		t.Errorf("kept %q", got)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	b.release(s)
	b.acquire(other)
	b.isReady(other)
}

func TestExcludesAreAddedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	write(t, b.project.Path, ".git/info/exclude", "# mine\n*.swp")
	s := b.slot(1)
	s.Exclude = []string{".claude/settings.local.json", "odd[1]*? \\x", "trailing ", TaskFileName, "dir/"}
	for range 2 {
		b.acquire(s)
		b.release(s)
	}
	want := "# mine\n*.swp\n/TASK.md\n/.claude/settings.local.json\n/odd\\[1]\\*\\? \\\\x\n/trailing\\ \n/dir/\n"
	if got := content(t, b.project.Path, ".git/info/exclude"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, file := range s.Exclude[:3] {
		write(t, b.project.Path, file, "x")
	}
	if status := do(t, b.project.Path, "status", "--porcelain"); status != "" {
		t.Errorf("git sees %s", status)
	}
}

func TestCopiedFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	root := b.project.Path
	outside := t.TempDir()
	write(t, outside, "secret", "s")
	write(t, root, ".env", "KEY=1")
	write(t, root, "sub/.env", "KEY=2")
	write(t, root, "cache/keep/x", "cached")
	write(t, root, "untracked", "not ignored")
	write(t, root, "cache/other", "not named")
	if err := os.Chmod(filepath.Join(root, ".env"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(root, "cache/keep/link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, "cache/keep/folder")); err != nil {
		t.Fatal(err)
	}
	write(t, root, ".worktreeinclude", "# for every workspace\n.env\n/cache/keep/\nuntracked\n../*\n")
	do(t, root, "init", "-q", "cache/keep/repo")
	write(t, root, "cache/keep/repo/file", "r")
	do(t, root, "add", ".worktreeinclude")
	do(t, root, "commit", "-q", "-m", "include")

	s := b.slot(1)
	dir := b.acquire(s)
	if got := content(t, dir, ".env") + content(t, dir, "sub/.env") + content(t, dir, "cache/keep/x"); got != "KEY=1KEY=2cached" {
		t.Errorf("copied %q", got)
	}
	if info, err := os.Stat(filepath.Join(dir, ".env")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, name := range []string{"untracked", "cache/other", "cache/keep/link", "cache/keep/folder", "cache/keep/repo"} {
		if there(dir, name) {
			t.Errorf("%s was copied", name)
		}
	}
	b.isReady(s)

	write(t, dir, ".env", "KEY=changed")
	b.release(s)
	if content(t, dir, ".env") != "KEY=changed" {
		t.Error("an ignored file did not stay")
	}
	b.acquire(b.slot(2))
	if content(t, dir, ".env") != "KEY=changed" {
		t.Error("it was overwritten")
	}
}

// A copy must not end up in a commit: where the branch does not ignore it, there is none.
func TestAFileThatTheBranchDoesNotIgnoreIsNotCopied(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	write(t, b.project.Path, ".worktreeinclude", ".env\n")
	write(t, b.project.Path, ".env", "KEY=1")
	do(t, b.project.Path, "branch", "old", "main~1") // before there was a .gitignore
	s := b.slot(1)
	s.Branch = "old"
	if dir := b.acquire(s); there(dir, ".env") {
		t.Error("it was copied")
	}
	b.isReady(s)
}

func TestCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.slot(1)
	s.Name = "p--3"
	s.Env = append(s.Env, "MINE=yes")
	s.Setup = `mkdir -p cache; echo "$ORANGE_SLOT $ORANGE_PORT_OFFSET $MINE $(pwd)" >>cache/setup; echo done; echo oops >&2`
	s.Teardown = `echo "$ORANGE_SLOT" >>cache/teardown; echo bad news; exit 7`
	dir := b.acquire(s)
	if got := content(t, dir, "cache/setup"); got != "3 300 yes "+dir+"\n" {
		t.Errorf("setup: %q", got)
	}
	if log := content(t, b.admin("p--3"), "orange-setup.log"); log != "done\noops\n" {
		t.Errorf("log: %q", log)
	}
	write(t, dir, "f", "1")
	ref, err := b.Release(context.Background(), s)
	wantError(t, err, "the teardown command of p--3: exit status 7: bad news")
	if b.salvaged(ref, "f") != "1" {
		t.Errorf("salvage %s", ref)
	}
	b.isClear("p--3")
	again, err := b.Release(context.Background(), s)
	if again != ref || err != nil || content(t, dir, "cache/teardown") != "3\n" {
		t.Errorf("again: %s, %v", again, err)
	}
}

func TestACommandThatTakesTooLong(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.timeout = 1
	s := b.slot(1)
	s.Setup = "exec sleep 600"
	wantError(t, b.Acquire(context.Background(), s), "took longer than 1ns and was stopped")
	b.timeout = commandTimeout
	s.Setup = ""
	b.acquire(s)
	b.isReady(s)
}

// A command that is stopped is ended with all that it has started.
func TestACommandThatIsStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.slot(1)
	s.Setup = `mkdir -p cache; sh -c 'trap "" TERM; echo $$ >cache/new; mv cache/new cache/pid; while :; do sleep 1; done' & wait`
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- b.Acquire(ctx, s) }()
	wait.Until(t, "the set-up command has started", func() bool { return there(b.Path(s.Name), "cache/pid") })
	cancel()
	wantError(t, <-done, "it was interrupted")
	pid, err := strconv.Atoi(strings.TrimSpace(content(t, b.Path(s.Name), "cache/pid")))
	if err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the set-up command has ended", func() bool { return gone(pid) })
	if _, err := b.Release(ctx, s); err == nil {
		t.Error("a cancelled release worked")
	}
	b.release(s)
	b.isClear(s.Name)
}

// gone reports whether a process has ended, even if its parent has not waited for it.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestInit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.Background()
	for range 2 {
		if err := b.MakeWorkspaces(ctx, b.project, 2); err != nil {
			t.Fatal(err)
		}
	}
	b.isClear("p--1")
	b.isClear("p--2")
	if there(b.Path("p--3"), "") {
		t.Error("a third one was made")
	}
	b.acquire(b.slot(1))
	if err := b.MakeWorkspaces(ctx, b.project, 3); err != nil {
		t.Fatal(err)
	}
	b.isReady(b.slot(1))
	for _, n := range []int{0, -1, task.MaxPoolSize + 1} {
		wantError(t, b.MakeWorkspaces(ctx, b.project, n), "positive integer")
	}
	if _, _, err := b.Head("../x"); err == nil {
		t.Error("a name that leads out has a head")
	}
}

// A project may be called what no ref may be called.
func TestAProjectWithDotsInItsName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.project.Name = "a..b"
	if err := b.MakeWorkspaces(context.Background(), b.project, 1); err != nil {
		t.Fatal(err)
	}
	write(t, b.Path("a..b--1"), "nobody's", "n")
	s := b.slot(1)
	s.Name = "a..b--1"
	b.acquire(s)
	if got := b.salvaged("refs/orange/salvage/a__b--1/1", "nobody's"); got != "n" {
		t.Errorf("kept %q", got)
	}
}
