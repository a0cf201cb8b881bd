package main

import (
	"strings"
	"testing"

	"orange/internal/core/task"
)

// shownScreen says whether the worker of a task is shown with a screen that has these words in it, while a
// message to it is owed.
func shownScreen(words string) func(task.Task) bool {
	return func(t task.Task) bool {
		a, ok := t.LiveAttempt("worker")
		return ok && a.Condition.Name == task.WaitingInput && strings.Contains(a.Condition.Detail, words) &&
			len(t.Pending) == 1 && t.Pending[0].Do == "notify_worker" && t.Pending[0].Tries == 0
	}
}

// A program that opened a menu after its turn gets no key that a person did not press.
func TestNothingIsTypedIntoAMenu(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("feature", `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - commit: {file: a.txt, text: "one\n", message: one}
  - section: {name: Handoff, text: "DONE: x"}
  - run: orange task update --status agent-review
  - run: "echo '{}' | orange hook script idle; sleep 3; printf '> 1. Sign in\\n  2. Quit\\n'; touch ../../../open; head -n 1 </dev/tty >../../../chosen; touch ../../../pressed"
  - wait:
  - run: touch ../../../told
  - idle:
reviewer:
  - run: "while ! test -e ../../../open; do sleep 0.05; done"
  - section: {name: Review, text: "Verdict: FAIL"}
  - run: orange task update --status working
`)
	s.await(id, "the menu is shown", shownScreen("1. Sign in"))
	if inbox := s.orange("inbox"); !strings.Contains(inbox, "1. Sign in") || s.has("pressed") {
		t.Errorf("the inbox says %s", inbox)
	}
	if _, err := s.tmux("send-keys", "-t", "=shop/feature:=worker", "2", "Enter"); err != nil {
		t.Fatal(err)
	}
	s.eventually("it was told after the choice", func() bool { return s.has("told") })
	if got := s.text("chosen"); got != "2\n" {
		t.Errorf("the menu got %q", got)
	}
	if out := s.orange("task", "replay", string(id)); !strings.Contains(out, "same") {
		t.Errorf("%s", out)
	}
}

func TestNothingIsTypedWhileSomebodyReadsTheHistory(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("feature", `
worker:
  - section: {name: Questions, text: "Which colour?"}
  - run: orange task update --status clarification
  - wait:
  - run: touch ../../../told
  - idle:
`)
	s.await(id, "it waits", func(t task.Task) bool {
		a, ok := t.LiveAttempt("worker")
		return t.Status == "clarification" && ok && a.Condition.Name == task.Idle
	})
	if _, err := s.tmux("copy-mode", "-t", "=shop/feature:=worker"); err != nil {
		t.Fatal(err)
	}
	s.orange("task", "answer", string(id), "blue, please")
	s.await(id, "the reason is shown", shownScreen("history"))
	if s.has("told") {
		t.Error("it was told")
	}
	if _, err := s.tmux("copy-mode", "-q", "-t", "=shop/feature:=worker"); err != nil {
		t.Fatal(err)
	}
	s.eventually("it was told", func() bool { return s.has("told") })
}
