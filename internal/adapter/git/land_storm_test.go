package git

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orange/internal/testneeds"
	"orange/internal/wait"
)

// stormOrder is the variable that makes this test program a process that merges: the
// repository, the strategy and branches, one in each line.
const stormOrder = "ORANGE_TEST_STORM"

// mergeAll is such a process. It merges all branches at the same time and prints how each
// went.
func mergeAll(order string) {
	lines := strings.Split(order, "\n")
	var all sync.WaitGroup
	for _, branch := range lines[2:] {
		all.Go(func() {
			_, err := New().MergeBranch(context.Background(), lines[0], Merging{ID: branch, Branch: branch, Into: "main", Strategy: lines[1]})
			if err != nil {
				fmt.Println("refused", branch, err)
				return
			}
			fmt.Println("landed", branch)
		})
	}
	all.Wait()
}

// storm is a repository with many branches that are merged at the same time.
type storm struct {
	t        *testing.T
	root     string
	strategy string
	mu       sync.Mutex
	landed   []string
	refused  map[string]string
}

// process starts a process that merges branches. It returns a function that waits for it.
func (s *storm) process(branches []string) (*os.Process, func()) {
	s.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), stormOrder+"="+strings.Join(append([]string{s.root, s.strategy}, branches...), "\n"))
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return cmd.Process, func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			word, rest, _ := strings.Cut(lines.Text(), " ")
			branch, why, _ := strings.Cut(rest, " ")
			s.mu.Lock()
			if word == "landed" {
				s.landed = append(s.landed, branch)
			} else {
				s.refused[branch] = why
			}
			s.mu.Unlock()
		}
		_ = cmd.Wait() // it may have been killed
	}
}

// open returns the branches without a result.
func (s *storm) open(branches []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(branches), func(b string) bool {
		_, no := s.refused[b]
		return no || slices.Contains(s.landed, b)
	})
}

// Two independent processes merge sixteen branches at the same time, and one of them is killed
// repeatedly. All branches land or are refused with a reason, and the checkout contains what
// the branch contains and what the user had changed.
func TestManyMergesAtTheSameTime(t *testing.T) {
	testneeds.Processes(t)
	t.Parallel()
	seed, kills := uint64(13), 4
	if n, ok := testneeds.SoakSeed(t); ok {
		seed, kills = n, 25
	}
	for _, strategy := range []string{Auto, MergeCommit, FastForward} {
		for _, checkedOut := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, checked out %v", strategy, checkedOut), func(t *testing.T) {
				t.Parallel()
				s := &storm{t: t, strategy: strategy, refused: map[string]string{}}
				s.run(rand.New(rand.NewPCG(seed, uint64(len(strategy)))), checkedOut, kills)
			})
		}
	}
}

func (s *storm) run(random *rand.Rand, checkedOut bool, kills int) {
	t := s.t
	branches := s.repository(checkedOut)
	before, index := content(t, s.root), out(t, s.root, "diff", "--cached")
	_, other := s.process(branches[8:])
	for range kills {
		open := s.open(branches[:8])
		if len(open) == 0 {
			break
		}
		process, heard := s.process(open)
		time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
		if err := process.Kill(); err != nil && err != os.ErrProcessDone {
			t.Error(err)
		}
		heard()
	}
	if open := s.open(branches[:8]); len(open) > 0 {
		_, heard := s.process(open)
		heard()
	}
	other()
	s.check(branches, checkedOut, before, index)
}

// repository makes the repository. The last two branches conflict with each other. The user
// has changes of every kind in the checkout.
func (s *storm) repository(checkedOut bool) (branches []string) {
	t := s.t
	s.root = repository(t)
	for _, name := range []string{"shared", "mine", "deleted", "conflict"} {
		commitFile(t, s.root, name, name+"\n")
	}
	for i := range 16 {
		name := fmt.Sprintf("b%02d", i)
		branches = append(branches, name)
		do(t, s.root, "switch", "-q", "-c", name, "main")
		for j := range 4 {
			write(t, s.root, fmt.Sprintf("of/%s/%d", name, j), strings.Repeat(name+"\n", 2000))
		}
		if i >= 14 {
			write(t, s.root, "conflict", name+"\n")
		}
		do(t, s.root, "add", ".")
		do(t, s.root, "commit", "-q", "-m", name)
	}
	do(t, s.root, "switch", "-q", "main")
	if !checkedOut {
		do(t, s.root, "switch", "-q", "-c", "user")
	}
	hook(t, s.root, "post-merge", "sleep 0.02")
	write(t, s.root, ".git/info/exclude", "ignored\n")
	write(t, s.root, "mine", "changed\n")
	write(t, s.root, "staged", "staged\n")
	do(t, s.root, "add", "staged")
	write(t, s.root, "staged", "staged, and changed again\n")
	write(t, s.root, "untracked", "untracked\n")
	write(t, s.root, "ignored", "ignored\n")
	remove(t, s.root, "deleted")
	return branches
}

