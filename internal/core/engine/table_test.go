package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

const sharedFolder = "../../../../shared/" // beside the repository, where it exists

// added are the moves that were added to the long workflow's table, with their gates.
var added = map[string]string{
	"pending -> clarification": "", "clarification -> working": "plan",
	"stuck -> working": "", "stuck -> agent-review": "handoff", "cancelled -> pending": "",
}

// outcome is a decision as the tables speak of it.
type outcome struct {
	engine.Decision
	from, to string
	after    task.Task
}

// hooks lists the effects of the edge.
func (o outcome) hooks() []string {
	out := []string{}
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
func suppose(t *testing.T, def *workflow.Definition, body string, s engine.Supposition, counters ...int) outcome {
	t.Helper()
	doc, err := taskfile.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	s.Sections = doc.Sections()
	for i, n := range counters {
		s.Counters = append(s.Counters, task.Counter{Name: def.Counters[i].Name, Value: n})
	}
	tk, sig, err := engine.Suppose(def, s)
	if err != nil {
		t.Fatal(err)
	}
	d := engine.Decide(def, tk, sig)
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
	hooks []string // nil if the table lists none
}

func always(int) bool { return true }

// seed reads a document that describes a built-in workflow.
func seed(t *testing.T, number string) string {
	t.Helper()
	files, _ := filepath.Glob(sharedFolder + "seeds/" + number + "_*.txt")
	if len(files) == 0 {
		t.Skip("the shared documents are not here")
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// longTable reads the table "From | To | Gate | Hooks", and adds what was added to it.
func longTable(t *testing.T) map[string]row {
	out := map[string]row{}
	for line := range strings.Lines(seed(t, "002")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) == 4 && slices.Contains(longStates, cells[0]) && slices.Contains(longStates, cells[1]) {
			out[cells[0]+" -> "+cells[1]] = readRow(cells[2], cells[3])
		}
	}
	if len(out) != 20 {
		t.Fatalf("%d rows were found: %v", len(out), out)
	}
	for move, gate := range added {
		out[move] = row{gate: gate, guard: always}
	}
	return out
}

func readRow(gate, hooks string) row {
	r := row{guard: always, hooks: []string{}}
	for name, words := range map[string]string{"plan": "## Plan", "handoff": "## Handoff", "pass": "PASS", "fail": "FAIL"} {
		if strings.Contains(gate, words) {
			r.gate = name
		}
	}
	switch {
	case strings.Contains(gate, "round < 2"):
		r.guard = func(n int) bool { return n < 2 }
	case strings.Contains(gate, "round ≥ 2"):
		r.guard = func(n int) bool { return n >= 2 }
	}
	for h := range strings.SplitSeq(hooks, ", ") {
		name, _, _ := strings.Cut(h, "(")
		if name != "—" && !strings.HasPrefix(name, "increment") {
			r.hooks = append(r.hooks, name)
		}
	}
	return r
}

var (
	longStates  = []string{"pending", "planning", "clarification", "working", "agent-review", "reviewing", "stuck", "done", "cancelled"}
	shortStates = []string{"pending", "clarification", "working", "agent-review", "reviewing", "stuck", "done", "cancelled"}
)

// shortTable reads lines "from → to, to".
func shortTable(t *testing.T) map[string]row {
	out := map[string]row{}
	for line := range strings.Lines(seed(t, "001")) {
		from, list, ok := strings.Cut(line, "→")
		if from = strings.TrimSpace(from); !ok || !slices.Contains(shortStates, from) {
			continue
		}
		for to := range strings.SplitSeq(strings.TrimSpace(list), ", ") {
			if slices.Contains(shortStates, to) {
				out[from+" -> "+to] = row{guard: always}
			}
		}
	}
	if len(out) != 18 {
		t.Fatalf("%d moves were found: %v", len(out), out)
	}
	out["working -> agent-review"] = row{gate: "handoff", guard: always}
	out["agent-review -> reviewing"] = row{gate: "pass", guard: always}
	out["agent-review -> working"] = row{gate: "fail", guard: func(n int) bool { return n < 2 }}
	out["agent-review -> stuck"] = row{gate: "fail", guard: func(n int) bool { return n >= 2 }}
	return out
}

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
		{"orange", longStates, longTable(t), func(b body) []string { return b.long }},
		{"orange-direct", shortStates, shortTable(t), func(b body) []string { return b.short }},
	}
	for _, tt := range tests {
		def := load(t, tt.workflow)
		for _, from := range tt.states {
			for _, to := range tt.states {
				move, what := from+" -> "+to, engine.Supposition{From: from, To: to}
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
	case !r.guard(round):
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
	if r.hooks != nil && cmp.Diff(r.hooks, o.hooks()) != "" {
		t.Errorf("%s: effects of the edge: %v, want %v", name, o.hooks(), r.hooks)
	}
	if n := o.after.Counter("crash_count"); n != 0 {
		t.Errorf("%s: crash_count is %d", name, n)
	}
	if got, want := o.after.Counter("review_round"), roundAfter(o.from+" -> "+o.to, round); got != want {
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
						o := suppose(t, def, b.text, engine.Supposition{From: from, Exit: true}, n, crashes)
						verdict, to, count := exitRule(from, n, crashes, tt.opens(b))
						if got := o.after.Counter("crash_count"); o.Verdict != verdict || o.to != to || got != count {
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
