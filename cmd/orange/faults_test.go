package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"orange/internal/adapter/shim"
	"orange/internal/core/task"
)

// diligent plays a whole life: plan, work, handoff, and one review that passes.
const diligent = `
worker:
  - section: {name: Plan, text: "APPROACH: straight on"}
  - run: orange task update --status working
  - commit: {file: "{task}.txt", text: "done\n", message: do it}
  - section: {name: Handoff, text: "DONE: it"}
  - run: orange task update --status agent-review
  - wait:
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
`

// planner plans and then works for ever.
const planner = `
worker:
  - section: {name: Plan, text: "APPROACH: slowly"}
  - run: orange task update --status working
  - idle:
worker#2:
  - commit: {file: second.txt, text: "x\n", message: second}
  - section: {name: Handoff, text: "DONE: by the second"}
  - run: orange task update --status agent-review
  - idle:
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
`

// both runs a test with and without a terminal.
func both(t *testing.T, f func(t *testing.T, s *env)) {
	for _, sessions := range []string{"tmux", "headless"} {
		t.Run(sessions, func(t *testing.T) { f(t, openEnv(t, sessions)) })
	}
}

func TestATaskIsDoneByAgents(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		id := s.create("feature", diligent)
		s.reaches(id, "reviewing")
		s.refused("is not in main", "task", "complete", string(id))
		s.orange("task", "merge", string(id))
		got := s.reaches(id, "done")
		if len(got.Attempts) != 0 || got.Workspace != "" || got.TmuxSession != "" {
			t.Errorf("%+v", got)
		}
		if text, err := os.ReadFile(filepath.Join(s.repo, string(id)+".txt")); err != nil || string(text) != "done\n" {
			t.Errorf("the work is not in the default branch: %q, %v", text, err)
		}
		if out, _ := s.tmux("list-windows", "-a"); out != "" {
			t.Errorf("windows are left: %s", out)
		}
		if n := count(s.history(id), "agent.crashed"); n != 0 {
			t.Errorf("%d crashes: %q", n, s.history(id))
		}
	})
}

func TestAnAgentThatIsKilledIsReplaced(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		id := s.create("feature", planner)
		s.reaches(id, "working")
		kill(t, s.alive(id, 1).Child.PID)
		crashed := s.await(id, "the crash is seen", func(t task.Task) bool { return t.Crashed == "worker" })
		if crashed.CounterValue("crash_count") != 1 || crashed.RespawnAt.IsZero() {
			t.Errorf("%+v", crashed)
		}
		if inbox := s.orange("inbox"); !strings.Contains(inbox, "crashed") {
			t.Errorf("the inbox says %s", inbox)
		}
		s.orange("task", "respawn", string(id))
		s.reaches(id, "reviewing")
	})
}

func TestAKilledShimLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		id := s.create("feature", strings.Replace(planner, "  - idle:", "  - daemon: sleep 1000\n  - idle:", 1))
		s.reaches(id, "working")
		started := s.alive(id, 1)
		kill(t, started.Shim.PID)
		s.await(id, "the crash is seen", func(t task.Task) bool { return t.Crashed == "worker" })
		if !gone(started.Child.PID) {
			t.Error("the agent lives on without its shim")
		}
		s.orange("task", "respawn", string(id))
		s.reaches(id, "reviewing")
	})
}

func TestAgentsSurviveTheEndOfTmux(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("feature", planner)
	s.reaches(id, "working")
	child := s.alive(id, 1).Child.PID
	if _, err := s.tmux("kill-server"); err != nil {
		t.Fatal(err)
	}
	s.await(id, "the end is seen", func(t task.Task) bool { return t.Crashed == "worker" })
	if !gone(child) {
		t.Error("the agent lives on without a terminal")
	}
	s.orange("task", "respawn", string(id))
	s.reaches(id, "reviewing")
}

func TestAgentsContinueWithoutTheServer(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		id := s.create("feature", `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - run: "while ! test -e ../../../go; do sleep 0.02; done"
  - commit: {file: a.txt, text: "x\n", message: a}
  - section: {name: Handoff, text: "DONE: while nobody watched"}
  - exit: 0
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
`)
		s.reaches(id, "working")
		started := s.alive(id, 1)
		s.killServer()
		if gone(started.Child.PID) {
			t.Fatal("the agent ended with the server")
		}
		s.write("go", "")
		s.eventually("the agent has ended", func() bool { return gone(started.Shim.PID) })
		// The shim found no server and started one: nobody runs a command here.
		s.eventually("a server is back", func() bool { return held(filepath.Join(s.home, "server.lock")) })
		s.reaches(id, "reviewing")
		if n := count(s.history(id), "auto.advanced the worker ended (code 0), and"); n != 1 {
			t.Errorf("%q", s.history(id))
		}
	})
}

func TestAServerAdoptsTheLiving(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		id := s.create("feature", planner)
		s.reaches(id, "working")
		started := s.alive(id, 1)
		s.killServer()
		s.orange("task", "list")
		kill(t, started.Child.PID)
		s.await(id, "the new server sees the end", func(t task.Task) bool { return t.Crashed == "worker" })
		if n := count(s.history(id), "agent.spawned"); n != 1 {
			t.Errorf("%d agents were started", n)
		}
	})
}

