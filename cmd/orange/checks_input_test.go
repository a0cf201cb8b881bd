package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"orange/internal/core/task"
)

// commitsAndAsks is a worker that commits a file and hands it over.
const commitsAndAsks = "worker:\n  - commit: {file: a, text: a, message: a}\n  - run: orange task update --status reviewing\n"

// A check that starts a server which detaches ends all the same, and the server with it.
func TestACheckThatStartsAServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	check(t, errors.Join(err, l.Close()))
	pid := filepath.Join(t.TempDir(), "pid")
	daemon := fmt.Sprintf("git daemon --listen=127.0.0.1 --port=%s --reuseaddr --detach --pid-file=%s && while ! test -s %s; do sleep 0.05; done", port, pid, pid)
	s := openEnv(t, "headless", "--workflow", "solo", "--check", "tests="+daemon)
	id := s.create("feat/a", commitsAndAsks)
	got := s.reaches(id, "reviewing")
	if r, ok := got.CheckResultOf("tests"); !ok || r.Outcome != task.CheckPassed {
		t.Fatalf("%+v", got.CheckResults)
	}
	text, err := os.ReadFile(pid)
	check(t, err)
	number, err := strconv.Atoi(strings.TrimSpace(string(text)))
	check(t, err)
	s.eventually("the server that the check started has ended", func() bool { return gone(number) })
	if c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
		c.Close() //nolint:errcheck // it should not be there
		t.Error("something still listens")
	}
}

// A check does not wait for a command that stays and reports no turns. One that goes on editing makes the result invalid,
// and the task is held with the file named.
func TestACommandThatStaysAfterItHandedOver(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "solo", "--check", "tests=true")
	command := func(name, then string) string {
		path := s.write(name, "#!/bin/sh\necho a >a; git add a; git commit -qm a\norange task update --status reviewing\n"+then+"\nexec sleep 3600\n")
		check(t, os.Chmod(path, 0o755))
		return "command:" + path
	}
	got := s.reaches(s.createWith("feat/stays", "--harness", command("stays.sh", "")), "reviewing")
	if _, lives := got.LiveAttempt("worker"); !lives || got.AttemptsOfRole("check") != 1 {
		t.Errorf("%+v", got.Attempts)
	}

	s.orange("project", "update", "shop", "--check", "tests=touch "+filepath.Join(s.dir, "began")+"; while ! git status --porcelain | grep -q .; do sleep 0.05; done")
	id := s.createWith("feat/edits", "--harness", command("edits.sh", "while ! test -e "+filepath.Join(s.dir, "began")+"; do sleep 0.05; done\necho more >>a"))
	held := s.await(id, "it is held", func(t task.Task) bool { return t.WorkFailed != "" })
	if r, _ := held.CheckResultOf("tests"); r.Outcome != task.CheckInvalid || !slices.Equal(r.Files, []string{"a"}) || held.Status != "checking" || !strings.HasSuffix(held.WorkFailed, "twice") {
		t.Errorf("%s: %q, %+v", held.Status, held.WorkFailed, held.CheckResults)
	}
}

// A check that never ends fails at its timeout, and the worker is told.
func TestACheckThatNeverEnds(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "solo", "--check", "tests=echo begun; test -e fixed || sleep 600", "--check", "tests.timeout=1s")
	id := s.create("feat/a", commitsAndAsks+"worker#2:\n  - commit: {file: fixed, text: a, message: b}\n  - run: orange task update --status reviewing\n")
	s.reaches(id, "reviewing")
	var seen []string
	for _, e := range s.journal(id) {
		if e.Check != nil {
			seen = append(seen, e.Check.Outcome)
		}
	}
	if !slices.Equal(seen, []string{task.CheckTimeout, task.CheckPassed}) {
		t.Errorf("the checks were %v", seen)
	}
	if text := s.taskText(id); !strings.Contains(text, "check tests failed: it did not end within 1s") || !strings.Contains(text, "> begun") {
		t.Errorf("TASK.md has:\n%s", text)
	}
}

// A check of a repository without commits can be defined, and nothing can be checked there before there is a commit.
func TestACheckOfARepositoryWithoutCommits(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	empty := filepath.Join(s.dir, "empty")
	s.git(s.dir, "init", "-q", "-b", "main", empty)
	s.orange("project", "add", empty, "--workflow", "solo", "--check", "tests=true")
	s.refused("commit", "task", "create", "--project", "empty", "feat/a", "do it", "--harness", "script:"+s.write("a.yaml", commitsAndAsks))
	s.git(empty, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "begin")
	s.orange("task", "create", "--project", "empty", "feat/a", "do it", "--harness", "script:"+s.write("a.yaml", commitsAndAsks))
	got := s.reaches(s.list()[0].ID, "reviewing")
	if r, ok := got.CheckResultOf("tests"); !ok || r.Outcome != task.CheckPassed {
		t.Errorf("%+v", got.CheckResults)
	}
}

// A worker that stays at its terminal is sent the failing lines, and goes on.
func TestAWorkerAtItsTerminalIsSentTheFailingLines(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux", "--workflow", "solo", "--check", good)
	hand := "  - run: orange task update --status reviewing\n  - wait:\n"
	id := s.create("feat/cart", "worker:\n  - commit: {file: cart.txt, text: \"bad\\n\", message: first}\n"+hand+"  - commit: {file: cart.txt, text: \"good\\n\", message: second}\n"+hand)
	got := s.reaches(id, "reviewing")
	if n := got.AttemptsOfRole("worker"); n != 1 {
		t.Errorf("there were %d workers", n)
	}
	if text := s.orange("task", "log", string(id), "--attempt", "1"); !strings.Contains(text, "expected good, got bad") {
		t.Errorf("the worker was sent:\n%s", text)
	}
}
