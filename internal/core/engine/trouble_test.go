package engine_test

import (
	"strings"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// A task that is cancelled while its agent cannot be started must not keep its
// workspace because of that agent.
func TestAnAgentThatCannotBeStartedDoesNotHoldUpItsEnd(t *testing.T) {
	w := begin(t, "orange", true)
	receipt := func(ok bool) {
		w.send(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: w.task.Pending[0].ID, OK: ok, Error: "no such program"}})
	}
	receipt(true) // the workspace
	receipt(false)
	w.send(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"})
	receipt(false)
	w.perform()
	if w.task.Workspace != "" || len(w.task.Pending) != 0 || len(w.task.Attempts) != 0 || w.task.Attention != "" {
		t.Errorf("the cancelled task keeps %q, %v, %v, %q", w.task.Workspace, w.task.Pending, w.task.Attempts, w.task.Attention)
	}
}

func TestAnAttemptUpdatesOnlyAsTheRoleItIs(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	w.body = "## Plan\n\nAPPROACH: x\n\n## Handoff\n\nDONE: x\n"
	w.send(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "working"})
	w.send(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "agent-review"})
	w.perform()
	fields := []signal.Field{{Name: "summary", To: "mine now"}}
	if d := w.send(signal.Signal{Kind: signal.Update, Actor: "worker", Attempt: 2, Fields: fields}); d.Verdict != engine.Refuse {
		t.Errorf("the reviewer's attempt, called a worker, changes the summary: %s", d.Verdict)
	}
	if d := w.send(signal.Signal{Kind: signal.Update, Actor: "worker", Attempt: 1, Fields: fields}); d.Verdict != engine.Record {
		t.Errorf("the worker may not change the summary: %s", d.Refused)
	}
}

func TestAPausedTaskKeepsItsPlaceInTheQueue(t *testing.T) {
	w := begin(t, "orange", false)
	w.send(signal.Signal{Kind: signal.Pause, Actor: task.Human})
	if d := w.send(signal.Signal{Kind: signal.Ready, Actor: task.Engine}); d.Verdict != engine.Stay || w.task.Workspace != "" {
		t.Errorf("the engine starts a paused task: %s in %q", d.Verdict, w.task.Workspace)
	}
}

// The worker that lives on into stuck is the agent of stuck: its end is seen.
func TestTheEndOfTheWorkerInStuckIsMarked(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	w.body = "## Plan\n\nAPPROACH: x\n"
	w.send(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "working"})
	w.send(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, Verb: "stuck"})
	w.perform()
	if d := w.send(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker"}); d.Verdict != engine.Crash || w.task.Crashed != "worker" {
		t.Errorf("%s, crashed %q", d.Verdict, w.task.Crashed)
	}
	d := w.send(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn})
	if _, ok := w.task.LiveAttempt("fixer"); !ok || d.Verdict != engine.Record {
		t.Errorf("a person cannot start the fixer: %s %s", d.Verdict, d.Refused)
	}
}

// A review must be compared with what was there when it began: that must be readable.
func TestNoReviewBeginsWhileTaskFileCannotBeRead(t *testing.T) {
	def := load(t, "orange-direct")
	stuck := task.Task{ID: "000000000000000000001", Project: "p", Status: "stuck", Resources: task.Resources{Workspace: "p--1"}, Seq: 5, CurrentVisit: task.CurrentVisit{Visit: 4}}
	d := engine.Decide(def, &stuck, signal.Signal{
		Kind: signal.Request, At: start, Actor: task.Human, To: "agent-review", Artifacts: signal.Artifacts{Problem: "it is a pipe"},
	})
	if d.Verdict != engine.Refuse || !strings.Contains(d.Refused, "it is a pipe") {
		t.Errorf("%s: %s", d.Verdict, d.Refused)
	}
}

func TestADeadlineDoesNotCountTheTimeOfAPause(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	w.send(signal.Signal{Kind: signal.Pause, Actor: task.Human})
	s, _ := w.def.StateNamed("planning")
	w.now = w.now.Add(2 * s.Wall)
	w.send(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	for _, tm := range engine.Timers(w.def, &w.task) {
		if tm.Name == engine.Deadline && tm.At.Sub(w.now) < s.Wall {
			t.Errorf("after the pause there are %s left of %s", tm.At.Sub(w.now), s.Wall)
		}
	}
}