func (s *storm) check(branches []string, checkedOut bool, before, index string) {
	t := s.t
	for _, branch := range branches {
		why, no := s.refused[branch]
		in := exec.Command("git", "-C", s.root, "merge-base", "--is-ancestor", branch, "main").Run() == nil
		switch {
		case in == no:
			t.Errorf("%s is in main: %v, and was refused: %q", branch, in, why)
		case no && !(strings.Contains(why, "conflict, nothing was changed") && branch >= "b14" || strings.Contains(why, "has moved since") && s.strategy == FastForward):
			t.Errorf("%s: %s", branch, why)
		}
	}
	if n := len(s.refused); s.strategy != FastForward && n != 1 || n > 15 {
		t.Errorf("refused: %v", s.refused)
	}
	out(t, s.root, "fsck", "--strict", "--no-dangling")
	if now := out(t, s.root, "diff", "--cached"); now != index {
		t.Errorf("what is staged was\n%s\nand is\n%s", index, now)
	}
	want := " D deleted\n M mine\nAM staged\n?? untracked"
	if status := out(t, s.root, "status", "--porcelain"); status != want {
		t.Errorf("the checkout is\n%s\nwant\n%s", status, want)
	}
	for _, name := range []string{recordName, "index.lock", "refs/heads/main.lock", "MERGE_HEAD"} {
		if pathExists(s.root, ".git/"+name) {
			t.Errorf("%s is left", name)
		}
	}
	if heldByAnother(t, s.root) {
		t.Error("somebody still holds the lock")
	}
	now := content(t, s.root)
	if checkedOut { // what was merged is there as well
		for _, branch := range branches {
			_, no := s.refused[branch]
			if pathExists(s.root, "of/"+branch) == no {
				t.Errorf("the files of %s are there: %v", branch, !no)
			}
		}
		for _, line := range strings.Split(before, "/") {
			if line != "" && !strings.HasPrefix(line, "conflict") && !strings.Contains(now, "/"+line) {
				t.Errorf("%q is not there", line)
			}
		}
	} else if now != before {
		t.Error("the files of another branch have changed")
	}
}

// A process is killed while git runs a slow hook. Git continues and finishes; the next landing
// waits for it and finds the result.
func TestAProcessIsKilledDuringAHook(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"post-merge", "reference-transaction"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, _ := brokenOff(t)
			remove(t, root, ".git/"+recordName)
			do(t, root, "branch", "y", "main")
			dir := worktreeOf(t, root)
			do(t, dir, "switch", "-q", "y")
			commitFile(t, dir, "of-y", "y\n")
			script := "test -e {git}/go || { touch {git}/begun; while ! test -e {git}/go; do sleep 0.02; done; }"
			if name == "reference-transaction" {
				script = `test "$1" = prepared || exit 0; grep -q refs/heads/main || exit 0; ` + script
			}
			hook(t, root, name, strings.ReplaceAll(script, "{git}", filepath.Join(root, ".git")))
			s := &storm{t: t, root: root, strategy: Auto, refused: map[string]string{}}
			process, heard := s.process([]string{"x"})
			wait.Until(t, "the hook runs", func() bool { return pathExists(root, ".git/begun") })
			if err := process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			heard()
			if !heldByAnother(t, root) || !pathExists(root, ".git/"+recordName) {
				t.Error("git goes on and nobody knows")
			}
			_, heard = s.process([]string{"x", "y"})
			write(t, root, ".git/go", "")
			heard()
			if len(s.landed) != 2 || out(t, root, "status", "--porcelain") != "" || pathExists(root, ".git/"+recordName) {
				t.Errorf("landed %q, refused %q, status %q", s.landed, s.refused, out(t, root, "status", "--porcelain"))
			}
		})
	}
}

// Git itself is killed while it writes files, together with who started it. What it wrote, and
// the lock file that it left, are taken back; the user's changes stay.
func TestGitIsKilledWhileItWritesFiles(t *testing.T) {
	t.Parallel()
	if _, err := os.Lstat("/proc/self/fd"); err != nil {
		t.Skip("only Linux says which files are open")
	}
	root, _ := brokenOff(t)
	remove(t, root, ".git/"+recordName)
	write(t, root, "mine", "mine\n")
	write(t, root, ".git/info/attributes", "f filter=slow\n")
	do(t, root, "config", "filter.slow.clean", "cat")
	do(t, root, "config", "filter.slow.smudge", strings.ReplaceAll("cat; test -e {git}/go || { echo $PPID >{git}/pid; mv {git}/pid {git}/begun; while ! test -e {git}/go; do sleep 0.02; done; }", "{git}", filepath.Join(root, ".git")))
	s := &storm{t: t, root: root, strategy: Auto, refused: map[string]string{}}
	process, heard := s.process([]string{"x"})
	wait.Until(t, "git writes files", func() bool { return pathExists(root, ".git/begun") })
	pid, err := strconv.Atoi(strings.TrimSpace(read(t, root, ".git/begun")))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []int{process.Pid, pid} {
		if err := syscall.Kill(p, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	heard()
	if !pathExists(root, ".git/index.lock") || !pathExists(root, ".git/"+recordName) {
		t.Error("the lock file or the record is not there")
	}
	write(t, root, ".git/go", "")
	did, err := New().RecoverLanding(context.Background(), root)
	if err != nil || !strings.Contains(did, "nothing was changed; repaired in") {
		t.Errorf("%q, %v", did, err)
	}
	if status := out(t, root, "status", "--porcelain"); status != " M mine" || pathExists(root, ".git/index.lock") {
		t.Errorf("the checkout is %q", status)
	}
	if _, err := merge(root, "x", "main", Auto, ""); err != nil || read(t, root, "f") != "new\n" {
		t.Errorf("f is %q, %v", read(t, root, "f"), err)
	}
}
