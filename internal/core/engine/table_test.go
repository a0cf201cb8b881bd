package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// outcome is a decision as the tables speak of it.
type outcome struct {
	engine.Decision
	from, to string
	after    task.Task
}

// edgeEffects lists the effects of the edge.
func (o outcome) edgeEffects() []string {
	var out []string
	for _, e := range o.Entries {
		for _, x := range e.Effects {
			if x.By == task.ByEdge {
				out = append(out, x.Do)
			}
		}
	}
	return out
}

// suppose decides about a supposition.
func suppose(t *testing.T, def *workflow.Definition, body string, s engine.Assumptions, counters ...int) outcome {
	t.Helper()
	doc, err := taskfile.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	s.Sections = doc.Sections()
	for i, n := range counters {
		s.Counters = append(s.Counters, task.Counter{Name: def.Counters[i].Name, Value: n})
	}
	tk, sig, err := engine.Hypothetical(def, s)
	if err != nil {
		t.Fatal(err)
	}
	d := engine.Decide(def, &tk, sig)
	after, err := journal.Fold(tk, d.Entries)
	if err != nil {
		t.Fatal(err)
	}
	o := outcome{Decision: d, from: s.From, after: after}
	for _, e := range d.Entries {
		if e.To != "" {
			o.to = e.To
		}
	}
	return o
}

// A row is one move of the tables that describe the two built-in workflows.
type row struct {
	gate  string // plan, handoff, pass, fail or none
	guard func(round int) bool
	do    string // the effects of the edge, in order
}

func beforeLast(round int) bool { return round < 2 }
func atMost(round int) bool     { return round >= 2 }

const clear = "kill_session release_workspace"

// longMoves are all moves of the workflow orange that somebody may ask for.
var longMoves = map[string]row{
	"pending -> planning":        {do: "acquire_workspace spawn_agent"},
	"pending -> clarification":   {},
	"pending -> cancelled":       {},
	"planning -> working":        {gate: "plan"},
	"planning -> clarification":  {},
	"planning -> cancelled":      {do: clear},
	"clarification -> planning":  {},
	"clarification -> working":   {gate: "plan"},
	"clarification -> cancelled": {do: clear},
	"working -> agent-review":    {gate: "handoff", do: "spawn_reviewer"},
	"working -> clarification":   {},
	"working -> stuck":           {},
	"working -> cancelled":       {do: clear},
	"agent-review -> reviewing":  {gate: "pass", do: "kill_reviewer"},
	"agent-review -> working":    {gate: "fail", guard: beforeLast, do: "kill_reviewer notify_worker"},
	"agent-review -> stuck":      {gate: "fail", guard: atMost, do: "kill_reviewer"},
	"agent-review -> cancelled":  {do: "kill_reviewer " + clear},
	"reviewing -> working":       {do: "notify_worker"},
	"reviewing -> done":          {do: clear + " delete_remote_branch spawn_next"},
	"reviewing -> cancelled":     {do: clear},
	"stuck -> working":           {do: "notify_worker"},
	"stuck -> agent-review":      {gate: "handoff", do: "spawn_reviewer"},
	"stuck -> reviewing":         {},
	"stuck -> cancelled":         {do: clear},
	"cancelled -> pending":       {},
}

// shortMoves are those of orange-direct: no plan, and a new worker for every round.
var shortMoves = map[string]row{
	"pending -> working":         {do: "acquire_workspace spawn_agent"},
	"pending -> clarification":   {},
	"pending -> cancelled":       {},
	"clarification -> working":   {},
	"clarification -> cancelled": {do: clear},
	"working -> agent-review":    {gate: "handoff", do: "spawn_reviewer"},
	"working -> clarification":   {},
	"working -> stuck":           {},
	"working -> cancelled":       {do: clear},
	"agent-review -> reviewing":  {gate: "pass", do: "kill_reviewer"},
	"agent-review -> working":    {gate: "fail", guard: beforeLast, do: "kill_reviewer spawn_agent"},
	"agent-review -> stuck":      {gate: "fail", guard: atMost, do: "kill_reviewer"},
	"agent-review -> cancelled":  {do: "kill_reviewer " + clear},
	"reviewing -> done":          {do: clear + " delete_remote_branch spawn_next"},
	"reviewing -> cancelled":     {do: clear},
	"stuck -> working":           {do: "spawn_agent"},
	"stuck -> agent-review":      {do: "spawn_reviewer"},
	"stuck -> cancelled":         {do: clear},
}

