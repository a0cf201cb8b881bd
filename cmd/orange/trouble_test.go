package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orange/internal/adapter/shim"
	"orange/internal/core/task"
)

func (s *env) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, name))
	return err == nil
}

func (s *env) text(name string) string {
	text, _ := os.ReadFile(filepath.Join(s.dir, name))
	return string(text)
}

// parts is a script whose process connects, forks, and leaves before its child asks.
const parts = `
use IO::Socket::UNIX; use POSIX;
my $pid = fork();
if ($pid == 0) {
  my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die;
  if (my $child = fork()) { POSIX::_exit(0); }
  while (kill(0, $pid0 = getppid()) && getppid() == $ARGV[3]) { select(undef, undef, undef, 0.01); }
  select(undef, undef, undef, 0.2);
  my $b = '{"kind":"request","verb":"cancel"}';
  print $s "POST /v1/tasks/$ARGV[1]/signals HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ".length($b)."\r\n\r\n$b";
  $s->flush;
  open(my $o, '>', $ARGV[2]); while (<$s>) { print $o $_; } close $o;
  POSIX::_exit(0);
}
waitpid($pid, 0);
`

func TestAnAgentWhoseProcessIsGoneIsNoPerson(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("perl is not installed: nothing else here forks between two calls")
	}
	s := openEnv(t, "headless")
	file := s.write("parts.pl", parts)
	id := s.create("feature", fmt.Sprintf(`
worker:
  - run: "env -u ORANGE_TOKEN perl %s %s $ORANGE_TASK ../../../reply $$"
  - idle:
`, file, s.cfg.Socket))
	s.eventually("it has an answer", func() bool { return strings.Contains(s.text("reply"), "\r\n\r\n") })
	if !strings.Contains(s.text("reply"), " 403 ") {
		t.Errorf("%.300s", s.text("reply"))
	}
	if got := s.task(id); got.Status != "planning" {
		t.Errorf("%+v", got)
	}
}

