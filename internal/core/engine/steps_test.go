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

func TestAnAnswerResumesTheStepThatStopped(t *testing.T) {
	def := load(t, "cmat-feature")
	for _, step := range def.Steps() {
		tk, sig, err := engine.Hypothetical(def, engine.Assumptions{From: step, Outcome: "BLOCKED: what is the port?"})
		if err != nil {
			t.Fatal(err)
		}
		d := engine.Decide(def, &tk, sig)
		halted, err := journal.Fold(tk, d.Entries)
		if err != nil || d.Verdict != engine.Halt || halted.Status != "halted" || halted.ReturnTo != step {
			t.Fatalf("%s: %s in %s, back to %q: %v", step, d.Verdict, halted.Status, halted.ReturnTo, err)
		}
		if s := halted.LastReport; s == nil || s.Role != step || s.Code != "BLOCKED" || s.Detail != "what is the port?" {
			t.Errorf("%s: said %+v", step, s)
		}
		d = engine.Decide(def, &halted, signal.Signal{
			Kind: signal.Request, At: start, Actor: task.Human, Verb: engine.VerbAnswer, Note: "8080", Free: []string{"p--1"},
		})
		if d.Verdict != engine.Advance || d.Entries[0].To != step {
			t.Fatalf("%s: %s, %s", step, d.Verdict, d.Refused)
		}
		starts := slices.ContainsFunc(d.Entries[0].Effects, func(e task.Effect) bool { return e.Start && e.Role == step })
		writes := slices.ContainsFunc(d.Entries[0].Effects, func(e task.Effect) bool { return e.Do == workflow.WriteSection && e.Text == "8080" })
		if !starts || !writes {
			t.Errorf("%s: %+v", step, d.Entries[0].Effects)
		}
	}
}

func TestALoopOfStepsEndsByItself(t *testing.T) {
	def := parse(t, `{"name": "loop", "steps": [
	  {"agent": "maker", "on_status": {"MADE": {"next_step": "breaker"}}},
	  {"agent": "breaker", "on_status": {"BROKEN": {"next_step": "maker"}, "HOLDS_COMPLETE": {}}}]}`)
	bound, _ := def.CounterNamed("steps")
	tk := task.Task{}
	send := func(sig signal.Signal) engine.Verdict {
		sig.At, sig.Free = start, []string{"p--1"}
		d := engine.Decide(def, &tk, sig)
		next, err := journal.Fold(tk, d.Entries)
		if err != nil {
			t.Fatal(err)
		}
		tk = next
		return d.Verdict
	}
	send(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "s", Spawn: true}})
	moves := 0
	for ; tk.Status != "halted"; moves++ {
		if moves > 2*bound.Max {
			t.Fatalf("still in %s after %d moves", tk.Status, moves)
		}
		a, ok := tk.LiveAttempt(tk.Status)
		if !ok {
			t.Fatalf("nobody works in %s", tk.Status)
		}
		word := map[string]string{"maker": "MADE", "breaker": "BROKEN"}[tk.Status]
		send(signal.Signal{Kind: signal.Outcome, Actor: task.Actor(a.Role), Attempt: a.Number, Word: word})
	}
	if moves != bound.Max || tk.CounterValue("steps") != bound.Max {
		t.Errorf("%d moves, %d counted, bound %d", moves, tk.CounterValue("steps"), bound.Max)
	}
	if v := send(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "resume"}); v != engine.Advance || tk.CounterValue("steps") != 0 {
		t.Errorf("%s, %d counted", v, tk.CounterValue("steps"))
	}
}

func TestAStepThatAPersonStartsWaits(t *testing.T) {
	def := parse(t, `{"name": "wait", "steps": [
	  {"agent": "maker", "on_status": {"MADE": {"next_step": "tester", "auto_start": false}}},
	  {"agent": "tester", "on_status": {"TESTED": {}}}]}`)
	tk, sig, err := engine.Hypothetical(def, engine.Assumptions{From: "maker", Outcome: "made"})
	if err != nil {
		t.Fatal(err)
	}
	tk, err = journal.Fold(tk, engine.Decide(def, &tk, sig).Entries)
	if _, live := tk.LiveAttempt("tester"); err != nil || tk.Status != "tester-ready" || live {
		t.Fatalf("%s: %v", tk.Status, err)
	}
	d := engine.Decide(def, &tk, signal.Signal{Kind: signal.Request, At: start, Actor: task.Human, Verb: "complete"})
	if d.Verdict != engine.Advance || d.Entries[0].To != "tester" || len(d.Entries[0].Started) != 1 {
		t.Errorf("%s: %s", d.Verdict, d.Refused)
	}
}

func TestAHypotheticalOutcomeComesFromTheStatesAgent(t *testing.T) {
	def := load(t, "cmat-feature")
	tests := []struct {
		s     engine.Assumptions
		actor task.Actor
		word  string
	}{
		{engine.Assumptions{From: "tester", Outcome: "tests_failed : Two Things"}, "tester", "TESTS_FAILED: Two Things"},
		{engine.Assumptions{From: "tester", Outcome: "x", Actor: "documenter"}, "documenter", "X"},
		{engine.Assumptions{From: "tester", Outcome: "x", Dead: []string{"tester"}}, "", "X"},
		{engine.Assumptions{From: "halted", Outcome: "x"}, "", "X"},
	}
	for _, tt := range tests {
		tk, sig, err := engine.Hypothetical(def, tt.s)
		if err != nil {
			t.Fatal(err)
		}
		if sig.Actor != tt.actor || sig.Word != tt.word || sig.Kind != signal.Outcome {
			t.Errorf("%+v: %+v", tt.s, sig)
		}
		if a, ok := tk.AttemptByNumber(sig.Attempt); ok != (tt.actor == "tester") || ok && a.Role != "tester" {
			t.Errorf("%+v: attempt %d", tt.s, sig.Attempt)
		}
	}
}

func TestHypotheticalFilesExist(t *testing.T) {
	def := load(t, "cmat-feature")
	for _, without := range [][]string{nil, {engine.RequiredOutput}, {"file:tester-output"}} {
		_, sig, err := engine.Hypothetical(def, engine.Assumptions{From: "tester", Outcome: "x", Without: without})
		if err != nil {
			t.Fatal(err)
		}
		files := 0
		for _, e := range sig.Evidence {
			name, file := strings.CutPrefix(e.Name, workflow.FileFact)
			gone := file && (slices.Contains(without, engine.RequiredOutput) || slices.Contains(without, e.Name))
			if e.Holds == gone {
				t.Errorf("without %v: %+v", without, e)
			}
			if file && strings.HasSuffix(name, "-output") {
				files++
			}
		}
		if files != 5 {
			t.Errorf("%d files", files)
		}
	}
	for _, name := range []string{"orange", "cmat-feature"} {
		without := "file:nothing"
		if name == "orange" {
			without = engine.RequiredOutput // nothing asks for one
		}
		if _, _, err := engine.Hypothetical(load(t, name), engine.Assumptions{From: "pending", To: "cancelled", Without: []string{without}}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