var (
	longStates  = []string{"pending", "planning", "clarification", "working", "agent-review", "reviewing", "stuck", "done", "cancelled"}
	shortStates = []string{"pending", "clarification", "working", "agent-review", "reviewing", "stuck", "done", "cancelled"}
)

// A body is a task file and the gates it opens, in the long and in the short workflow.
type body struct {
	text        string
	long, short []string
}

var bodies = []body{
	{"", nil, nil},
	{"## Plan\n\nAPPROACH: x", []string{"plan"}, nil},
	{"## Plan\n\nTOUCHING: a.go", []string{"plan"}, nil},
	{"## Plan\n\nAPPROACH:\n", nil, nil},
	{"## Plan\n\nwords", nil, nil},
	{"## Handoff\n\nDONE: x", []string{"handoff"}, []string{"handoff"}},
	{"## Handoff\n\nwords", nil, []string{"handoff"}},
	{"## Handoff\n\n**DECISIONS:** x", []string{"handoff"}, []string{"handoff"}},
	{"## Handoff\n", nil, nil},
	{"## Review\n\nVerdict: PASS\n\nok", []string{"pass"}, []string{"pass"}},
	{"## Review\n\nVerdict: FAIL\n\nbad", []string{"fail"}, []string{"fail"}},
	{"## Review\n\nverdict: fail", []string{"fail"}, []string{"fail"}},
	{"## Review\n\nlooks fine", nil, nil},
	{"## Review\n\nPASS", nil, []string{"pass"}},
	{"## Review\n\nI would bypass it.\nFAIL", nil, []string{"fail"}},
	{"```\n## Review\nVerdict: PASS\n```\n", nil, nil},
	{"## Context\n\n### Plan\nAPPROACH: no\n\n## Handoff\n\nDONE: x\n\n## Plan\n\nAPPROACH: x\n\n## Review\n\nVerdict: PASS\n", []string{"plan", "handoff", "pass"}, []string{"handoff", "pass"}},
	{"## Plan\n\nAPPROACH: first this,\nthen that\nTOUCHING: none", []string{"plan"}, nil},
	{"## Context\n\n## Plan\n\n1. as the issue says\n\n## Plan\n\nTOUCHING: docs", []string{"plan"}, nil},
	{"## Handoff\n\nremaining: small letters", nil, []string{"handoff"}},
	{"## Handoff\n\nREMAINING: the manual", []string{"handoff"}, []string{"handoff"}},
	{"## Handoff\n\nUNCERTAIN:\n- a name", []string{"handoff"}, []string{"handoff"}},
	{"## Handoff\n\nDONE:\nREMAINING:\nDECISIONS:\nUNCERTAIN:", nil, []string{"handoff"}},
	{"## Review\n\n## Handoff\n\nNOTHING: it is as it should be", []string{"handoff"}, []string{"handoff"}},
	{"## Review\n\n   Verdict: Fail", []string{"fail"}, []string{"fail"}},
	{"## Review\n\n**fail** for now", nil, []string{"fail"}},
	{"## Review\n\nVerdict: PASS\n\nVerdict: FAIL\n", nil, []string{"pass"}},
	{"## Review\n\nVerdict: FAIL\n\n## Review\n\nVerdict: PASS\n", []string{"pass"}, []string{"pass"}},
}

// Every pair of states, every round and every body: the decision is the table's.
func TestEveryMoveIsDecidedAsTheTablesSay(t *testing.T) {
	tests := []struct {
		workflow string
		states   []string
		table    map[string]row
		opens    func(body) []string
	}{
		{"orange", longStates, longMoves, func(b body) []string { return b.long }},
		{"orange-direct", shortStates, shortMoves, func(b body) []string { return b.short }},
	}
	for _, tt := range tests {
		def := load(t, tt.workflow)
		for _, from := range tt.states {
			for _, to := range tt.states {
				move, what := from+" -> "+to, engine.Assumptions{From: from, To: to}
				r, ok := tt.table[move]
				if !ok {
					if o := suppose(t, def, "", what); o.Verdict != engine.Refuse || !strings.Contains(o.Refused, "not in map") {
						t.Errorf("%s: %s is not in the table: %s: %s", tt.workflow, move, o.Verdict, o.Refused)
					}
					continue
				}
				for n := range 4 {
					for _, b := range bodies {
						o := suppose(t, def, b.text, what, n, 1)
						wantMove(t, fmt.Sprintf("%s: %s, round %d, %q", tt.workflow, move, n, b.text), o, r, n, tt.opens(b))
					}
				}
			}
		}
	}
}

