package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// everything opens every gate of the built-in workflows but one verdict's.
func everything(verdict string) string {
	return "## Plan\n\nAPPROACH: x\n\n## Handoff\n\nDONE: x\n\n## Review\n\nVerdict: " + verdict + "\n"
}

// who may take each move, and who may only ask for it, of those that live there.
var whoMay = map[string]map[string]string{
	"orange": {
		"pending -> planning":        "human engine tracker",
		"pending -> clarification":   "human tracker",
		"pending -> cancelled":       "human tracker",
		"planning -> working":        "human worker",
		"planning -> clarification":  "human worker",
		"planning -> cancelled":      "human tracker",
		"clarification -> planning":  "human worker",
		"clarification -> working":   "human worker",
		"clarification -> cancelled": "human tracker",
		"working -> agent-review":    "human worker",
		"working -> clarification":   "human worker",
		"working -> stuck":           "human engine worker",
		"working -> cancelled":       "human tracker",
		"agent-review -> reviewing":  "reviewer",
		"agent-review -> working":    "reviewer",
		"agent-review -> stuck":      "reviewer",
		"agent-review -> cancelled":  "human tracker",
		"reviewing -> working":       "human tracker",
		"reviewing -> done":          "human engine tracker",
		"reviewing -> cancelled":     "human tracker",
		"stuck -> working":           "human",
		"stuck -> agent-review":      "human worker? fixer?",
		"stuck -> reviewing":         "human worker? fixer?",
		"stuck -> cancelled":         "human tracker",
		"cancelled -> pending":       "human",
	},
	"orange-direct": {
		"pending -> working":         "human engine tracker",
		"pending -> clarification":   "human tracker",
		"pending -> cancelled":       "human tracker",
		"clarification -> working":   "human worker",
		"clarification -> cancelled": "human tracker",
		"working -> agent-review":    "human worker",
		"working -> clarification":   "human worker",
		"working -> stuck":           "human engine worker",
		"working -> cancelled":       "human tracker",
		"agent-review -> reviewing":  "reviewer",
		"agent-review -> working":    "reviewer",
		"agent-review -> stuck":      "reviewer",
		"agent-review -> cancelled":  "human tracker",
		"reviewing -> done":          "human engine tracker",
		"reviewing -> cancelled":     "human tracker",
		"stuck -> working":           "human",
		"stuck -> agent-review":      "human fixer?", // no worker lives there
		"stuck -> cancelled":         "human tracker",
	},
}

func TestEveryMoveIsForThoseWhoMayTakeIt(t *testing.T) {
	for name, table := range whoMay {
		def := load(t, name)
		for _, from := range stateNames(def) {
			for _, to := range stateNames(def) {
				who, known := table[from+" -> "+to]
				if got := takers(t, def, from, to); known != (got != "") || got != who {
					t.Errorf("%s: %s -> %s is for %q, want %q", name, from, to, got, who)
				}
			}
		}
	}
}

func stateNames(def *workflow.Definition) (out []string) {
	for i := range def.States {
		out = append(out, def.States[i].Name)
	}
	return out
}

// takers lists who may make a move; a question mark follows who may only ask.
func takers(t *testing.T, def *workflow.Definition, from, to string) string {
	t.Helper()
	var out []string
	for _, actor := range []task.Actor{task.Human, task.Engine, task.Tracker, "worker", "reviewer", "fixer"} {
		verdict, round := "FAIL", 1
		switch {
		case to == "reviewing":
			verdict = "PASS"
		case to == "stuck":
			round = 2
		}
		o := suppose(t, def, everything(verdict), engine.Assumptions{From: from, To: to, Actor: actor}, round)
		switch {
		case o.Verdict == engine.Advance:
			out = append(out, string(actor))
		case o.Verdict == engine.Stay && len(o.Entries) == 1 && o.Entries[0].Type == journal.AskedPerson:
			out = append(out, string(actor)+"?")
		case o.Verdict != engine.Refuse || !strings.Contains(o.Refused, ": actor: ") && !strings.Contains(o.Refused, "not in map"):
			t.Errorf("%s: %s -> %s by %s: %s: %s", def.Name, from, to, actor, o.Verdict, o.Refused)
		}
	}
	return strings.Join(out, " ")
}