func TestAfterARebootAttemptsAreOver(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		id := s.create("feature", planner)
		s.reaches(id, "working")
		started := s.alive(id, 1)
		s.killServer()
		s.tmux("kill-server") //nolint:errcheck // there is none without a terminal
		for _, pid := range []int{started.Shim.PID, started.Child.PID} {
			s.run("version") //nolint:errcheck // starts no server
			syscallKill(pid) // it may have gone with its terminal
			s.eventually("it is gone", func() bool { return gone(pid) })
		}
		s.run("stop") //nolint:errcheck // a shim may have started a server
		forgetBoot(t, s.folder(id, 1))
		got := s.await(id, "the attempt is over", func(t task.Task) bool { return len(t.Attempts) == 0 || t.Attempts[0].Number > 1 })
		if got.CounterValue("crash_count") != 0 || got.Attention != "" {
			t.Errorf("%+v", got)
		}
		s.reaches(id, "reviewing")
		s.fellWithOthers(id, "the machine was restarted")
	})
}

func TestAgentsThatEndTogetherHaveNotCrashed(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		ids := []task.ID{s.create("one", planner), s.create("two", planner)}
		var shims []int
		for _, id := range ids {
			s.reaches(id, "working")
			shims = append(shims, s.alive(id, 1).Shim.PID)
		}
		want := "tmux ended together with 1 other agent"
		if out, err := s.tmux("kill-server"); err != nil {
			t.Logf("without tmux: %s", out)
			want = "its shim was ended together with those of 1 other agent"
			for _, pid := range shims {
				kill(t, pid)
			}
		}
		for _, id := range ids {
			s.reaches(id, "reviewing")
			s.fellWithOthers(id, want)
		}
	})
}

// fellWithOthers checks that the end of an agent was recorded with its reason and not as a crash.
func (s *env) fellWithOthers(id task.ID, why string) {
	s.t.Helper()
	history := s.history(id)
	if count(history, "agent.crashed") != 0 || count(history, "agent.lost "+why) != 1 {
		s.t.Errorf("%q", history)
	}
	if got := s.task(id); got.CounterValue("crash_count") != 0 {
		s.t.Errorf("a crash is counted: %+v", got.Counters)
	}
	if out := s.orange("task", "explain", string(id)); !strings.Contains(out, why) {
		s.t.Errorf("explain does not say %q: %s", why, out)
	}
}

// forgetBoot makes the records of an attempt those of an earlier boot, without an end.
func forgetBoot(t *testing.T, f shim.Folder) {
	t.Helper()
	other := regexp.MustCompile(`"boot_id":"[^"]*"`)
	for _, name := range []string{"claim.json", "started.json"} {
		path := filepath.Join(string(f), name)
		text, err := os.ReadFile(path)
		check(t, err)
		check(t, os.WriteFile(path, other.ReplaceAll(text, []byte(`"boot_id":"00000000-0000-0000-0000-000000000000"`)), 0o600))
	}
	os.Remove(filepath.Join(string(f), "exit.json")) //nolint:errcheck // it may not be there
}

func TestAReviewerDiesBesideALivingWorker(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("feature", strings.Replace(diligent, "reviewer:\n", "reviewer:\n  - die: KILL\nreviewer#2:\n", 1))
	s.reaches(id, "reviewing")
	got := s.task(id)
	if n := count(s.history(id), "agent.crashed"); n != 1 || got.CounterValue("review_round") != 1 {
		t.Errorf("%d crashes, round %d: %q", n, got.CounterValue("review_round"), s.history(id))
	}
	if a, ok := got.LiveAttempt("worker"); !ok || a.Number != 1 {
		t.Errorf("the worker was touched: %+v", got.Attempts)
	}
}

func TestAWorkerThatExitsRightAfterItsHandoffIsDone(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		id := s.create("feature", strings.Replace(diligent, "  - run: orange task update --status agent-review\n  - wait:\n", "  - exit: 3\n", 1))
		s.reaches(id, "reviewing")
		if n := count(s.history(id), "agent.crashed"); n != 0 {
			t.Errorf("%q", s.history(id))
		}
	})
}

func TestADaemonDoesNotOutliveItsAttempt(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		id := s.create("feature", `
worker:
  - daemon: "echo $$ >../../../daemon; exec sleep 1000"
  - run: "while ! test -s ../../../daemon; do sleep 0.02; done"
  - exit: 0
`)
		s.await(id, "the end is seen", func(t task.Task) bool { return t.Crashed == "worker" })
		if pid := s.pid("daemon"); !gone(pid) {
			t.Errorf("daemon %d lives", pid)
		}
	})
}

func TestAServerStartedByAnAgentOutlivesIt(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", `
worker:
  - run: "while ! test -e ../../../go; do sleep 0.02; done"
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - exit: 1
`)
	s.alive(id, 1)
	s.killServer()
	s.write("go", "") // the agent's own command starts a server
	got := s.await(id, "the end is seen", func(t task.Task) bool { return t.Status == "working" && len(t.Attempts) == 0 })
	if got.Crashed != "worker" || got.AttemptCount() != 1 {
		t.Errorf("an agent that moved the task counts as one that could not start: crashed %q, %+v", got.Crashed, got.Unstarted)
	}
	if !held(filepath.Join(s.home, "server.lock")) {
		t.Error("the server was ended with the agent")
	}
}
