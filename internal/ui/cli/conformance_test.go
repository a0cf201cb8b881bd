package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sharedFolder = "../../../../shared/" // beside the repository, where it exists

// publicCase is one case of the shared conformance file.
type publicCase struct {
	Suite       string
	Name        string
	Input       json.RawMessage
	Context     json.RawMessage
	Expected    json.RawMessage
	Recommended string
}

func publicCases(t *testing.T, suite string) []publicCase {
	t.Helper()
	text, err := os.ReadFile(sharedFolder + "conformance/orange.json")
	if os.IsNotExist(err) {
		t.Skip("the shared conformance file is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []publicCase
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(c publicCase) bool { return c.Suite != suite })
	if len(all) == 0 {
		t.Fatalf("no cases of suite %s", suite)
	}
	return all
}

func read[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// added are the moves that were added to the table of the shared cases, with what
// they need; "engine" is refused when asked for.
var added = map[string]string{
	"pending -> clarification": "", "clarification -> working": "plan", "planning -> stuck": "engine",
	"stuck -> working": "", "stuck -> agent-review": "handoff", "cancelled -> pending": "",
}

func round(n int) string { return "review_round=" + strconv.Itoa(n) }

// hooks takes out of a list what is a counter here.
func hooks(list []string) []string {
	out := []string{}
	for _, h := range list {
		if h != "increment_review_round" {
			out = append(out, h)
		}
	}
	return out
}

func TestPublicTransitionMap(t *testing.T) {
	for _, c := range publicCases(t, "transition_map") {
		in := read[struct {
			From, To, Body string
			Round          int `json:"review_round"`
		}](t, c.Input)
		want := read[struct {
			Allowed bool
			Reason  string
			Hooks   []string
		}](t, c.Expected)
		t.Run(c.Name, func(t *testing.T) {
			d := decide(t, "orange", in.Body, "--from", in.From, "--to", in.To, "--set", round(in.Round))
			if need, ok := added[in.From+" -> "+in.To]; ok && need != "engine" {
				wantAdded(t, d, need)
				return
			}
			if want.Allowed != (d.Decision == "advance") {
				t.Fatalf("%s: %s, want allowed %t", d.Decision, d.Reason, want.Allowed)
			}
			switch want.Reason {
			case "not in map":
				mention(t, d, "not in map")
			case "rejected:gate":
				mention(t, d, ": gate: ")
			case "rejected:condition":
				mention(t, d, ": guard: ")
			case "allowed":
				sameHooks(t, d, in.From, in.To, want.Hooks)
			}
		})
	}
}

// wantAdded wants an added move open, or closed by its gate, on an empty body.
func wantAdded(t *testing.T, d decided, gate string) {
	t.Helper()
	if gate == "" && d.Decision != "advance" {
		t.Errorf("%s: %s, want the added move", d.Decision, d.Reason)
	}
	if gate != "" {
		mention(t, d, ": gate: ")
	}
}

func mention(t *testing.T, d decided, says string) {
	t.Helper()
	if d.Decision != "refuse" || !strings.Contains(d.Reason, says) {
		t.Errorf("%s: %q, want a refusal with %q", d.Decision, d.Reason, says)
	}
}

func sameHooks(t *testing.T, d decided, from, to string, want []string) {
	t.Helper()
	want = hooks(want)
	if from == "reviewing" && to == "done" && !slices.Contains(want, "delete_remote_branch") {
		want = slices.Insert(want, len(want)-1, "delete_remote_branch")
	}
	if diff := cmp.Diff(want, d.by("edge")); diff != "" {
		t.Errorf("effects of the edge: - want, + got\n%s", diff)
	}
}

func TestPublicTransitionsOfTheShortWorkflow(t *testing.T) {
	for _, c := range publicCases(t, "transition_seed001") {
		in := read[struct{ From, To string }](t, c.Input)
		want := read[struct {
			InMap bool `json:"in_map"`
		}](t, c.Expected)
		d := decide(t, "orange-direct", "", "--from", in.From, "--to", in.To)
		missing := d.Decision == "refuse" && strings.Contains(d.Reason, "not in map")
		if missing == want.InMap {
			t.Errorf("%s: %s: %s", c.Name, d.Decision, d.Reason)
		}
	}
}

// ready are sections that open every gate but the other verdict's.
const ready = "## Plan\n\nAPPROACH: x\n\n## Handoff\n\nDONE: x\n\n## Review\n\nVerdict: "

func TestPublicFindTransition(t *testing.T) {
	for _, c := range publicCases(t, "find_transition") {
		in := read[struct {
			From, To string
			Round    int `json:"review_round"`
		}](t, c.Input)
		want := read[*struct {
			Hooks          []string
			Gated, Guarded bool
		}](t, c.Expected)
		t.Run(c.Name, func(t *testing.T) {
			if _, ok := added[in.From+" -> "+in.To]; ok {
				t.Skip("the table was widened here")
			}
			args := []string{"--from", in.From, "--to", in.To, "--set", round(in.Round)}
			pass, fail := decide(t, "orange", ready+"PASS\n", args...), decide(t, "orange", ready+"FAIL\n", args...)
			empty := decide(t, "orange", "", append(args, "--without", "merged")...)
			open := pass
			if fail.Decision == "advance" {
				open = fail
			}
			if want == nil {
				mention(t, open, "")
				return
			}
			if open.Decision != "advance" {
				t.Fatalf("%s: %s", open.Decision, open.Reason)
			}
			sameHooks(t, open, in.From, in.To, want.Hooks)
			if gated := empty.Decision == "refuse"; gated != want.Gated && in.To != "done" {
				t.Errorf("gated %t: %s", gated, empty.Reason)
			}
		})
	}
}

func TestPublicExecuteTransition(t *testing.T) {
	for _, c := range publicCases(t, "execute_transition") {
		in := read[struct {
			Status, To, Body string
			Round            int `json:"review_round"`
			Crashes          int `json:"crash_count"`
		}](t, c.Input)
		want := read[struct {
			From, To string
			Hooks    []string
			Crashes  int `json:"crash_count_after"`
		}](t, c.Expected)
		d := decide(t, "orange", in.Body, "--from", in.Status, "--to", in.To,
			"--set", round(in.Round), "--set", fmt.Sprint("crash_count=", in.Crashes))
		if d.Decision != "advance" || d.From != want.From || d.To != want.To || d.Counters["crash_count"] != want.Crashes {
			t.Errorf("%s: %+v", c.Name, d)
		}
		sameHooks(t, d, in.Status, in.To, want.Hooks)
	}
}

// Exits of clarification, reviewing and stuck are not counted, and entering stuck
// takes the count back to 0.
func TestPublicExitRules(t *testing.T) {
	for _, c := range publicCases(t, "exit_rule") {
		in := read[struct {
			Status, Body string
			Round        int `json:"review_round"`
			Crashes      int `json:"crash_count"`
		}](t, c.Input)
		want := read[struct {
			Action string
			After  string `json:"status_after"`
		}](t, c.Expected)
		d := decide(t, "orange", in.Body, "--from", in.Status, "--exit",
			"--set", round(in.Round), "--set", fmt.Sprint("crash_count=", in.Crashes))
		decision, to := "advance", want.After
		if want.Action == "crashed" {
			decision, to = "crash", ""
		}
		if d.Decision != decision || d.To != to {
			t.Errorf("%s: %s to %q: %s", c.Name, d.Decision, d.To, d.Reason)
		}
		if crashes := d.Counters["crash_count"]; crashes != 0 {
			t.Errorf("%s: crash_count is %d", c.Name, crashes)
		}
	}
}

func TestPublicObservedExits(t *testing.T) {
	for _, c := range publicCases(t, "exit_rule_observed") {
		in := read[struct {
			Status, Body string
			Round        int  `json:"review_round"`
			NoReview     bool `json:"reviewer_wrote_nothing"`
			NoHandoff    bool `json:"worker_died_at_once"`
		}](t, c.Input)
		args := []string{"--from", in.Status, "--exit", "--set", round(in.Round)}
		if in.NoReview {
			args = append(args, "--stale", "Review")
		}
		if in.NoHandoff {
			args = append(args, "--stale", "Handoff")
		}
		d := decide(t, "orange", in.Body, args...)
		if d.Decision != "crash" || d.To != "" || d.Counters["crash_count"] != 1 {
			t.Errorf("%s: %+v, recommended %s", c.Name, d, c.Recommended)
		}
		if in.Status == "agent-review" && !slices.Contains(d.by("state"), "spawn_reviewer") {
			t.Errorf("%s: no reviewer is started: %+v", c.Name, d.Effects)
		}
	}
}

// opens says whether the gate of a move opens on a body.
func opens(t *testing.T, workflow, body, from, to string, n int) bool {
	t.Helper()
	return decide(t, workflow, body, "--from", from, "--to", to, "--set", round(n)).Decision == "advance"
}

func TestPublicGates(t *testing.T) {
	move := map[string][2]string{
		"validatePlanGate": {"planning", "working"}, "validateHandoffGate": {"working", "agent-review"}, "validateReviewGate": {"agent-review", "reviewing"},
	}
	for suite, m := range move {
		for _, c := range publicCases(t, suite) {
			from, to := m[0], m[1]
			if strings.Contains(string(c.Context), "FAIL") {
				to = "working"
			}
			if got, want := opens(t, "orange", read[string](t, c.Input), from, to, 1), read[bool](t, c.Expected); got != want {
				t.Errorf("%s: open %t, want %t", c.Name, got, want)
			}
		}
	}
}

func TestPublicVerdictsOfTheShortWorkflow(t *testing.T) {
	for _, c := range publicCases(t, "verdict_seed001") {
		body, want := "## Review\n\n"+read[string](t, c.Input)+"\n", read[*string](t, c.Expected)
		pass, fail := opens(t, "orange-direct", body, "agent-review", "reviewing", 1), opens(t, "orange-direct", body, "agent-review", "working", 1)
		if pass != (want != nil && *want == "pass") || fail != (want != nil && *want == "fail") {
			t.Errorf("%s: pass %t, fail %t", c.Name, pass, fail)
		}
	}
}

// What is recommended counts where it differs from what was observed.
func TestPublicGatesAtTheEdges(t *testing.T) {
	recommended := map[string]string{
		"use the LAST section / the section written in this attempt": "review_pass_gate",
		"ignore fenced headings":                                     "",
		"use the last ## Plan outside ## Context; gate passes":       "plan_gate",
		"gate fails (no field has content)":                          "",
		"gate passes":                                                "handoff_gate",
	}
	for _, c := range publicCases(t, "artifact_gates_edge") {
		body, want := read[string](t, c.Input), read[map[string]bool](t, c.Expected)
		if c.Recommended != "" {
			gate, ok := recommended[c.Recommended]
			if !ok {
				t.Fatalf("%s: recommended is %q: add what it means", c.Name, c.Recommended)
			}
			for k := range want {
				want[k] = k == gate
			}
		}
		got := map[string]bool{
			"plan_gate":        opens(t, "orange", body, "planning", "working", 0),
			"handoff_gate":     opens(t, "orange", body, "working", "agent-review", 0),
			"review_pass_gate": opens(t, "orange", body, "agent-review", "reviewing", 1),
			"review_fail_gate": opens(t, "orange", body, "agent-review", "working", 1),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: - want, + got\n%s", c.Name, diff)
		}
	}
}
