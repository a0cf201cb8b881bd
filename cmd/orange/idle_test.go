package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/task"
)

const plansAndAsks = `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - say: "I see **two** ways.\n\n1. a table\n2. a file\n\nWhich one should I take?"
  - wait
`

const worksAndHandsOver = `
  - commit: {file: a.txt, text: "a\n", message: a}
  - section: {name: Handoff, text: "DONE: a"}
  - run: orange task update --status agent-review
  - idle:
`

// asked waits until an agent of the task waits for a person's words.
func (s *env) asked(id task.ID) explain.Item {
	s.t.Helper()
	s.await(id, "an agent waits for a person", func(task.Task) bool { return s.wanted(id).Kind == explain.ItemIdle })
	return s.wanted(id)
}

// taskText is the TASK.md of a task.
func (s *env) taskText(id task.ID) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.home, "tasks", "shop", string(id), "TASK.md"))
	check(s.t, err)
	return string(text)
}

// made makes sure that an agent made a file.
func (s *env) made(name string) {
	s.t.Helper()
	_, err := os.Stat(filepath.Join(s.dir, name))
	check(s.t, err)
}

func TestAQuestionAtTheEndOfATurnIsAnswered(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("feature", plansAndAsks+`
  - run: "until [ -e ../../../refused ]; do sleep 0.05; done"`+worksAndHandsOver+`
reviewer:
  - idle:
`)
	item := s.asked(id)
	hasAll(t, "the item", item.Text, "the worker asks something and waits for an answer", "Which one should I take?")
	hasAll(t, "the command", item.Do, "orange task answer "+string(id))
	if len(item.Reasons) != 1 || item.Reasons[0].Kind != explain.BecauseOfMessage || item.Reasons[0].By != "worker" ||
		item.Reasons[0].Text != "I see **two** ways.\n\n1. a table\n2. a file\n\nWhich one should I take?" {
		t.Errorf("%+v", item.Reasons)
	}
	hasAll(t, "the explanation", s.orange("task", "explain", string(id)), "Who must act: a person", "the worker asks something", "Which one should I take?", "orange task answer")
	if got := s.task(id); !got.Attempts[0].Condition.AsksPerson() || got.Status != "working" {
		t.Errorf("%+v in %s", got.Attempts[0], got.Status)
	}

	s.orange("stop") // what was asked survives the server
	if item := s.wanted(id); item.Kind != explain.ItemIdle || len(item.Reasons) != 1 {
		t.Errorf("after a restart: %+v", item)
	}

	s.orange("task", "answer", string(id), "the file")
	s.refused("answered at", "task", "answer", string(id), "the table")
	s.write("refused", "")
	s.await(id, "the worker goes on", func(t task.Task) bool { return t.Status == "agent-review" && len(t.Pending) == 0 })
	if text := s.taskText(id); !strings.Contains(text, "## Answer\n") || !strings.Contains(text, "-->\nthe file\n") {
		t.Errorf("TASK.md: %s", text)
	}
	if got := s.task(id); got.AttemptsOfRole("worker") != 1 {
		t.Errorf("%d workers", got.AttemptsOfRole("worker"))
	}
	if n := len(s.entries(id, journal.AgentAnswered)); n != 1 {
		t.Errorf("%d answers", n)
	}
	s.wayIs(id, "pending", "planning", "working", "agent-review")
	s.sound(id)
}

func TestAnAnswerToAnAgentThatWasKilledStartsAnother(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("feature", plansAndAsks+`
worker#2:
  - run: "while ! test -e ../../../go; do sleep 0.02; done"
  - run: "grep -q 'the file' TASK.md && touch ../../../read"`+worksAndHandsOver+`
reviewer:
  - idle:
`)
	s.asked(id)
	kill(t, s.alive(id, 1).Child.PID)
	s.await(id, "its end is known", func(t task.Task) bool { return len(t.Attempts) == 0 })
	if item := s.wanted(id); item.Kind != explain.ItemIdle || !strings.Contains(item.Text, "Which one should I take?") {
		t.Errorf("%+v", item)
	}
	s.orange("task", "answer", string(id), "the file")
	s.refused("answered at", "task", "answer", string(id), "the table")
	s.write("go", "") // the reviewer would take another answer
	s.await(id, "another worker goes on", func(t task.Task) bool { return t.Status == "agent-review" && len(t.Pending) == 0 })
	hasAll(t, "the prompt", s.prompt(id, 2), "A person answered you", "> the file")
	s.made("read")
}

