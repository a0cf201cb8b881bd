package host

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// worktree is a repository with one commit.
func checkRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.email", "a@b.c"}, {"config", "user.name", "n"}} {
		runGit(t, dir, args...)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-qm", "one")
	return dir
}

func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func TestRunCheck(t *testing.T) {
	for name, c := range map[string]struct {
		check   task.CheckDefinition
		outcome string
		detail  string
		last    string
	}{
		"passes":                {task.CheckDefinition{Run: "cat file"}, task.CheckPassed, "", "one"},
		"fails":                 {task.CheckDefinition{Run: "echo one; echo two >&2; exit 3"}, task.CheckFailed, "exit code 3", "one\ntwo"},
		"is not found":          {task.CheckDefinition{Run: "no-such-command"}, task.CheckMissing, "not found", ""},
		"is in a folder":        {task.CheckDefinition{Run: "pwd | grep -q sub$", Folder: "sub", Setup: "test -d ."}, task.CheckMissing, "no such file", ""},
		"has variables":         {task.CheckDefinition{Run: `test "$WHO" = me`, Env: []string{"WHO=me"}}, task.CheckPassed, "", ""},
		"is set up first":       {task.CheckDefinition{Run: "true", Setup: "echo no; exit 4"}, task.CheckFailed, "exit code 4", "no"},
		"never ends":            {task.CheckDefinition{Run: "echo begun; sleep 600", Timeout: time.Second}, task.CheckTimeout, "did not end within 1s", "begun"},
		"ignores the end":       {task.CheckDefinition{Run: "trap '' TERM; while :; do sleep 1; done", Timeout: time.Second}, task.CheckTimeout, "did not end", ""},
		"changes tracked files": {task.CheckDefinition{Run: "echo two >file"}, task.CheckInvalid, "files changed while it ran: file", ""},
		"leaves files":          {task.CheckDefinition{Run: "echo two >left"}, task.CheckInvalid, "left", ""},
		"commits":               {task.CheckDefinition{Run: "git commit -q --allow-empty -m two"}, task.CheckInvalid, "the branch moved from", ""},
		"is killed":             {task.CheckDefinition{Run: "kill -9 $$"}, task.CheckFailed, "exit code 137", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check.Name = "tests"
			var log bytes.Buffer
			r := runCheck(agent.CheckOrders{Check: c.check, Dir: checkRepo(t), Place: task.PlaceWorkspace}, &log)
			if r.Outcome != c.outcome || !strings.Contains(r.Detail, c.detail) || c.last != "" && r.Last != c.last {
				t.Errorf("%+v\n%s", r, log.String())
			}
			if r.Tree == "" || r.Commit == "" || r.Command != c.check.CommandDigest() || r.Environment != c.check.EnvironmentDigest() {
				t.Errorf("it is bound to nothing: %+v", r)
			}
		})
	}
}

func TestACheckOfADirtyTreeIsInvalid(t *testing.T) {
	dir := checkRepo(t)
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := runCheck(agent.CheckOrders{Check: task.CheckDefinition{Name: "tests", Run: "touch ran"}, Dir: dir}, &bytes.Buffer{})
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil || r.Outcome != task.CheckInvalid || len(r.Files) != 1 || r.Files[0] != "new" {
		t.Errorf("%+v", r)
	}
}

func TestACheckWithoutCommitsIsInvalid(t *testing.T) {
	dir := t.TempDir()
	runGit(t, dir, "init", "-q")
	r := runCheck(agent.CheckOrders{Check: task.CheckDefinition{Name: "tests", Run: "true"}, Dir: dir}, &bytes.Buffer{})
	if r.Outcome != task.CheckInvalid || !strings.Contains(r.Detail, "read the tree of HEAD") {
		t.Errorf("%+v", r)
	}
}

// A check that starts a server ends nevertheless, and what is in its process group ends with it.
func TestACheckDoesNotWaitForWhatItLeaves(t *testing.T) {
	dir := checkRepo(t)
	out := filepath.Join(t.TempDir(), "pid")
	began := time.Now()
	r := runCheck(agent.CheckOrders{Check: task.CheckDefinition{Name: "tests", Run: "sleep 600 & echo $! >" + out}, Dir: dir}, &bytes.Buffer{})
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || r.Outcome != task.CheckPassed || time.Since(began) > 5*time.Minute {
		t.Fatalf("%+v, %v", r, err)
	}
	for range 1000 {
		if syscall.Kill(pid, 0) != nil || isZombie(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d lives", pid)
}

// isZombie reports whether a process has ended and nobody waited for it.
func isZombie(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(text), ") ")
	return err != nil || strings.HasPrefix(rest, "Z")
}

// Of a lot of output, the beginning and the end are kept.
func TestTheOutputOfACheckIsBounded(t *testing.T) {
	var log bytes.Buffer
	r := runCheck(agent.CheckOrders{Check: task.CheckDefinition{Name: "tests", Run: "echo first; yes | head -c 100000000; echo last"}, Dir: checkRepo(t)}, &log)
	if r.Outcome != task.CheckPassed || log.Len() > maxCheckHead+maxCheckTail+100 || !strings.HasPrefix(log.String(), "first\n") || !strings.HasSuffix(log.String(), "last\n") {
		t.Errorf("%s, %d bytes", r.Outcome, log.Len())
	}
	if !strings.Contains(log.String(), "bytes of output were left out") || !strings.HasSuffix(r.Last, "last") || len(r.Last) > maxCheckLast {
		t.Errorf("%d bytes of last lines", len(r.Last))
	}
}
