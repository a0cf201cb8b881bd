package explain

import (
	"fmt"
	"slices"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// APerson is the owner of a task that cannot continue until a person acts.
const APerson = aPerson

// A TaskSummary is what a row of a table shows about a task: the part of an explanation that needs
// only the record.
type TaskSummary struct {
	Kind     workflow.Kind // of its state
	Owner    string        // who must act: a person, the engine, a role, or nobody
	Why      string
	Wants    *Item // what the task needs from a person, nil if nothing
	Deadline *engine.Timer
	Moves    []Move
	Answers  bool // an answer from a person would be accepted
}

// A Move is an edge that a person may ask for. Its gates are checked only when the person asks.
type Move struct {
	To string `json:"to"`
	As string `json:"as,omitempty"`
}

// Summarize returns what the record alone shows about a task. sig carries the present: the time, and
// the task's children if they are known. Its kind does not matter.
func Summarize(def *workflow.Definition, t task.Task, sig signal.Signal) TaskSummary {
	def = def.ForTask(t.Checks)
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

// listPersonMoves lists the moves that a person may ask for.
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
