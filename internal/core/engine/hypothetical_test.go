package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

func TestAHypotheticalTaskIsAnOrdinaryRecord(t *testing.T) {
	def := load(t, "orange")
	tests := []struct {
		from      string
		live      []string
		workspace bool
	}{
		{"pending", nil, false},
		{"planning", []string{"worker"}, true},
		{"clarification", []string{"worker"}, true},
		{"agent-review", []string{"worker", "reviewer"}, true},
		{"reviewing", []string{"worker"}, true},
		{"stuck", []string{"worker", "fixer"}, true},
		{"done", nil, false},
	}
	for _, tt := range tests {
		tk, sig, err := engine.Hypothetical(def, engine.Assumptions{From: tt.from, To: "cancelled"})
		if err != nil {
			t.Fatal(err)
		}
		var live []string
		for _, a := range tk.Attempts {
			live = append(live, a.Role)
			if !a.Running || a.Number < 1 || a.Visit != tk.Visit || tk.AttemptsOfRole(a.Role) != 1 {
				t.Errorf("%s: attempt %+v", tt.from, a)
			}
		}
		if diff := cmp.Diff(tt.live, live); diff != "" {
			t.Errorf("%s: who lives: - want, + got\n%s", tt.from, diff)
		}
		if !tk.ID.IsValid() || tk.Seq < 1 || tk.Visit < 1 || tk.Status != tt.from || len(tk.Counters) != len(def.Counters) || tk.WorkflowHash != def.Hash {
			t.Errorf("%s: %+v", tt.from, tk)
		}
		if (tk.Workspace != "") != tt.workspace || len(sig.Free) != 1 || slices.Contains(sig.Free, tk.Workspace) || sig.At.IsZero() || sig.Actor != "" {
			t.Errorf("%s: workspace %q, free %v, %+v", tt.from, tk.Workspace, sig.Free, sig)
		}
	}
}

func TestASuppositionSaysWhatIsNotAsItShouldBe(t *testing.T) {
	def := load(t, "orange")
	sections := []taskfile.Section{{Name: "Review", Text: "Verdict: PASS", Digest: "d"}}
	stale := []string{"review"}
	tk, sig, err := engine.Hypothetical(def, engine.Assumptions{
		From: "agent-review", Exit: true, Sections: sections, Stale: stale, Without: []string{"merged"}, Dead: []string{"worker"},
		Counters: []task.Counter{{Name: "review_round", Value: 9}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, lives := tk.LiveAttempt("worker"); lives {
		t.Error("the worker lives")
	}
	if tk.CounterValue("review_round") != 9 || task.SumOf(tk.Opened, "Review") != "d" || task.SumOf(tk.Seen, "Review") != "d" {
		t.Errorf("%+v", tk)
	}
	if stale[0] != "review" {
		t.Error("the caller's list was changed")
	}
	a, _ := tk.LiveAttempt("reviewer")
	if sig.Kind != signal.Exit || sig.Role != "reviewer" || sig.Attempt != a.Number {
		t.Errorf("%+v", sig)
	}
	for _, e := range sig.Evidence {
		if e.Holds == (e.Name == "merged") {
			t.Errorf("%+v", e)
		}
	}
}

func TestTheRoleThatEndsMayBeAnother(t *testing.T) {
	tests := []struct{ workflow, from, exit, want string }{
		{"orange", "agent-review", "", "reviewer"},
		{"orange", "agent-review", "worker", "worker"},
		{"orange", "reviewing", "", "worker"},
		{"orange-direct", "reviewing", "", "worker"},
		{"orange-direct", "working", "reviewer", "reviewer"},
	}
	for _, tt := range tests {
		tk, sig, err := engine.Hypothetical(load(t, tt.workflow), engine.Assumptions{From: tt.from, Exit: true, ExitRole: tt.exit})
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := tk.AttemptByNumber(sig.Attempt); !ok || a.Role != tt.want || sig.Role != tt.want {
			t.Errorf("%+v: %+v", tt, a)
		}
	}
}

func TestARoleOfWhichNobodyLivesCannotAsk(t *testing.T) {
	def := load(t, "orange")
	tk, sig, err := engine.Hypothetical(def, engine.Assumptions{From: "working", To: "stuck", Actor: "worker", Dead: []string{"worker"}})
	if err != nil {
		t.Fatal(err)
	}
	if d := engine.Decide(def, &tk, sig); d.Verdict != engine.Refuse || !strings.Contains(d.Refused, "no worker of this task is alive") {
		t.Errorf("%s: %s", d.Verdict, d.Refused)
	}
}
