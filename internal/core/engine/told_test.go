package engine_test

import (
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// told sends a request of a person, or of an attempt, and returns the message that the entry owes to each attempt.
func told(t *testing.T, w *world, sig signal.Signal) map[int]string {
	t.Helper()
	sig.Kind, sig.Rules = signal.Request, engine.Rules
	if d := w.send(sig); d.Verdict != engine.Advance {
		t.Fatalf("%s: %s", d.Verdict, d.Refused)
	}
	out := map[int]string{}
	for _, e := range w.log[len(w.log)-1].Effects {
		if info, _ := workflow.EffectNamed(e.Do); info.Notifies {
			out[e.Attempt] += e.Prompt
		}
	}
	return out
}

func TestALivingAgentIsNotifiedThatItIsItsTurn(t *testing.T) {
	plan, handoff := "## Plan\n\nAPPROACH: x\n", "## Plan\n\nAPPROACH: x\n\n## Handoff\n\nDONE: x\n"
	for _, c := range []struct {
		name string
		body string
		ways []signal.Signal // the last is the one that is looked at
		want string          // message of attempt 1, the worker
	}{
		{"a person goes on for it", plan, []signal.Signal{{Actor: task.Human, To: "working"}}, "your-turn"},
		{"it goes on itself", plan, []signal.Signal{{Actor: "worker", Attempt: 1, To: "working"}}, ""},
		{"a person asks it to ask", "", []signal.Signal{{Actor: task.Human, To: "clarification"}}, "clarification"},
		{"it asks itself", "", []signal.Signal{{Actor: "worker", Attempt: 1, To: "clarification"}}, ""},
		{"a person completes without an answer", "", []signal.Signal{{Actor: "worker", Attempt: 1, To: "clarification"}, {Actor: task.Human, Verb: "complete"}}, "your-turn"},
		{"a person answers", "", []signal.Signal{{Actor: "worker", Attempt: 1, To: "clarification"}, {Actor: task.Human, Verb: "answer", Note: "yes"}}, "answered"},
		{"the edge tells it", handoff, []signal.Signal{
			{Actor: "worker", Attempt: 1, To: "working"}, {Actor: task.Human, Verb: "stuck"}, {Actor: task.Human, Verb: "resume"},
		}, "resumed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := begin(t, "orange", true)
			w.perform()
			w.body = c.body
			var got map[int]string
			for _, sig := range c.ways {
				got = told(t, w, sig)
			}
			if got[1] != c.want {
				t.Errorf("the worker is told %q, want %q", got[1], c.want)
			}
			again, err := engine.Redecide(w.def, w.log)
			if err != nil {
				t.Fatal(err)
			}
			if first, n := again.FirstDivergence(); n > 0 {
				t.Errorf("%d decisions are not the same again, the first: %+v", n, first)
			}
		})
	}
}

func TestAPersonsNoteIsPartOfTheMessage(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	told(t, w, signal.Signal{Actor: "worker", Attempt: 1, To: "clarification"})
	told(t, w, signal.Signal{Actor: task.Human, Verb: "complete", Note: "use the old table"})
	effects := w.log[len(w.log)-1].Effects
	if len(effects) != 2 || effects[0].Do != workflow.WriteSection || effects[0].Arg != "Feedback" || effects[1].Text != "use the old table" {
		t.Errorf("%+v", effects)
	}
}

func TestAMessageAboutAStateThatWasLeftIsForgotten(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	told(t, w, signal.Signal{Actor: task.Human, To: "clarification"})
	old := w.task.Pending[0].ID
	told(t, w, signal.Signal{Actor: task.Human, To: "planning"})
	if e := w.log[len(w.log)-1]; len(e.Dropped) != 1 || e.Dropped[0] != old || len(w.task.Pending) != 1 || w.task.Pending[0].Prompt != "your-turn" {
		t.Errorf("dropped %v, pending %+v", e.Dropped, w.task.Pending)
	}
}