func wantMove(t *testing.T, name string, o outcome, r row, round int, opens []string) {
	t.Helper()
	want, says := engine.Advance, ""
	switch {
	case r.guard != nil && !r.guard(round):
		want, says = engine.Refuse, ": guard: "
	case r.gate != "" && !slices.Contains(opens, r.gate):
		want, says = engine.Refuse, ": gate: "
	}
	if o.Verdict != want || !strings.Contains(o.Refused, says) {
		t.Errorf("%s: %s: %s, want %s%s", name, o.Verdict, o.Refused, want, says)
	}
	if want == engine.Refuse {
		if len(o.Entries) > 0 {
			t.Errorf("%s: refused, and something changes: %+v", name, o.Entries)
		}
		return
	}
	if got := strings.Join(o.edgeEffects(), " "); got != r.do {
		t.Errorf("%s: effects of the edge: %q, want %q", name, got, r.do)
	}
	if n := o.after.CounterValue("crash_count"); n != 0 {
		t.Errorf("%s: crash_count is %d", name, n)
	}
	if got, want := o.after.CounterValue("review_round"), roundAfter(o.from+" -> "+o.to, round); got != want {
		t.Errorf("%s: review_round is %d, want %d", name, got, want)
	}
}

// roundAfter knows the moves that change the round: a review begins, or a person
// begins a new cycle.
func roundAfter(move string, round int) int {
	switch move {
	case "working -> agent-review":
		return round + 1
	case "reviewing -> working", "stuck -> working", "cancelled -> pending":
		return 0
	case "stuck -> agent-review":
		return 1
	}
	return round
}

// Every state, every round, every count of crashes and every body: an exit is judged
// by the state's own artifact.
func TestEveryExitIsJudgedAsTheRulesSay(t *testing.T) {
	tests := []struct {
		workflow string
		states   []string
		opens    func(body) []string
	}{
		{"orange", longStates, func(b body) []string { return b.long }},
		{"orange-direct", shortStates, func(b body) []string { return b.short }},
	}
	for _, tt := range tests {
		def := load(t, tt.workflow)
		for _, from := range tt.states {
			for n := range 4 {
				for crashes := range 3 {
					for _, b := range bodies {
						o := suppose(t, def, b.text, engine.Assumptions{From: from, Exit: true}, n, crashes)
						verdict, to, count := exitRule(from, n, crashes, tt.opens(b))
						if got := o.after.CounterValue("crash_count"); o.Verdict != verdict || o.to != to || got != count {
							t.Errorf("%s: %s, round %d, crashes %d, %q: %s to %q, crashes %d; want %s to %q, %d",
								tt.workflow, from, n, crashes, b.text, o.Verdict, o.to, got, verdict, to, count)
						}
					}
				}
			}
		}
	}
}

// exitRule says what the end of a state's own agent means.
func exitRule(from string, round, crashes int, opens []string) (verdict engine.Verdict, to string, count int) {
	has := func(gate string) bool { return slices.Contains(opens, gate) }
	switch {
	case from == "planning" && has("plan"):
		return engine.Advance, "working", 0
	case from == "working" && has("handoff"):
		return engine.Advance, "agent-review", 0
	case from == "agent-review" && has("pass"):
		return engine.Advance, "reviewing", 0
	case from == "agent-review" && has("fail") && round < 2:
		return engine.Advance, "working", 0
	case from == "agent-review" && has("fail"):
		return engine.Advance, "stuck", 0
	case from == "clarification" || from == "reviewing" || from == "stuck":
		return engine.Crash, "", crashes
	case from == "pending" || from == "done" || from == "cancelled":
		return engine.Stay, "", crashes
	case crashes+1 >= 2:
		return engine.Advance, "stuck", 0
	}
	return engine.Crash, "", crashes + 1
}