// Everything a move asks for, in order: first what the edge lists, then what the new
// state needs. A name with + starts an agent.
func TestEffectsOfAMoveAreInOrder(t *testing.T) {
	const up, down = "acquire_workspace", "kill_session release_workspace"
	tests := []struct {
		workflow, move string
		dead           string
		want           string
	}{
		{"orange", "new -> pending", "", ""},
		{"orange", "new -> clarification", "", ""},
		{"orange", "new -> agent-review", "", up + " spawn_reviewer:reviewer+"},
		{"orange", "new -> reviewing", "", ""},
		{"orange", "pending -> planning", "", up + " spawn_agent:worker+"},
		{"orange", "pending -> clarification", "", ""},
		{"orange", "planning -> working", "", ""},
		{"orange", "planning -> working", "worker", "spawn_agent:worker+"},
		{"orange", "clarification -> planning", "", ""},
		{"orange", "working -> agent-review", "", "spawn_reviewer:reviewer+"},
		{"orange", "agent-review -> reviewing", "", "kill_reviewer:reviewer"},
		{"orange", "agent-review -> working", "", "kill_reviewer:reviewer notify_worker:worker"},
		{"orange", "agent-review -> working", "worker", "kill_reviewer:reviewer notify_worker:worker+"},
		{"orange", "agent-review -> stuck", "", "kill_reviewer:reviewer notify_worker:worker"},
		{"orange", "agent-review -> stuck", "worker", "kill_reviewer:reviewer spawn_agent:fixer+"},
		{"orange", "reviewing -> working", "", "notify_worker:worker"},
		{"orange", "reviewing -> working", "worker", "notify_worker:worker+"},
		{"orange", "reviewing -> done", "", down + " delete_remote_branch spawn_next"},
		{"orange", "stuck -> working", "", "kill_agent:fixer notify_worker:worker"},
		{"orange", "stuck -> agent-review", "", "kill_agent:fixer spawn_reviewer:reviewer+"},
		{"orange", "pending -> cancelled", "", down + " spawn_next"},
		{"orange", "working -> cancelled", "", down + " spawn_next"},
		{"orange", "agent-review -> cancelled", "", "kill_reviewer:reviewer " + down + " spawn_next"},
		{"orange", "cancelled -> pending", "", ""},
		{"orange-direct", "pending -> working", "", up + " spawn_agent:worker+"},
		{"orange-direct", "working -> agent-review", "", "kill_agent:worker spawn_reviewer:reviewer+"},
		{"orange-direct", "agent-review -> working", "", "kill_reviewer:reviewer spawn_agent:worker+"},
		{"orange-direct", "agent-review -> stuck", "", "kill_reviewer:reviewer spawn_agent:fixer+"},
		{"orange-direct", "stuck -> working", "", "kill_agent:fixer spawn_agent:worker+"},
		{"orange-direct", "clarification -> working", "", "kill_agent:worker spawn_agent:worker+"},
	}
	for _, tt := range tests {
		t.Run(strings.Join([]string{tt.workflow, tt.move, tt.dead}, " "), func(t *testing.T) {
			from, to, _ := strings.Cut(tt.move, " -> ")
			verdict, round := "FAIL", 1
			switch {
			case to == "reviewing":
				verdict = "PASS"
			case to == "stuck":
				round = 2
			}
			s := engine.Assumptions{From: from, To: to}
			if tt.dead != "" {
				s.Dead = []string{tt.dead}
			}
			o := suppose(t, load(t, tt.workflow), everything(verdict), s, round)
			if o.Verdict != engine.Advance {
				t.Fatalf("%s: %s", o.Verdict, o.Refused)
			}
			if diff := cmp.Diff(tt.want, effects(o.Entries)); diff != "" {
				t.Errorf("- want, + got\n%s", diff)
			}
			orderOfOrigin(t, o.Entries)
		})
	}
}

