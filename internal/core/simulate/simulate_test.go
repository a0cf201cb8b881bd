package simulate_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/simulate"
	"orange/internal/core/workflow"
)

// overlayProfile returns the default profile of def changed by a profile file.
func overlayProfile(t *testing.T, def *workflow.Definition, text string) simulate.Profile {
	t.Helper()
	p, err := simulate.DefaultProfile(def).WithFile(def, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// playRuns simulates with a profile file.
func playRuns(t *testing.T, def *workflow.Definition, text string, runs int) simulate.Summary {
	t.Helper()
	r, err := simulate.Run(def, simulate.RunOptions{Seed: 7, Profile: overlayProfile(t, def, text)}, 0, runs)
	if err != nil {
		t.Fatal(err)
	}
	return r.Summary(def)
}

func encodeJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fine is a world in which everything goes well and takes as long as it should.
const fine = `{
	"roles": {
		"worker": {"crash": 0, "no_answer": 0, "question": 0, "give_up": 0, "limit": 0, "duration": {"median": "10m", "p95": "10m"}, "tokens": {"median": 1000, "p95": 1000}, "cost_per_1k": 0.5},
		"reviewer": {"crash": 0, "no_answer": 0, "fail": 0, "limit": 0, "duration": {"median": "5m", "p95": "5m"}, "tokens": {"median": 500, "p95": 500}, "cost_per_1k": 2}
	},
	"human": {"delay": {"median": "1h", "p95": "1h"}, "request_changes": 0, "cancel": 0},
	"effects": {"duration": "0s", "fail": 0}
}`

func TestEverythingGoesWell(t *testing.T) {
	def := loadDefinition(t, "orange")
	s := playRuns(t, def, fine, 100)
	want := map[string]float64{
		simulate.Duration: 85 * 60, simulate.Work: 25 * 60, simulate.Waiting: 3600, simulate.TokenUse: 2500, simulate.Cost: 2,
		simulate.Waits: 1, simulate.Crashed: 0, "total of review_round": 1, "attempts of reviewer": 1, "attempts of fixer": 0,
	}
	for name, v := range want {
		if f := s.FindFigure(name); f.P50 != v || f.P95 != v || f.Mean != v {
			t.Errorf("%s: %+v, want %g", name, f, v)
		}
	}
	if f := s.FindFigure("attempts of worker"); f.P50 != 1 || f.P95 > 2 {
		t.Errorf("workers: %+v; one that ends with its work done is replaced once", f)
	}
	if s.Stuck != 0 || s.Unfinished != 0 || s.Ends[0] != (simulate.Share{State: "done", Share: 1}) {
		t.Errorf("stuck %g, unfinished %g, ends %v", s.Stuck, s.Unfinished, s.Ends)
	}
	in := map[string]float64{}
	for _, st := range s.States {
		in[st.State] = st.Mean
	}
	if diff := cmp.Diff(map[string]float64{"pending": 0, "planning": 600, "clarification": 0, "working": 600, "agent-review": 300, "reviewing": 3600, "stuck": 0}, in); diff != "" {
		t.Error(diff)
	}
}

func TestExtremes(t *testing.T) {
	cancels := `"human": {"cancel": 1}`
	tests := []struct {
		name, profile string
		stuck         float64
		figure        string
		is            float64
	}{
		{"every worker crashes", `{"roles": {"worker": {"crash": 1, "no_answer": 0, "question": 0, "give_up": 0, "limit": 0}}, ` + cancels + `}`, 1, "attempts of worker", 2},
		{"no worker answers", `{"roles": {"worker": {"crash": 0, "no_answer": 1, "question": 0, "give_up": 0, "limit": 0}}, ` + cancels + `}`, 1, "total of crash_count", 2},
		{"every reviewer crashes", `{"roles": {"worker": {"crash": 0, "no_answer": 0, "question": 0, "give_up": 0, "limit": 0, "duration": {"median": "1m", "p95": "2m"}}, "reviewer": {"crash": 1, "no_answer": 0, "question": 0, "give_up": 0}}, ` + cancels + `}`, 1, "attempts of reviewer", 2},
		{"every review fails", `{"roles": {"worker": {"crash": 0, "no_answer": 0, "question": 0, "give_up": 0, "limit": 0, "duration": {"median": "1m", "p95": "2m"}}, "reviewer": {"crash": 0, "no_answer": 0, "limit": 0, "fail": 1, "duration": {"median": "1m", "p95": "2m"}}}, ` + cancels + `}`, 1, "total of review_round", 2},
		{"every worker asks", `{"roles": {"worker": {"crash": 0, "no_answer": 0, "question": 1, "give_up": 0, "limit": 0, "duration": {"median": "1m", "p95": "2m"}}}, ` + cancels + `}`, 0, "human waits", 1},
		{"every worker gives up", `{"states": {"planning": {"crash": 0, "no_answer": 0, "question": 0, "limit": 0}, "working": {"crash": 0, "no_answer": 0, "question": 0, "give_up": 1, "limit": 0}}, ` + cancels + `}`, 1, "total of review_round", 0},
		{"every worker is limited beyond its deadline", `{"roles": {"worker": {"crash": 0, "no_answer": 0, "question": 0, "give_up": 0, "limit": 1, "limit_wait": {"median": "5h", "p95": "5h"}}}, ` + cancels + `}`, 1, "attempts of worker", 2},
	}
	def := loadDefinition(t, "orange")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := playRuns(t, def, tt.profile, 200)
			if f := s.FindFigure(tt.figure); s.Stuck != tt.stuck || f.P50 != tt.is || f.P95 != tt.is {
				t.Errorf("stuck %g, %s %+v, want %g and %g", s.Stuck, tt.figure, f, tt.stuck, tt.is)
			}
		})
	}
}

