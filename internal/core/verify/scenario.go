package verify

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// A Scenario is a counterexample that can be replayed: the workflow's text, what happened, and
// where each step led. It is a test that fails once the workflow, or the engine, behaves
// differently.
type Scenario struct {
	Workflow string   `json:"workflow"`
	Text     string   `json:"text"`
	Property Property `json:"property"`
	Message  string   `json:"message"`
	Without  []string `json:"without,omitempty"` // protections that the model left out
	Steps    []Step   `json:"steps"`
}

// ScenarioOf converts a violation of def to a scenario.
func ScenarioOf(def *workflow.Definition, v Violation, without []Protection) Scenario {
	s := Scenario{Workflow: def.Name, Text: def.Text, Property: v.Property, Message: v.Message, Steps: v.Trace}
	for _, p := range without {
		s.Without = append(s.Without, string(p))
	}
	return s
}

// Play sends all signals to the engine again, under def, and returns the state of the task
// after each step. differs describes where that is no longer what the scenario recorded.
func (s Scenario) Play(def *workflow.Definition) (states []string, differs error) {
	var t task.Task
	for i, st := range s.Steps {
		for _, sig := range st.Signals {
			d := engine.Decide(def, &t, sig)
			next, err := journal.Fold(t, d.Entries)
			if err != nil {
				return states, err
			}
			t = next
		}
		states = append(states, t.Status)
		if now := waitsFor(def, &t); now != st.After && differs == nil {
			differs = fmt.Errorf("step %d (%s) leads to %s, and the scenario recorded %s", i+1, st.What, now, st.After)
		}
		if name, now, then := differentCounter(countersOf(&t), st.Counters); name != "" && differs == nil {
			differs = fmt.Errorf("step %d (%s) leaves %s at %d, and the scenario recorded %d", i+1, st.What, name, now, then)
		}
	}
	return states, differs
}

// countersOf returns the counters of a task that are not 0.
func countersOf(t *task.Task) map[string]int {
	out := map[string]int{}
	for _, c := range t.Counters {
		if c.Value != 0 {
			out[c.Name] = c.Value
		}
	}
	return out
}

// differentCounter returns the first counter, by name, that differs from the recorded one, or
// "" for none. A scenario of an earlier version has no counters.
func differentCounter(now, then map[string]int) (name string, is, was int) {
	if then == nil {
		return "", 0, 0
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(now)), maps.Keys(then))
	slices.Sort(names)
	for _, name := range names {
		if now[name] != then[name] {
			return name, now[name], then[name]
		}
	}
	return "", 0, 0
}

// waitsFor returns one line about where a task is and what could move it on by itself.
func waitsFor(def *workflow.Definition, t *task.Task) string {
	out := t.Status
	for _, a := range t.Attempts {
		out += ", " + a.Role + " " + strconv.Itoa(a.Number)
	}
	for _, e := range t.Pending {
		out += ", " + e.Do + " owed"
	}
	for _, tm := range timersOf(def, t) {
		out += ", " + tm.Name + " timer"
	}
	return out
}
