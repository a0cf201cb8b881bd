package engine_test

import (
	"strings"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// refused sends a signal that must be refused with words.
func (w *world) refused(sig signal.Signal, words string) {
	w.t.Helper()
	before := w.task.Seq
	d := w.send(sig)
	if d.Verdict != engine.Refuse || !strings.Contains(d.Refused, words) {
		w.t.Errorf("%s %s%s: %s: %q, want it refused with %q", sig.Kind, sig.To, sig.Verb, d.Verdict, d.Refused, words)
	}
	if len(d.Entries) > 0 || w.task.Seq != before {
		w.t.Errorf("refused, and something changes: %+v", d.Entries)
	}
}

// must sends a signal that must not be refused.
func (w *world) must(sig signal.Signal) engine.Decision {
	w.t.Helper()
	d := w.send(sig)
	if d.Verdict == engine.Refuse {
		w.t.Fatalf("%s %s%s: %s", sig.Kind, sig.To, sig.Verb, d.Refused)
	}
	return d
}

func (w *world) to(actor task.Actor, status string) engine.Decision {
	w.t.Helper()
	return w.must(w.asks(actor, status))
}

// asks is a request for a state, by the living attempt of a role or by a person.
func (w *world) asks(actor task.Actor, status string) signal.Signal {
	a, _ := w.task.LiveAttempt(string(actor))
	return signal.Signal{Kind: signal.Request, Actor: actor, Attempt: a.Number, To: status}
}

// underReview brings a task to agent-review, with everything performed.
func underReview(t *testing.T) *world {
	t.Helper()
	w := begin(t, "orange", true)
	w.perform()
	w.body = "## Plan\n\nAPPROACH: x\n"
	w.to("worker", "working")
	w.body += "\n## Handoff\n\nDONE: x\n"
	w.to("worker", "agent-review")
	w.perform()
	return w
}

func TestTextOpensAGateOnceAndTheRefusalSaysWhatToDo(t *testing.T) {
	w := underReview(t)
	w.body += "\n## Review\n\nVerdict: FAIL\n"
	w.to("reviewer", "working")
	w.perform()
	w.refused(w.asks("worker", "agent-review"),
		`## Handoff (line 5) is stale: it is the text that opened a gate before; rewrite it, or add a line "Round: 5" if the text would be the same`)
	w.body = strings.Replace(w.body, "DONE: x", "DONE: x\nRound: 5", 1)
	w.to("worker", "agent-review")
	w.perform()
	w.refused(w.asks("reviewer", "stuck"), `## Review (line 10) is stale: it has not changed since agent-review began`)
	w.body = strings.Replace(w.body, "Verdict: FAIL", "Verdict: FAIL\nRound: 6", 1)
	w.to("reviewer", "stuck")
}

func TestAnOldVerdictDecidesNothingOnExit(t *testing.T) {
	w := underReview(t)
	w.body += "\n## Review\n\nVerdict: FAIL\n"
	w.to("reviewer", "working")
	w.perform()
	w.body = strings.Replace(w.body, "DONE: x", "DONE: y", 1)
	w.to("worker", "agent-review")
	w.perform()
	a, _ := w.task.LiveAttempt("reviewer")
	d := w.must(signal.Signal{Kind: signal.Exit, Attempt: a.Number, Role: "reviewer"})
	if d.Verdict != engine.Crash || w.task.Status != "agent-review" {
		t.Errorf("round 1's FAIL decides round 2: %s, %s", d.Verdict, w.task.Status)
	}
}

func TestAnOldPlanDoesNotOpenASecondPlanning(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	w.body = "## Plan\n\nAPPROACH: x\n"
	w.to("worker", "working")
	w.to("human", "cancelled")
	w.perform()
	w.to("human", "pending")
	w.to("human", "planning")
	w.perform()
	w.refused(w.asks("worker", "working"), "## Plan (line 1) is stale")
}

func TestGoingBackWhereATaskCameFromNeedsNoGate(t *testing.T) {
	for _, from := range []string{"planning", "working"} {
		t.Run(from, func(t *testing.T) {
			w := begin(t, "orange", true)
			w.perform()
			if from == "working" {
				w.body = "## Plan\n\nAPPROACH: x\n"
				w.to("worker", "working")
			}
			w.to("worker", "clarification")
			if w.task.ReturnTo != from {
				t.Fatalf("return_to is %q", w.task.ReturnTo)
			}
			opened := len(w.task.Opened)
			d := w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "complete"})
			if w.task.Status != from || w.task.ReturnTo != "" || len(w.task.Opened) != opened {
				t.Errorf("%s, return_to %q, %v", w.task.Status, w.task.ReturnTo, d.Reasons)
			}
		})
	}
}