func TestTimesAreSpreadAsTheProfileSays(t *testing.T) {
	def := loadDefinition(t, "orange")
	spread := strings.Replace(fine, `"delay": {"median": "1h", "p95": "1h"}`, `"delay": {"median": "1h", "p95": "4h"}`, 1)
	f := playRuns(t, def, spread, 5000)
	w := f.FindFigure(simulate.Waiting)
	if math.Abs(w.P50/3600-1) > 0.06 || math.Abs(w.P95/4/3600-1) > 0.08 {
		t.Errorf("waiting: P50 %.2f h, P95 %.2f h, want 1 and 4", w.P50/3600, w.P95/3600)
	}
}

func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	for _, name := range []string{"orange", "orange-direct"} {
		def := loadDefinition(t, name)
		play := func(seed uint64) string {
			r, err := simulate.Run(def, simulate.RunOptions{Seed: seed}, 0, 300)
			if err != nil {
				t.Fatal(err)
			}
			return encodeJSON(t, r.Summary(def))
		}
		first := play(1)
		if second := play(1); second != first {
			t.Errorf("%s: twice the same seed: %s", name, cmp.Diff(first, second))
		}
		if other := play(2); other == first {
			t.Errorf("%s: seeds 1 and 2 give the same", name)
		}
	}
}

func TestResultsMergeInAnyOrder(t *testing.T) {
	def := loadDefinition(t, "orange")
	part := func(first, n int) simulate.Result {
		r, err := simulate.Run(def, simulate.RunOptions{Seed: 3}, first, n)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	whole := part(0, 400)
	want := encodeJSON(t, whole.Summary(def))
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 1, 0, 2}, {2, 3, 1, 0}} {
		var all simulate.Result
		for _, i := range order {
			all.Merge(part(i*100, 100))
		}
		if got := encodeJSON(t, all.Summary(def)); got != want {
			t.Errorf("in the order %v: %s", order, cmp.Diff(want, got))
		}
	}
}

func TestLimitsEndARun(t *testing.T) {
	def := loadDefinition(t, "orange")
	hopeless := overlayProfile(t, def, `{"roles": {"worker": {"crash": 1, "no_answer": 0, "question": 0, "give_up": 0}}, "human": {"cancel": 0}}`)
	tests := []struct {
		name    string
		o       simulate.RunOptions
		longest float64
	}{
		{"thirty days", simulate.RunOptions{Profile: hopeless}, 30 * 24 * 3600},
		{"an hour", simulate.RunOptions{Profile: hopeless, MaxTime: time.Hour}, 3600},
		{"a few decisions", simulate.RunOptions{Profile: hopeless, MaxDecisions: 5}, 3600},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := simulate.Run(def, tt.o, 0, 20)
			if err != nil {
				t.Fatal(err)
			}
			s := r.Summary(def)
			if f := s.FindFigure(simulate.Duration); s.Unfinished != 1 || f.P95 > tt.longest {
				t.Errorf("unfinished %g, duration %+v", s.Unfinished, f)
			}
		})
	}
}

func TestAWorkflowThatCannotBeginIsRefused(t *testing.T) {
	text := strings.Replace(simOdd, "- {from: new, to: doing, on: create, by: [tracker]}", "- {from: new, to: doing, on: create, by: [tracker], gate: report}", 1)
	def, err := workflow.Parse("odd.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := simulate.Run(def, simulate.RunOptions{}, 0, 1); err == nil || !strings.Contains(err.Error(), "no task of workflow odd can begin") {
		t.Errorf("got %v", err)
	}
}

