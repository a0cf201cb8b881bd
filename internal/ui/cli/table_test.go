package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		if gate != "engine" {
			out[move] = row{gate: gate, guard: always}
		}
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
	out["cancelled -> pending"] = row{guard: always} // reopen
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
		for _, from := range tt.states {
			for _, to := range tt.states {
				move := from + " -> " + to
				r, ok := tt.table[move]
				if !ok {
					mention(t, decide(t, tt.workflow, "", "--from", from, "--to", to), "not in map")
					continue
				}
				for n := range 4 {
					for _, b := range bodies {
						d := decide(t, tt.workflow, b.text, "--from", from, "--to", to, "--set", round(n), "--set", "crash_count=1")
						wantMove(t, fmt.Sprintf("%s: %s, round %d, %q", tt.workflow, move, n, b.text), d, r, n, tt.opens(b))
					}
				}
			}
		}
	}
}

func wantMove(t *testing.T, name string, d decided, r row, round int, opens []string) {
	t.Helper()
	want, says := "advance", ""
	switch {
	case !r.guard(round):
		want, says = "refuse", ": guard: "
	case r.gate != "" && !slices.Contains(opens, r.gate):
		want, says = "refuse", ": gate: "
	}
	if d.Decision != want || !strings.Contains(d.Reason, says) {
		t.Errorf("%s: %s: %s, want %s%s", name, d.Decision, d.Reason, want, says)
	}
	if want == "refuse" {
		if len(d.Effects) > 0 || d.To != "" || d.Counters["review_round"] != round || d.Counters["crash_count"] != 1 {
			t.Errorf("%s: refused, and something changes: %+v", name, d)
		}
		return
	}
	if r.hooks != nil && cmp.Diff(r.hooks, d.by("edge")) != "" {
		t.Errorf("%s: effects of the edge: %v, want %v", name, d.by("edge"), r.hooks)
	}
	if d.Counters["crash_count"] != 0 {
		t.Errorf("%s: crash_count is %d", name, d.Counters["crash_count"])
	}
	wantRound(t, name, d, round)
}

// wantRound knows the moves that change the round: a review begins, or a person
// begins a new cycle.
func wantRound(t *testing.T, name string, d decided, round int) {
	t.Helper()
	want := round
	switch d.From + " -> " + d.To {
	case "working -> agent-review":
		want = round + 1
	case "reviewing -> working", "stuck -> working":
		want = 0
	case "stuck -> agent-review":
		want = 1
	}
	if got := d.Counters["review_round"]; got != want {
		t.Errorf("%s: review_round is %d, want %d", name, got, want)
	}
}

// Every state, every round, every count of crashes and every body: an exit is judged
// by the state's own artifact.
func TestEveryExitIsJudgedAsTheRulesSay(t *testing.T) {
	seed(t, "002")
	for _, workflow := range []string{"orange", "orange-direct"} {
		states := longStates
		if workflow == "orange-direct" {
			states = shortStates
		}
		for _, from := range states {
			for n := range 4 {
				for crashes := range 3 {
					for _, b := range bodies {
						opens := b.long
						if workflow == "orange-direct" {
							opens = b.short
						}
						d := decide(t, workflow, b.text, "--from", from, "--exit", "--set", round(n), "--set", fmt.Sprint("crash_count=", crashes))
						decision, to, count := exitRule(from, n, crashes, opens)
						if d.Decision != decision || d.To != to || d.Counters["crash_count"] != count {
							t.Errorf("%s: %s, round %d, crashes %d, %q: %s to %q, crashes %d; want %s to %q, %d", workflow, from, n, crashes, b.text,
								d.Decision, d.To, d.Counters["crash_count"], decision, to, count)
						}
					}
				}
			}
		}
	}
}

// exitRule says what the end of a state's own agent means.
func exitRule(from string, round, crashes int, opens []string) (decision, to string, count int) {
	has := func(gate string) bool { return slices.Contains(opens, gate) }
	switch {
	case from == "planning" && has("plan"):
		return "advance", "working", 0
	case from == "working" && has("handoff"):
		return "advance", "agent-review", 0
	case from == "agent-review" && has("pass"):
		return "advance", "reviewing", 0
	case from == "agent-review" && has("fail") && round < 2:
		return "advance", "working", 0
	case from == "agent-review" && has("fail"):
		return "advance", "stuck", 0
	case from == "clarification" || from == "reviewing" || from == "stuck":
		return "crash", "", crashes
	case from == "pending" || from == "done" || from == "cancelled":
		return "stay", "", crashes
	case crashes+1 >= 2:
		return "advance", "stuck", 0
	}
	return "crash", "", crashes + 1
}