// effects writes down what entries ask for.
func effects(entries []journal.Entry) string {
	var out []string
	for _, e := range entries {
		for _, f := range e.Effects {
			word := f.Do
			if f.Role != "" {
				word += ":" + f.Role
			}
			if f.Start {
				word += "+"
			}
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

// orderOfOrigin makes sure that the edge's own effects keep their order as a block.
func orderOfOrigin(t *testing.T, entries []journal.Entry) {
	t.Helper()
	for _, e := range entries {
		for i, f := range e.Effects {
			if want := task.EffectID(e.Task, e.Seq, i); f.ID != want {
				t.Errorf("effect %s is called %s", want, f.ID)
			}
		}
		if slices.ContainsFunc(e.Effects, func(f task.Effect) bool { return f.By != task.ByEdge && f.By != task.ByState }) {
			t.Errorf("an effect of nobody: %+v", e.Effects)
		}
	}
}

func TestARoleSpeaksThroughALiveAttemptOfItsOwn(t *testing.T) {
	def := load(t, "orange")
	tests := []struct {
		name    string
		attempt int
		change  func(*task.Task)
		refused string
	}{
		{"its own", 1, nil, ""},
		{"no number", 0, nil, "no worker of this task is alive"},
		{"one that never was", 9, nil, "attempt 9 is over or never was"},
		{"another role's", 1, func(t *task.Task) { t.Attempts[0].Role = "reviewer" }, "attempt 1 is the reviewer's, not the worker's"},
		{"one that was told to end", 1, func(t *task.Task) { t.Attempts[0].Ending = true }, "attempt 1 was told to end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tk, sig, err := engine.Hypothetical(def, engine.Assumptions{From: "working", To: "stuck", Actor: "worker"})
			if err != nil {
				t.Fatal(err)
			}
			if tt.change != nil {
				tt.change(&tk)
			}
			sig.Attempt = tt.attempt
			d := engine.Decide(def, &tk, sig)
			want := ""
			if tt.refused != "" {
				want = "working -> stuck: actor: " + tt.refused
			}
			if d.Refused != want {
				t.Errorf("refused %q, want %q", d.Refused, want)
			}
		})
	}
}

func TestARefusalSaysWhoMay(t *testing.T) {
	def := load(t, "orange")
	tests := []struct {
		from, to string
		actor    task.Actor
		want     string
	}{
		{"agent-review", "reviewing", "worker", "agent-review -> reviewing: actor: worker may not: it takes reviewer"},
		{"agent-review", "reviewing", task.Human, "agent-review -> reviewing: actor: human may not: it takes reviewer"},
		{"working", "reviewing", "worker", "not in map: there is no edge working -> reviewing: from working a task may go to agent-review, clarification, stuck, cancelled"},
		{"stuck", "reviewing", task.Tracker, "stuck -> reviewing: actor: tracker may not: it takes human, fixer (if a person agrees), worker (if a person agrees)"},
		{"planning", "stuck", task.Human, "not in map: planning -> stuck is taken by the engine only, on crash-limit, no-answer-limit"},
		{"done", "working", task.Human, "not in map: there is no edge done -> working: from done a task may go to nowhere"},
	}
	for _, tt := range tests {
		o := suppose(t, def, everything("PASS"), engine.Assumptions{From: tt.from, To: tt.to, Actor: tt.actor})
		if o.Refused != tt.want {
			t.Errorf("%s -> %s by %s:\n%s\nwant\n%s", tt.from, tt.to, tt.actor, o.Refused, tt.want)
		}
	}
	if got := fmt.Sprint(engine.Reason{From: "a", To: "b", Rule: engine.RuleGate, OK: true, Text: "c"}); got != "a -> b: gate open: c" {
		t.Errorf("a reason in words: %s", got)
	}
}
