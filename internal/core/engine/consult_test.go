package engine_test

import (
	"strings"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
)

// consulting is a worker's result that asks another role.
func consulting(role, resume string) *signal.Report {
	r := result(signal.Actions{AddTags: []string{"Invoke-Architect"}})
	r.Consult = &signal.Consult{
		Role: role, Mode: "advisory-conflict",
		Context: signal.ConsultContext{
			Reason: "two ways", Question: "which\none?", Files: []string{"a.go", "b.go"},
			Conflict: &signal.Conflict{Files: []string{"c.go"}, Develop: "theirs", Feature: "ours"},
		},
		Resume: signal.ConsultResume{Role: resume, Mode: "go-on"},
	}
	return r
}

func TestAConsultationGoesThereAndBack(t *testing.T) {
	for _, tt := range []struct{ from, role, asks, state, back string }{
		{"dev-implement", "dev", "architect", "consult-architect", "dev-implement"},
		{"dev-rework", "dev", "ba", "consult-ba", "dev-rework"},
		{"dev-conflict", "dev", "reviewer", "consult-reviewer", "dev-conflict"},
		{"review", "reviewer", "architect", "consult-architect", "review"},
		{"ops-merge", "ops", "architect", "consult-architect", "ops-merge"},
		{"ops-guided", "ops", "ba", "consult-ba", "ops-guided"},
	} {
		for _, lives := range []bool{false, true} {
			t.Run(tt.from+" asks the "+tt.asks, func(t *testing.T) {
				w := placed(t, "joan-board", tt.from)
				say := w.ends
				if lives {
					say = w.tells
				}
				d := say(consulting(tt.asks, tt.role))
				if d.Verdict != engine.Advance || w.task.Status != tt.state || w.task.ReturnTo != tt.from || w.task.CounterValue("consults") != 1 {
					t.Fatalf("%s in %s, back to %s\n%s", d.Verdict, w.task.Status, w.task.ReturnTo, why(d))
				}
				if tt.role == "ops" && !strings.Contains(describeEffects(d.Entries), "tag_card+Invoke-Architect") || strings.Contains(describeEffects(d.Entries), "release_card") {
					t.Errorf("%s", describeEffects(d.Entries))
				}
				for _, want := range []string{"The " + tt.role + " asks (advisory-conflict): two ways", "Question: which one?", "Files: a.go, b.go", "Files in conflict: c.go", "On the default branch: theirs", "With your advice the " + tt.role + " goes on (go-on)."} {
					if !strings.Contains(w.task.Question, want) {
						t.Errorf("%q is not in %q", want, w.task.Question)
					}
				}
				w.perform()
				if a := w.own(); a.Role != tt.asks || !a.Running {
					t.Errorf("%+v", a)
				}
				advice := result(signal.Actions{Comment: "take the second"})
				advice.Detail = "the second one"
				w.ends(advice)
				if w.task.Status != tt.back || w.task.Question != "" || w.task.Advice != "The "+tt.asks+" answers: the second one\ntake the second" {
					t.Fatalf("%s, question %q, advice %q", w.task.Status, w.task.Question, w.task.Advice)
				}
				if a := w.own(); a.Role != tt.role || a.State != tt.back {
					t.Errorf("%+v", a)
				}
				w.perform()
				w.end(tt.role)
				if w.task.Advice == "" {
					t.Error("who is started again goes on without the advice")
				}
				w.fires(engine.Respawn)
				w.perform()
				if w.ends(result(signal.Actions{})); w.task.Advice != "" {
					t.Errorf("an old advice is kept: %q", w.task.Advice)
				}
			})
		}
	}
}