func TestAnothersMarkDoesNotLetAProcessEscape(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", `
worker:
  - run: "ORANGE_ATTEMPT_KEY=server setsid sh -c 'echo $$ >../../../escaped; exec sleep 1000' </dev/null >/dev/null 2>&1 &"
  - run: "while ! test -s ../../../escaped; do sleep 0.02; done"
  - exit: 0
`)
	s.await(id, "the end is seen", func(t task.Task) bool { return t.Crashed == "worker" })
	if pid := s.pid("escaped"); !gone(pid) {
		t.Errorf("process %d outlived its attempt", pid)
	}
}

func TestTheServerLeavesWhileASetUpRuns(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--setup", "test -e ../../../again || { touch ../../../again; exec sleep 1000; }")
	id := s.create("feature", "worker:\n  - idle:\n")
	s.eventually("the set-up runs", func() bool { return s.has("again") })
	s.orange("stop")
	if held(filepath.Join(s.home, "server.lock")) {
		t.Error("the server is still there")
	}
	s.alive(id, 1) // the next server does it again
}

func TestAWaitingShimGetsItsOrdersFromTheNextServer(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.orange("pause")
	id := s.create("feature", "worker:\n  - idle:\n")
	f := s.folder(id, 1)
	check(t, f.PrepareStart())
	cmd := exec.Command(s.program, shimCommand, string(f)) // as a server left it that died at this moment
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	check(t, cmd.Start())
	go cmd.Wait() //nolint:errcheck // it is ended with the shop
	s.eventually("it waits for orders", func() bool {
		state, err := f.ReadState(shim.BootID())
		return err == nil && state.Phase == shim.Starting
	})
	s.orange("resume")
	if started := s.alive(id, 1); started.Child.PID == 0 || started.Shim.PID != cmd.Process.Pid {
		t.Errorf("%+v", started)
	}
}

func TestAPausedTaskThatIsCancelledIsCleanedUp(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", "worker:\n  - idle:\n")
	child := s.alive(id, 1).Child.PID
	s.orange("pause", string(id))
	s.orange("task", "cancel", string(id), "--yes")
	s.reaches(id, "cancelled")
	if !gone(child) {
		t.Error("its agent lives on")
	}
}

func TestTheEndOfOneAttemptIsNotTheEndOfAnother(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--pool-size", "3")
	a := s.create("first", `
worker:
  - run: "while ! test -e ../../../go; do sleep 0.02; done"
  - run: "orange task list; touch ../../../asked"
  - run: "while ! test -e ../../../end; do sleep 0.02; done"
  - exit: 1
`)
	s.alive(a, 1)
	s.killServer()
	s.write("go", "")
	s.eventually("the agent's command started a server", func() bool { return s.has("asked") })
	b := s.create("second", "worker:\n  - idle:\n")
	started := s.alive(b, 1)
	s.killServer()
	s.orange("task", "list")
	s.write("end", "")
	s.await(a, "the first has ended", func(t task.Task) bool { return t.Crashed == "worker" })
	if gone(started.Child.PID) || len(s.task(b).Attempts) != 1 {
		t.Errorf("the second ended with it: %q", s.history(b))
	}
}

func TestATaskNeverHasTheDefaultBranch(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.git(s.repo, "checkout", "-q", "-b", "mine")
	id := s.create("feature", `
worker:
  - run: "orange task update --branch main 2>../../../said; touch ../../../asked"
  - idle:
`)
	s.eventually("it has asked", func() bool { return s.has("asked") })
	if got := s.task(id); got.Branch != "feature" || !strings.Contains(s.text("said"), "is the default branch") {
		t.Errorf("%s: %q", got.Branch, s.text("said"))
	}
}

func TestARecordThatCannotBeReadIsNoDeath(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", "worker:\n  - idle:\n")
	started := s.alive(id, 1)
	file := filepath.Join(string(s.folder(id, 1)), "started.json")
	good, err := os.ReadFile(file)
	check(t, err)
	s.killServer()
	check(t, os.WriteFile(file, []byte("{"), 0o600))
	s.orange("task", "list")
	s.eventually("the server looked", func() bool {
		return strings.Contains(s.text("home/orange.log"), "watch an attempt")
	})
	if got := s.task(id); got.Crashed != "" || len(got.Attempts) != 1 || gone(started.Child.PID) {
		t.Fatalf("%+v", got)
	}
	check(t, os.WriteFile(file, good, 0o600))
	s.eventually("it is watched again", func() bool {
		out, _, _ := s.run("doctor") //nolint:errcheck // it fails until then
		return strings.Contains(out, "1 alive, all watched")
	})
}

func TestAMessageIsNotTheAnswerToAQuestion(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("feature", `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - commit: {file: a.txt, text: "one\n", message: one}
  - section: {name: Handoff, text: "DONE: x"}
  - run: orange task update --status agent-review
  - ask: "may I delete everything?"
  - run: touch ../../../approved
  - wait:
  - run: touch ../../../told
  - idle:
reviewer:
  - run: "while ! test -e ../../../go; do sleep 0.05; done"
  - section: {name: Review, text: "Verdict: FAIL"}
  - run: orange task update --status working
`)
	s.await(id, "it asks", func(t task.Task) bool {
		a, ok := t.LiveAttempt("worker")
		return ok && a.Condition.Name == task.WaitingPermission
	})
	s.write("go", "")
	s.await(id, "the message is due", func(t task.Task) bool {
		return t.Status == "working" && len(t.Pending) == 1 && t.Pending[0].Do == "notify_worker"
	})
	if s.has("approved") || s.task(id).Pending[0].Tries != 0 {
		t.Errorf("the message was typed into the question: %+v", s.task(id).Pending)
	}
	if _, err := s.tmux("send-keys", "-t", "=shop/feature:=worker", "y", "Enter"); err != nil {
		t.Fatal(err)
	}
	s.eventually("it was told after the answer", func() bool { return s.has("approved") && s.has("told") })
	if out := s.orange("task", "replay", string(id)); !strings.Contains(out, "same") {
		t.Errorf("%s", out)
	}
}

func TestAnImportedAttemptIsOver(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", "worker:\n  - run: orange task update --status clarification\n  - idle:\n")
	s.reaches(id, "clarification")
	file := s.write("export.jsonl", s.orange("export"))
	other := openEnv(t, "headless")
	other.orange("project", "remove", "shop")
	other.orange("import", file)
	other.await(id, "its attempts are over", func(t task.Task) bool { return len(t.Attempts) == 0 })
}

func TestADeliveryThatFailsHoldsUpNeitherMergeNorCancel(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--pool-size", "3", "--delivery", "push") // there is no remote
	merge, cancel := s.create("merge", diligent), s.create("cancel", diligent)
	for _, id := range []task.ID{merge, cancel} {
		s.await(id, "the push is given up", func(t task.Task) bool { return t.Status == "reviewing" && t.Attention != "" })
	}
	if inbox := s.orange("inbox"); !strings.Contains(inbox, "push failed") || !strings.Contains(inbox, "has no remote") {
		t.Errorf("the inbox says %s", inbox)
	}
	s.orange("task", "cancel", string(cancel), "--yes")
	if got := s.reaches(cancel, "cancelled"); got.Workspace != "" || len(got.Attempts) != 0 {
		t.Errorf("%+v", got)
	}
	s.orange("task", "merge", string(merge))
	s.reaches(merge, "done")
}
