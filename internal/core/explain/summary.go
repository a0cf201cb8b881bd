package explain

import (
	"fmt"
	"slices"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// APerson is the owner of what cannot go on before a person acts.
const APerson = aPerson

// A TaskSummary is what a row of a table says about a task: the part of an explanation that
// needs nothing but the record.
type TaskSummary struct {
	Kind     workflow.Kind // of its state
	Owner    string        // who must act: a person, the engine, a role, or nobody
	Why      string
	Wants    *Item // what a person is wanted for, nil if nobody is
	Deadline *engine.Timer
	Moves    []Move
	Answers  bool // an answer of a person would be taken
}

// A Move is an edge that a person may ask for. Whether its gates are met is found out
// when it is asked for.
type Move struct {
	To string `json:"to"`
	As string `json:"as,omitempty"`
}

// Summarize is what can be seen of a task without asking anybody. sig carries the present:
// the time, and the children of the task if they are known. Its kind does not matter.
func Summarize(def *workflow.Definition, t task.Task, sig signal.Signal) TaskSummary {
	var out TaskSummary
	if it, ok := InboxItem(def, t); ok {
		out.Wants = &it
	}
	s, ok := def.StateNamed(t.Status)
	if !ok {
		out.Owner, out.Why = aPerson, noState(def, t.Status)
		return out
	}
	x := newExplainer(def, &t, &sig)
	out.Kind, out.Deadline = s.Kind, x.nextTimer()
	out.Owner, out.Why = x.findOwner(s)
	out.Moves, out.Answers = x.listPersonMoves(), x.takesAnswer()
	return out
}

func noState(def *workflow.Definition, status string) string {
	return fmt.Sprintf("workflow %s has no state %q", def.Name, status)
}

// listPersonMoves lists the states that a person may ask for.
func (d *explainer) listPersonMoves() []Move {
	var out []Move
	add := func(e *workflow.Edge) {
		m := Move{To: e.To, As: e.As}
		if d.now.PersonMayAsk(e) && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		add(&d.def.Edges[i])
	}
	if e := d.now.ReopenEdge(); e != nil {
		add(e)
	}
	return out
}