// simOdd has what the built-in workflows have not: outcomes, a timer, a confirmation, a
// manual respawn, and an end that only a tracker brings.
const simOdd = `name: odd
version: 1
roles:
  maker: {session: visit}
counters:
  rounds: {max: 3}
  crashes:
    counts: crashes
    per: state
    max: 2
gates:
  report: {section: Report, any_of: [DONE]}
  note: {section: Report}
states:
  doing: {kind: agent, role: maker, deadline: {wall: 1h}, respawn: manual}
  asking: {kind: agent, role: maker, deadline: {wall: 1h}}
  waiting: {kind: human}
  halted: {kind: halt}
  done: {kind: terminal}
edges:
  - {from: new, to: doing, on: create, by: [tracker]}
  - {from: doing, to: asking, on: {outcome: OK}, gate: [report, note], count: {rounds: +1}}
  - {from: doing, to: doing, on: {outcome: AGAIN}, when: "3 > rounds", count: {rounds: +1}}
  - {from: doing, to: halted, on: {outcome: BROKEN}}
  - {from: doing, to: asking, as: complete, by: [human], gate: report}
  - {from: [doing, asking], to: halted, on: crash-limit}
  - {from: asking, to: waiting, as: complete, by: [human], confirm: [maker]}
  - {from: waiting, to: done, on: {pr: merged}, by: [tracker]}
  - {from: waiting, to: halted, on: {timer: 240h}}
  - {from: halted, to: doing, as: resume, by: [human], when: 'rounds < 3', count: {rounds: +1}}
  - {from: halted, to: done, as: accept, by: [human]}
`

// A task that waits for children has as many as its guards ask for, and they get far enough.
func TestParentsContinue(t *testing.T) {
	for _, on := range []string{"on: [request, {tracker: child}], as: complete, by: [human, engine]", "on: {tracker: child}, by: [engine]"} {
		def, err := workflow.Parse("parent.yaml", `name: parent
version: 1
gates:
  parts: {children: [done]}
states:
  divided: {kind: waiting}
  done: {kind: terminal}
  dropped: {kind: terminal}
edges:
  - {from: new, to: divided, on: create, by: [human]}
  - {from: divided, to: done, when: children >= 3, gate: parts, `+on+`}
  - {from: divided, to: dropped, as: cancel, by: [human]}
`)
		if err != nil {
			t.Fatal(err)
		}
		if s := playRuns(t, def, `{"human": {"cancel": 0}}`, 100); s.Unfinished > 0 || s.FindFigure(simulate.Waits).P95 != 1 || !slices.Contains(s.Ends, simulate.Share{State: "done", Share: 1}) {
			t.Errorf("%s: %s", on, encodeJSON(t, s))
		}
	}
}

func TestOddWorkflowsEnd(t *testing.T) {
	def, err := workflow.Parse("odd.yaml", simOdd)
	if err != nil {
		t.Fatal(err)
	}
	s := playRuns(t, def, `{"states": {"asking": {"crash": 0.3}}, "human": {"delay": {"median": "20h", "p95": "200h"}}, "effects": {"fail": 0.5}}`, 500)
	if s.Unfinished > 0.1 || s.Stuck == 0 || s.Stuck == 1 || s.FindFigure(simulate.Waits).Mean < 2 {
		t.Errorf("%s", encodeJSON(t, s))
	}
	if f := s.FindFigure("total of rounds"); f.P95 > 4 || f.Mean == 0 {
		t.Errorf("rounds: %+v", f)
	}
}

// simQueue has a queue in the middle, which the engine leaves once and a person the
// second time, and a timer that opens nothing.
const simQueue = `name: queue
version: 1
roles:
  maker: {session: visit}
counters:
  rounds: {max: 2}
  crashes: {counts: crashes, per: state, max: 2}
gates:
  passed: {section: Review, verdict: PASS}
  secret: {section: Secret}
states:
  first: {kind: human}
  queue: {kind: queued}
  doing: {kind: agent, role: maker, deadline: {wall: 1h}}
  halted: {kind: halt}
  done: {kind: terminal}
edges:
  - {from: new, to: first, on: create, by: [human]}
  - {from: first, to: queue, by: [human]}
  - {from: first, to: done, on: {timer: 1m}, gate: secret}
  - {from: queue, to: doing, on: ready, when: rounds == 0, count: {rounds: +1}}
  - {from: queue, to: doing, by: [human], count: {rounds: +1}}
  - {from: doing, to: queue, as: complete, by: [maker], gate: passed, when: rounds < 2}
  - {from: doing, to: done, as: complete, by: [maker], gate: passed, when: rounds >= 2}
  - {from: doing, to: halted, on: crash-limit}
  - {from: halted, to: done, by: [human]}
`