func TestWhoMayNotConsult(t *testing.T) {
	used := func(w *world) { w.task.Counters[1].Value = 1 }
	asked := func(w *world) { w.task.ReturnTo = "dev-implement" }
	for _, tt := range []struct {
		name, state, asks, resume string
		change                    func(*world)
		reason                    string
	}{
		{"a second time", "dev-implement", "architect", "dev", used, "consults < 1 does not hold (consults = 1)"},
		{"for somebody else", "dev-implement", "architect", "ops", nil, "resume_as names the ops, and the dev asks"},
		{"who is consulted", "consult-architect", "ba", "architect", asked, "no edge from consult-architect answers to consult ba"},
		{"who analyses", "ba-evaluate", "architect", "ba", nil, "no edge from ba-evaluate answers to consult architect"},
		{"the developer", "ops-merge", "dev", "ops", nil, "no edge from ops-merge answers to consult dev: declared are architect, ba, reviewer"},
		{"itself", "review", "reviewer", "reviewer", nil, "no edge from review answers to consult reviewer: declared are architect, ba"},
		{"nobody we know", "ops-merge", "oracle", "ops", nil, "answers to consult oracle"},
	} {
		for _, lives := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				w := placed(t, "joan-board", tt.state)
				if tt.change != nil {
					tt.change(w)
				}
				role, say := w.own().Role, w.ends
				if lives {
					say = w.tells
				}
				d := say(consulting(tt.asks, tt.resume))
				if d.Verdict != engine.Halt || w.task.Status != "halted" || w.task.Question != "" {
					t.Fatalf("%s in %s, question %q", d.Verdict, w.task.Status, w.task.Question)
				}
				e := d.Entries[0]
				if !strings.HasPrefix(e.Reason, "UNEXPECTED: "+role+" says success, and ") || !strings.Contains(e.Reason, tt.reason) {
					t.Errorf("%q", e.Reason)
				}
				if strings.Contains(describeEffects(d.Entries), "tag_card") {
					t.Errorf("a refused change is made: %s", describeEffects(d.Entries))
				}
			})
		}
	}
}

func TestAPersonsDecisionAllowsAnotherConsultation(t *testing.T) {
	w := placed(t, "joan-board", "board")
	w.task.Counters[1].Value = 1
	if w.looks(face("Review", "Review-Approved", "Ops-Ready")); w.task.CounterValue("consults") != 0 {
		t.Errorf("%+v", w.task.Counters)
	}
}

func TestAdviceThatNobodyAskedForIsNotKept(t *testing.T) {
	w := placed(t, "joan-board", "board")
	w.looks(face("Review", "Invoke-Architect"))
	w.perform()
	d := w.ends(result(signal.Actions{AddTags: []string{"Architect-Assist-Complete"}}))
	if w.task.Status != "board" || w.task.Advice != "" || !strings.Contains(describeEffects(d.Entries), "tag_card-Invoke-Architect tag_card+Architect-Assist-Complete read_card") {
		t.Errorf("%s, %q: %s", w.task.Status, w.task.Advice, describeEffects(d.Entries))
	}
}

// The agent that asked continues in the mode it asked for, if its role has a state of that mode.
func TestTheAskingRoleContinuesInItsMode(t *testing.T) {
	for _, tt := range []struct{ from, role, mode, back string }{
		{"dev-implement", "dev", "conflict", "dev-conflict"},
		{"dev-conflict", "dev", "Rework", "dev-rework"},
		{"dev-rework", "dev", "implement", "dev-implement"},
		{"ops-merge", "ops", "merge-with-guidance", "ops-guided"},
		{"ops-guided", "ops", "merge", "ops-merge"},
		{"ops-rework", "ops", "rework", "ops-rework"},
		{"review", "reviewer", "review", "review"},
		{"review", "reviewer", "merge", "review"},         // a mode of another role
		{"dev-implement", "dev", "plan", "dev-implement"}, // likewise
	} {
		w := placed(t, "joan-board", tt.from)
		w.task.Rules = engine.Rules
		r := consulting("architect", tt.role)
		r.Consult.Resume.Mode = tt.mode
		w.ends(r)
		w.perform()
		if w.ends(result(signal.Actions{Comment: "so"})); w.task.Status != tt.back {
			t.Errorf("%s asks and wants to go on with %s: %s", tt.from, tt.mode, w.task.Status)
		}
	}
	w := placed(t, "joan-board", "dev-implement")
	r := consulting("architect", "dev")
	r.Consult.Resume.Mode = "conflict"
	sig := signal.Signal{Kind: signal.Exit, Actor: "engine", Role: "dev", Attempt: w.own().Number, Report: r, At: w.now, Rules: 1}
	if d := engine.Decide(w.def, &w.task, sig); d.Entries[0].ReturnTo != "dev-implement" {
		t.Errorf("by the old rules the mode decides: %+v", d.Entries)
	}
}