// A journal that was written by earlier rules is decided the same again.
func TestAJournalIsDecidedAgainByItsOwnRules(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	w.send(signal.Signal{Kind: signal.Request, Actor: task.Human, To: "clarification"})
	w.send(signal.Signal{Kind: signal.Request, Actor: task.Human, To: "planning"})
	if len(w.task.Pending) != 0 {
		t.Fatalf("%+v", w.task.Pending)
	}
	again, err := engine.Redecide(w.def, w.log)
	if err != nil {
		t.Fatal(err)
	}
	if first, n := again.FirstDivergence(); n > 0 {
		t.Errorf("%d decisions are not the same again, the first: %+v", n, first)
	}
}

func TestNotifyWorksForEveryRole(t *testing.T) {
	def, err := workflow.Parse("pair.yaml", `
name: pair
version: 1
roles:
  builder: {session: persistent, prompt: build}
  tester: {session: persistent, prompt: test}
gates: {}
counters: {crash_count: {max: 2, per: state, counts: crashes}}
states:
  building: {kind: agent, role: builder, deadline: {wall: 1h}, respawn: auto}
  testing: {kind: agent, role: tester, deadline: {wall: 1h}, respawn: auto}
  help: {kind: human}
  done: {kind: terminal}
edges:
  - {from: new, to: building, on: create, by: [human], do: [acquire_workspace, {spawn_agent: builder}, {spawn_agent: tester}]}
  - {from: building, to: testing, as: complete, by: [builder]}
  - {from: testing, to: building, as: fail, by: [tester], do: [{notify: {role: builder, prompt: failed}}]}
  - {from: testing, to: done, as: complete, by: [tester, human]}
  - {from: [building, testing], to: help, on: crash-limit}
  - {from: help, to: building, as: resume, by: [human]}
  - {from: [building, testing, help], to: done, as: cancel, by: [human]}
prompts:
  build: Build it.
  test: Test it.
  failed: The tests failed.
`)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, def: def, now: start, free: []string{"p--1"}}
	w.send(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Spawn: true}})
	w.perform()
	if got := told(t, w, signal.Signal{Actor: "builder", Attempt: 1, To: "testing"}); got[2] != "your-turn" {
		t.Errorf("the tester is told %q", got[2])
	}
	w.perform()
	if got := told(t, w, signal.Signal{Actor: "tester", Attempt: 2, To: "building"}); got[1] != "failed" {
		t.Errorf("the builder is told %q", got[1])
	}
	if e := w.log[len(w.log)-1]; e.Type != journal.StatusChanged || e.Effects[0].Do != "notify" || e.Effects[0].Role != "builder" {
		t.Errorf("%+v", e)
	}
}

func TestAWorkerThatComesAfterAFailedReviewIsPromptedForRework(t *testing.T) {
	w := begin(t, "orange-direct", true)
	w.perform()
	w.body = "## Handoff\n\nDONE: x\n"
	told(t, w, signal.Signal{Actor: "worker", Attempt: 1, To: "agent-review", Evidence: handedOver})
	w.perform()
	w.body += "\n## Review\n\nFAIL: the total is wrong\n"
	reviewer, _ := w.task.LiveAttempt("reviewer")
	told(t, w, signal.Signal{Actor: "reviewer", Attempt: reviewer.Number, To: "working"})
	for _, e := range w.log[len(w.log)-1].Effects {
		if e.Role == "worker" && e.Start && e.Prompt == "worker-respawn" {
			return
		}
	}
	t.Errorf("%+v", w.log[len(w.log)-1].Effects)
}

// handedOver is the evidence that everything is committed.
var handedOver = []signal.Evidence{{Name: workflow.Commits, Holds: true}, {Name: workflow.Clean, Holds: true}}

func TestAnAgentThatAnAnswerStartsGetsTheAnswer(t *testing.T) {
	w := begin(t, "orange-direct", true)
	w.perform()
	told(t, w, signal.Signal{Actor: "worker", Attempt: 1, To: "clarification"})
	w.send(exitOf(1, "worker", 0))
	w.perform()
	told(t, w, signal.Signal{Actor: task.Human, Verb: engine.VerbAnswer, Note: "blue"})
	for _, e := range w.log[len(w.log)-1].Effects {
		if e.Role == "worker" && e.Start && e.Message == workflow.MessageAnswer && e.Text == "blue" {
			return
		}
	}
	t.Errorf("%+v", w.log[len(w.log)-1].Effects)
}