func TestTheOtherWayOutOfAQuestionNeedsItsGate(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	w.to("worker", "clarification")
	w.refused(w.asks("worker", "working"), "clarification -> working: gate: TASK.md has no ## Plan: write it, with a line APPROACH: or TOUCHING:")
	w.body = "## Plan\n\nAPPROACH: x\n"
	w.to("worker", "working")
	w.to("worker", "clarification")
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "complete"})
	if w.task.Status != "working" {
		t.Errorf("the verb goes to %s, and the question came from working", w.task.Status)
	}
}

// loose is a workflow whose gate takes old text.
const loose = `
name: loose
version: 1
describe: old text is good enough
gates:
  noted: {section: Notes, fresh: off}
states:
  a: {kind: human}
  b: {kind: human}
  done: {kind: terminal}
edges:
  - {from: new, to: a, on: create, by: [human]}
  - {from: a, to: b, as: complete, by: [human], gate: noted}
  - {from: b, to: a, as: back, by: [human]}
  - {from: b, to: done, as: complete, by: [human]}
`

func parse(t testing.TB, text string) *workflow.Definition {
	t.Helper()
	return first.read(t, "test.yaml", text)
}

// beginWith begins a task of a workflow that is written here.
func beginWith(t *testing.T, text string) *world {
	t.Helper()
	w := &world{t: t, def: parse(t, text), now: start, free: []string{"p--1"}}
	w.must(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{
		ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Spawn: true,
	}})
	return w
}

func TestAGateWithoutFreshnessTakesOldText(t *testing.T) {
	w := beginWith(t, loose)
	w.refused(w.asks(task.Human, "b"), "TASK.md has no ## Notes: write it, with some text")
	w.body = "## Notes\n"
	w.refused(w.asks(task.Human, "b"), "## Notes (line 1) is empty: write what was done")
	w.body = "## Notes\n\nx\n"
	for range 2 {
		w.to(task.Human, "b")
		w.to(task.Human, "a")
	}
}

func TestWhatAGateSaysOfTheTextItFinds(t *testing.T) {
	tests := []struct{ from, to, body, want string }{
		{"planning", "working", "## Plan\n\nwords\n", "## Plan (line 1) has nothing behind APPROACH: or TOUCHING:; add one such line"},
		{"working", "agent-review", "", "TASK.md has no ## Handoff: write it, with a line DONE: or REMAINING: or DECISIONS: or UNCERTAIN:"},
		{"agent-review", "reviewing", "", `TASK.md has no ## Review: write it, with the first line "Verdict: PASS"`},
		{"agent-review", "reviewing", "## Review\n\nVerdict: FAIL\n", "## Review says FAIL on line 3, and this needs PASS"},
		{"agent-review", "reviewing", "## Review\n\nfine\n", "## Review (line 1) has no verdict: "},
	}
	for _, tt := range tests {
		o := suppose(t, load(t, "orange"), tt.body, engine.Assumptions{From: tt.from, To: tt.to})
		if want := tt.from + " -> " + tt.to + ": gate: " + tt.want; !strings.HasPrefix(o.Refused, want) {
			t.Errorf("%q:\n%s\nwant\n%s", tt.body, o.Refused, want)
		}
	}
	o := suppose(t, load(t, "orange-direct"), "", engine.Assumptions{From: "agent-review", To: "reviewing"})
	if !strings.Contains(o.Refused, "write it, with PASS in its first line") {
		t.Error(o.Refused)
	}
}

func TestATaskFileThatCannotBeReadOpensNothing(t *testing.T) {
	def := load(t, "orange")
	tk, sig, err := engine.Hypothetical(def, engine.Assumptions{From: "planning", To: "working"})
	if err != nil {
		t.Fatal(err)
	}
	sig.Artifacts.Problem = "it is a folder"
	if d := engine.Decide(def, &tk, sig); !strings.Contains(d.Refused, "gate: TASK.md cannot be read: it is a folder") {
		t.Errorf("%s: %s", d.Verdict, d.Refused)
	}
}

func TestEvidenceMustHoldAndSaysHowItIsKnown(t *testing.T) {
	def := load(t, "orange")
	tk, sig, err := engine.Hypothetical(def, engine.Assumptions{From: "reviewing", To: "done", Without: []string{"merged"}})
	if err != nil {
		t.Fatal(err)
	}
	if d := engine.Decide(def, &tk, sig); !strings.HasSuffix(d.Refused, "gate: merged: supposed not to be there") {
		t.Error(d.Refused)
	}
	sig.Evidence = nil
	if d := engine.Decide(def, &tk, sig); !strings.HasSuffix(d.Refused, "gate: merged: nobody could tell") {
		t.Error(d.Refused)
	}
}