func TestAQuestionWithoutATerminalHoldsTheTask(t *testing.T) {
	t.Parallel()
	for _, workflow := range []string{"orange", "orange-direct"} {
		t.Run(workflow, func(t *testing.T) {
			t.Parallel()
			s := openEnv(t, "headless", "--workflow", workflow)
			id := s.create("feature", strings.Replace(plansAndAsks, "  - wait\n", "", 1)+`
worker#2:
  - run: "grep -q 'the file' TASK.md && touch ../../../read"`+strings.Replace(worksAndHandsOver, "  - idle:\n", "", 1)+`
reviewer:
  - idle:
`)
			item := s.asked(id)
			hasAll(t, "the item", item.Text, "the worker ended with a question", "Which one should I take?")
			got := s.task(id)
			if got.WorkFailed == "" || got.CounterValue("crash_count")+got.CounterValue("no_answer") != 0 || got.AttemptsOfRole("worker") != 1 || len(got.Attempts) != 0 {
				t.Errorf("%+v", got)
			}
			hasAll(t, "the history", s.orange("task", "history", string(id)), "agent.no-answer")
			s.orange("task", "answer", string(id), "the file")
			s.await(id, "another worker goes on", func(t task.Task) bool { return t.Status == "agent-review" && len(t.Pending) == 0 })
			words := s.prompt(id, 2)
			hasAll(t, "the prompt", words, "A person answered you", "> the file")
			if strings.Contains(words, "# Task") || strings.Contains(words, "# Resuming") {
				t.Errorf("the conversation is not resumed: %s", words)
			}
			s.made("read")
			s.sound(id)
		})
	}
}

func TestAnAgentThatEndsWithoutAnAnswerIsAskedOnceAndThenAPersonLooks(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "orange-direct")
	id := s.create("feature", `
worker:
  - say: I looked around in attempt {attempt}.
fixer:
  - idle:
`)
	got := s.await(id, "it is stuck", func(t task.Task) bool { return t.Status == "stuck" })
	hasAll(t, "why", got.StateReason, "no answer 2 of 2 in working")
	hasAll(t, "the prompt", s.prompt(id, 2), "you did not say how it went so that it counts", "end with the question")
	if n := len(s.entries(id, journal.AgentSilent)); n != 2 {
		t.Errorf("%d ends without an answer: %q", n, s.history(id))
	}
	s.sound(id)
}

// An agent that stops is asked once to continue, and is not ended.
func TestAnAgentThatStopsIsNotEnded(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux", "--workflow", "orange-direct")
	text := strings.Replace(s.orange("workflow", "show", "orange-direct"), "{wall: 4h, idle: 30m}", "{wall: 4h, idle: 1s}", 1)
	s.write("shop/.orange/workflows/stops.yaml", strings.Replace(text, "name: orange-direct", "name: stops", 1))
	id := s.create("feature", `
worker:
  - say: I looked around.
  - wait
  - say: I looked around once more.
  - wait
  - say: And what now?
  - idle:
`, "--workflow", "stops")
	s.await(id, "it was told to go on, and stopped again", func(t task.Task) bool {
		a, ok := t.LiveAttempt("worker")
		return ok && !a.Nudged.IsZero() && a.Condition.Name == task.Idle && a.Condition.Since.After(a.Nudged) && len(t.Pending) == 0
	})
	hasAll(t, "the explanation", s.orange("task", "explain", string(id)), "nothing by itself")
	got := s.task(id)
	if a, ok := got.LiveAttempt("worker"); !ok || a.Overdue || len(s.entries(id, journal.AgentNudged)) != 1 {
		t.Errorf("%+v", got)
	}
	item := s.asked(id)
	hasAll(t, "the item", item.Text, "ended its turn without moving the task", "I looked around once more.")
	s.orange("task", "answer", string(id), "go on")
	s.await(id, "it asks", func(t task.Task) bool { return len(t.Attempts) == 1 && t.Attempts[0].Condition.AsksPerson() })
	hasAll(t, "the item", fmt.Sprint(s.asked(id).Reasons), "And what now?")
	s.sound(id)
}
