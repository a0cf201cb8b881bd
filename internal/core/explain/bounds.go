package explain

import (
	"slices"
	"strings"

	"orange/internal/core/engine"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// A Bound is a counter that matters in the state of a task.
type Bound struct {
	Counter  string `json:"counter"`
	Value    int    `json:"value"`
	Max      int    `json:"max"`
	PerState bool   `json:"per_state,omitempty"` // reset by every transition
	Then     string `json:"then"`                // what happens when the bound is reached
	ByPerson bool   `json:"by_person,omitempty"` // reset when a person decides
}

// counterBounds lists the counters that matter in a state: those that count its agent's failures, and
// those that open or close edges out of it.
func (d *explainer) counterBounds(s *workflow.State) []Bound {
	out := []Bound{}
	for i := range d.def.Counters {
		c := &d.def.Counters[i]
		then := ""
		switch {
		case c.Max == 0 || s.Kind == workflow.Terminal:
		case c.Crashes && s.Kind == workflow.Agent:
			then = d.atBound(workflow.OnCrashLimit)
		case c.Silence && s.Kind == workflow.Agent:
			then = d.atBound(workflow.OnSilence)
		case !c.Crashes && !c.Silence:
			then = d.waysAt(c)
		}
		if then != "" {
			out = append(out, Bound{Counter: c.Name, Value: d.t.CounterValue(c.Name), Max: c.Max, PerState: c.PerState, Then: then, ByPerson: c.ByPerson})
		}
	}
	return out
}

// atBound returns what happens to the task when a failure counter reaches its bound.
func (d *explainer) atBound(on workflow.TriggerKind) string {
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		if e := &d.def.Edges[i]; e.AnswersTo(on, "") && d.now.GuardHolds(e) {
			return "the task goes to " + e.To
		}
	}
	return "a person must act"
}

// waysAt returns which edges open and close when a counter reaches its bound, or "" if none does.
func (d *explainer) waysAt(c *workflow.Counter) string {
	then := *d.t
	then.Counters = slices.DeleteFunc(slices.Clone(then.Counters), func(o task.Counter) bool { return o.Name == c.Name })
	then.Counters = append(then.Counters, task.Counter{Name: c.Name, Value: c.Max, Total: c.Max})
	full := engine.NewSituation(d.def, &then, d.sig)
	begun := *d.t
	begun.Counters = slices.DeleteFunc(slices.Clone(begun.Counters), func(o task.Counter) bool { return o.Name == c.Name })
	empty := engine.NewSituation(d.def, &begun, d.sig)
	var words []string
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		e := &d.def.Edges[i]
		word := "the way to " + e.To + " opens"
		if empty.GuardHolds(e) {
			word = "the way to " + e.To + " closes"
		}
		if empty.GuardHolds(e) != full.GuardHolds(e) && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " and ")
}
