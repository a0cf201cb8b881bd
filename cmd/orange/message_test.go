package main

import (
	"testing"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

func TestAMessageIsTypedAtTheAgentsPrompt(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("feature", plansAndAsks+worksAndHandsOver+`
reviewer:
  - idle:
`)
	s.asked(id)
	hasAll(t, "the answer", s.orange("task", "send", string(id), "Take the file, not the table"), "the worker is told")
	s.await(id, "the worker goes on", func(t task.Task) bool { return t.Status == "agent-review" && len(t.Pending) == 0 })
	if got := s.task(id); got.AttemptsOfRole("worker") != 1 {
		t.Errorf("%d workers", got.AttemptsOfRole("worker"))
	}
	if sent := s.entries(id, journal.AgentMessaged); len(sent) != 1 || sent[0].Note != "Take the file, not the table" {
		t.Errorf("sent %+v", sent)
	}

	// The worker lives on beside the reviewer, and the reviewer is replaced in its terminal.
	old := s.alive(id, 2).Child.PID
	hasAll(t, "the answer", s.orange("task", "respawn", string(id), "--force"), "attempt 2 of the reviewer is ended, and attempt 3 is started")
	s.await(id, "another reviewer works", func(t task.Task) bool {
		a, ok := t.LiveAttempt("reviewer")
		return ok && a.Number == 3 && a.Running && len(t.Pending) == 0
	})
	if !gone(old) {
		t.Error("the old reviewer lives")
	}
	if n := len(s.entries(id, journal.AgentCrashed)); n != 0 {
		t.Errorf("%d crashes", n)
	}
	s.wayIs(id, "pending", "planning", "working", "agent-review")
	s.sound(id)
}

// A person stops agents in their terminals: they and what they started are gone, the task stays, and another one goes on.
func TestAStoppedAgentIsGoneAndTheTaskStays(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("feature", plansAndAsks+worksAndHandsOver+`
reviewer:
  - idle:
`)
	s.asked(id)
	old := s.alive(id, 1).Child.PID
	hasAll(t, "the answer", s.orange("task", "stop", string(id), "-m", "the table is wrong"), "attempt 1 of the worker is stopped, and the task stays in working")
	got := s.await(id, "the worker has ended", func(t task.Task) bool { return len(t.Attempts) == 0 && len(t.Pending) == 0 })
	if !gone(old) {
		t.Error("the worker lives")
	}
	if got.Status != "working" || got.Workspace == "" || got.Stopped == nil || !got.RespawnAt.IsZero() || got.Crashed != "" || len(s.entries(id, journal.AgentCrashed)) > 0 {
		t.Errorf("%s in %q, stopped %+v, again at %s, crashed %q", got.Status, got.Workspace, got.Stopped, got.RespawnAt, got.Crashed)
	}
	hasAll(t, "the inbox", s.orange("inbox"), "you stopped the worker: the table is wrong", "orange task respawn "+string(id))
	s.orange("task", "respawn", string(id))
	got = s.await(id, "another worker works", func(t task.Task) bool {
		a, ok := t.LiveAttempt("worker")
		return ok && a.Number == 2 && a.Running || t.Status == "agent-review"
	})
	if got.Stopped != nil || got.WorkFailed != "" {
		t.Errorf("held %q, stopped %+v", got.WorkFailed, got.Stopped)
	}
	s.sound(id)
}

// A server that is killed anywhere between the order and the end of a stopped agent changes nothing: the next one ends the agent
// and keeps the task.
func TestAStopSurvivesTheServer(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"commit.after", "effect.before", "effect.after"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := openEnv(t, "headless")
			id := s.create("feature", "worker:\n  - run: \"touch ../../../begun\"\n  - sleep: 1h\n", "--workflow", "solo")
			s.eventually("the worker works", func() bool { return s.has("begun") })
			old := s.alive(id, 1).Child.PID
			s.await(id, "nothing is pending", func(t task.Task) bool { return len(t.Pending) == 0 })
			first := s.crashingServer(1, point)
			s.run("task", "stop", string(id)) //nolint:errcheck // its server dies
			if err := first.Wait(); !killed(err) {
				t.Errorf("the server was not killed: %v", err)
			}
			got := s.await(id, "the worker has ended", func(t task.Task) bool { return t.Stopped != nil && len(t.Attempts) == 0 && len(t.Pending) == 0 })
			if !gone(old) || got.Status != "working" || got.AttemptCount() != 1 || len(s.entries(id, journal.AgentStopped)) != 1 || len(s.entries(id, journal.AgentCrashed)) > 0 {
				t.Errorf("gone %v, %s, %d attempts, %d stops", gone(old), got.Status, got.AttemptCount(), len(s.entries(id, journal.AgentStopped)))
			}
			s.sound(id)
		})
	}
}
