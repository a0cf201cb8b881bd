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
