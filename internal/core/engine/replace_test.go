package engine_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

func forceRespawn() signal.Signal {
	return signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn, Arg: engine.Force}
}

func TestALivingAgentIsReplacedOnlyByForce(t *testing.T) {
	w := workingNow(t)
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn}, "is alive: end it and start another one with orange task respawn "+string(w.task.ID)+" --force")
	w.refused(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, Verb: engine.Respawn, Arg: engine.Force}, "only a person")
	visit, crashes := w.task.Visit, w.task.CounterValue("crash_count")
	w.must(forceRespawn())
	if old, _ := w.task.AttemptByNumber(1); !old.Ending {
		t.Errorf("the old agent is not ordered to end: %+v", w.task.Attempts)
	}
	w.refused(forceRespawn(), "attempt 2 of the worker is still being started")
	if did := w.perform(); !slices.Equal(did, []string{"kill_agent", "spawn_agent"}) {
		t.Errorf("effects %v", did)
	}
	if now, ok := w.task.LiveAttempt("worker"); !ok || now.Number != 2 || !now.Running || len(w.task.Attempts) != 1 {
		t.Errorf("attempts %+v", w.task.Attempts)
	}
	if w.task.Visit != visit || w.task.Status != "working" || w.task.CounterValue("crash_count") != crashes || w.task.Crashed != "" {
		t.Errorf("%s, visit %d, crashed %q", w.task.Status, w.task.Visit, w.task.Crashed)
	}
	if slices.ContainsFunc(w.log, func(e journal.Entry) bool { return e.Type == journal.AgentCrashed }) {
		t.Error("the end that a person ordered is counted as a crash")
	}
	w.decidedAgain()
}

func TestTheReplacementGetsTheMessageThatTheOldAgentDidNotReceive(t *testing.T) {
	w := workingNow(t)
	w.turnEnds(1, "Red or blue?")
	w.answer("Take blue")
	w.must(forceRespawn())
	var starts []task.Effect
	for _, p := range w.task.Pending {
		if p.Attempt == 1 {
			t.Errorf("%s to the old agent is still pending", p.Do)
		}
		if p.Start {
			starts = append(starts, p)
		}
	}
	if len(starts) != 1 || !strings.Contains(starts[0].Text, "Take blue") || starts[0].Attempt != 2 {
		t.Errorf("starts %+v", starts)
	}
	w.perform()
	if len(w.task.Attempts) != 1 || w.task.Attempts[0].Number != 2 {
		t.Errorf("attempts %+v", w.task.Attempts)
	}
	w.decidedAgain()
}

func TestAnAgentThatCannotBeEndedIsNotReplaced(t *testing.T) {
	w := workingNow(t)
	w.must(forceRespawn())
	e, _ := engine.NextEffect(&w.task)
	w.send(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: e.ID, Final: true, Error: "it does not end"}})
	if next, ok := engine.NextEffect(&w.task); ok {
		t.Errorf("%s runs although the old agent may live", next.Do)
	}
	if !strings.Contains(w.task.Attention, "kill_agent failed") {
		t.Errorf("attention %q", w.task.Attention)
	}
	w.must(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	if did := w.perform(); !slices.Equal(did, []string{"kill_agent", "spawn_agent"}) {
		t.Errorf("effects %v", did)
	}
}

// TestNoMessageIsLostWhenAnAgentIsReplaced ends an agent before two messages and an edit reach it. The next agent begins
// with the task as it is, so it does not need the message about the edit.
func TestNoMessageIsLostWhenAnAgentIsReplaced(t *testing.T) {
	for name, end := range map[string]func(w *world){
		"a person replaces it": func(w *world) { w.must(forceRespawn()) },
		"it is stopped":        func(w *world) { w.must(stopOf("", "")); w.perform(); w.must(restart()) },
	} {
		t.Run(name, func(t *testing.T) {
			w := workingNow(t)
			w.must(messageTo("", "Use the blue one"))
			w.must(messageTo("", "And hurry"))
			w.must(editTo("do it better", ""))
			end(w)
			var got []string
			for _, p := range w.task.Pending {
				switch info, _ := workflow.EffectNamed(p.Do); {
				case p.Start && p.Message != "":
					got = append(got, p.Message+": "+p.Text)
				case info.Notifies && !p.Start:
					got = append(got, p.Prompt+": "+p.Text)
				}
			}
			if want := []string{"person-message: Use the blue one\n\nAnd hurry"}; !slices.Equal(got, want) {
				t.Errorf("the next worker gets %q, want %q", got, want)
			}
			w.perform()
			if a, _ := w.task.LiveAttempt("worker"); a.Number != 2 || len(w.task.Attempts) != 1 || len(w.task.Undelivered) > 0 {
				t.Errorf("attempts %+v, still kept %+v", w.task.Attempts, w.task.Undelivered)
			}
			w.decidedAgain()
		})
	}
}
