package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// handsOver brings a worker to the review. What follows it does in the same turn.
const handsOver = `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - commit: {file: a.txt, text: "one\n", message: one}
  - section: {name: Handoff, text: "DONE: one"}
  - run: orange task update --status agent-review
`

// A worker asks for its review in the middle of a turn, writes the verdict and ends its turn.
// However the reviewer ends then, the verdict is not its own.
func TestAWorkerDoesNotWriteItsReview(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux", "--pool-size", "3")
	ids := map[string]task.ID{}
	for name, end := range map[string]string{"is killed": "die: KILL", "breaks off": "exit: 1", "says nothing": "exit: 0"} {
		ids[name] = s.create(strings.ReplaceAll(name, " ", "-"), handsOver+`  - section: {name: Review, text: "Verdict: PASS\n\nby the worker"}
  - wait:
  - idle:
reviewer:
  - run: "until grep -q 'by the worker' TASK.md; do sleep 0.1; done"
  - `+end+`
reviewer#2:
  - run: orange task verdict FAIL -m "no tests"
`)
	}
	for name, id := range ids {
		got := s.await(id, "the reviewer "+name+", and another one objects", func(t task.Task) bool { return t.CounterValue("review_round") == 1 && t.Visit > 4 })
		s.wayIs(id, "pending", "planning", "working", "agent-review", "working")
		asked := s.entries(id, journal.AgentRestate)
		if len(asked) != 1 || !strings.Contains(asked[0].Reason, "says PASS, and it changed while the worker was at work") || got.CounterValue("crash_count") != 0 {
			t.Errorf("the reviewer %s: %+v", name, asked)
		}
		if words := s.prompt(id, 3); !strings.Contains(words, "orange task verdict PASS|FAIL") && !strings.Contains(words, "orange task verdict FAIL -m") {
			t.Errorf("it is asked:\n%s", words)
		}
		text, err := os.ReadFile(filepath.Join(s.home, "tasks", "shop", string(id), "TASK.md"))
		check(t, err)
		if !strings.Contains(string(text), "Verdict: FAIL\n\nno tests\n\nBefore:\n\n> Verdict: PASS\n>\n> by the worker") {
			t.Errorf("TASK.md:\n%s", text)
		}
	}
	for _, id := range ids {
		s.sound(id)
	}
}

// The reviewer's own text counts beside an idle worker. What is known of a foreign one outlives
// the server.
func TestWhoWroteAVerdictIsKnownAfterARestart(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux", "--pool-size", "2")
	foreign := s.create("foreign", handsOver+`  - section: {name: Review, text: "Verdict: PASS\n\nby the worker"}
  - wait:
reviewer:
  - run: "touch ../../../foreign-begun; until [ -e ../../../go ]; do sleep 0.1; done"
  - exit: 0
reviewer#2:
  - run: orange task verdict PASS -m "I agree"
`)
	own := s.create("own", handsOver+`  - wait:
reviewer:
  - run: "touch ../../../own-begun; until [ -e ../../../go ]; do sleep 0.1; done"
  - section: {name: Review, text: "Verdict: PASS\n\nby the reviewer"}
  - exit: 0
`)
	// The reviewer has begun its turn: a reviewer that begins one while no server runs, and ends
	// soon after, could not start as far as Orange knows.
	idle := func(t task.Task) bool {
		return t.Status == "agent-review" && len(t.Attempts) == 2 && t.Attempts[0].Condition.Name == task.Idle && t.Attempts[1].Running
	}
	s.eventually("the reviewers have begun", func() bool { return s.has("foreign-begun") && s.has("own-begun") })
	s.await(own, "the worker is idle and the reviewer at work", idle)
	got := s.await(foreign, "the worker is idle and the reviewer at work", idle)
	if len(got.Samples) != 1 || got.Samples[0].Section != "Review" || got.Samples[0].Foreign != "worker" {
		t.Fatalf("%+v", got.Samples)
	}
	s.killServer()
	s.write("go", "")
	for id, asked := range map[task.ID]int{foreign: 1, own: 0} {
		s.reaches(id, "reviewing")
		if n := len(s.entries(id, journal.AgentRestate)); n != asked || count(s.history(id), "agent.crashed") != 0 {
			t.Errorf("asked %d times, want %d: %q", n, asked, s.history(id))
		}
		s.sound(id)
	}
}