func TestQueuesAndTimersThatOpenNothing(t *testing.T) {
	def, err := workflow.Parse("queue.yaml", simQueue)
	if err != nil {
		t.Fatal(err)
	}
	well := `"crash": 0, "no_answer": 0, "limit": 0, "exit": 0, "duration": {"median": "10m", "p95": "10m"}, "tokens": {"median": 0, "p95": 0}`
	rest := `"human": {"delay": {"median": "1h", "p95": "1h"}}, "effects": {"duration": "0s", "fail": 0}}`
	s := playRuns(t, def, `{"roles": {"maker": {"fail": 0, `+well+`}}, `+rest, 20)
	if d := s.FindFigure(simulate.Duration); d.Mean != (2*60+2*10)*60 || s.FindFigure("total of rounds").Mean != 2 || s.FindFigure(simulate.TokenUse).P95 != 0 {
		t.Errorf("all goes well: %s", encodeJSON(t, s))
	}
	// A verdict that no edge answers is a crash when its author ends.
	s = playRuns(t, def, `{"roles": {"maker": {"fail": 1, `+well+`}}, `+rest, 20)
	if s.Stuck != 1 || s.FindFigure("attempts of maker").P50 != 2 {
		t.Errorf("every verdict is FAIL: %s", encodeJSON(t, s))
	}
}

func TestProfilesThatAreRefused(t *testing.T) {
	tests := []struct{ name, text, says string }{
		{"an unknown role", `{"roles": {"boss": {}}}`, `role "boss" is not declared: workflow orange has worker, reviewer, fixer`},
		{"an unknown state", `{"states": {"reviewing": {}}}`, `state "reviewing" has no agent: use agent-review, clarification, planning, stuck, working`},
		{"an unknown key", `{"roles": {"worker": {"crush": 1}}}`, `role worker: unknown field "crush": fix the JSON`},
		{"an unknown key at the top", `{"people": {}}`, `unknown field "people"`},
		{"a probability above 1", `{"roles": {"worker": {"crash": 1.5}}}`, "crash is 1.5: a probability is between 0 and 1"},
		{"a probability below 0", `{"human": {"cancel": -1}}`, "human: cancel is -1: a probability"},
		{"probabilities that exclude each other", `{"roles": {"worker": {"crash": 0.6, "no_answer": 0.6}}}`, "add up to 1.26"},
		{"a time that is none", `{"human": {"delay": {"median": "soon"}}}`, `human: "soon" is not a time: write one such as 90s`},
		{"a number for a time", `{"effects": {"duration": 3}}`, "effects: duration: expected text, found number"},
		{"text for a number", `{"roles": {"worker": {"crash": "often"}}}`, "crash: expected a number, found string"},
		{"a p95 below the median", `{"roles": {"worker": {"duration": {"median": "3h"}}}}`, "p95 not below the median"},
		{"a p95 without a median", `{"human": {"delay": {"median": "0s"}}}`, "the median is 0s"},
		{"tokens below nothing", `{"roles": {"worker": {"tokens": {"median": -1}}}}`, "tokens: median -1"},
		{"a price below nothing", `{"roles": {"worker": {"cost_per_1k": -1}}}`, "cost_per_1k is -1"},
		{"an effect before its beginning", `{"effects": {"duration": "-3s"}}`, "give a time from 0s"},
		{"broken JSON", `{"roles": `, "fix the JSON"},
		{"two values", `{} {}`, "more than one value"},
		{"a list", `[]`, "the value: expected an object, found array"},
	}
	def := loadDefinition(t, "orange")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := simulate.DefaultProfile(def).WithFile(def, []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, tt.says)
			}
		})
	}
}

func TestAProfileIsAProfileFile(t *testing.T) {
	def := loadDefinition(t, "orange")
	p := overlayProfile(t, def, `{"roles": {"worker": {"crash": 0.5}}, "states": {"planning": {"crash": 0.25}}}`)
	if p.States["planning"].Crash != 0.25 || p.States["working"].Crash != 0.5 || p.States["agent-review"].Crash != 0.03 {
		t.Errorf("states before roles before defaults: %+v", p.States)
	}
	if again := overlayProfile(t, def, encodeJSON(t, p)); cmp.Diff(p, again) != "" {
		t.Error(cmp.Diff(p, again))
	}
}

func ExampleRun() {
	text := strings.Replace(simOdd, "by: [tracker]}", "by: [human]}", 1)
	def, err := workflow.Parse("odd.yaml", text)
	if err != nil {
		panic(err)
	}
	r, err := simulate.Run(def, simulate.RunOptions{Seed: 1}, 0, 100)
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Summary(def).Runs, "lives")
	// Output: 100 lives
}
