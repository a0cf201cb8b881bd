package engine

import (
	"slices"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// A Glance is what a row of a table says about a task: the part of an explanation that
// needs nothing but the record.
type Glance struct {
	Kind     workflow.Kind // of its state
	Owner    string        // who must act: a person, the engine, a role, or nobody
	Why      string
	Wants    *Item // what a person is wanted for, nil if nobody is
	Deadline *Timer
	Moves    []Move
}

// A Move is an edge that a person may ask for. Whether its gates are met is found out
// when it is asked for.
type Move struct {
	To string `json:"to"`
	As string `json:"as,omitempty"`
}

// Look is what can be seen of a task at a moment without asking anybody.
func Look(def *workflow.Definition, t task.Task, at time.Time) Glance {
	out := Glance{Owner: aPerson, Why: "its state is not in the workflow"}
	if it, ok := Inbox(def, t); ok {
		out.Wants = &it
	}
	s, ok := def.State(t.Status)
	if !ok {
		return out
	}
	x := &decider{def: def, t: &t, sig: &signal.Signal{At: at}}
	out.Kind, out.Deadline = s.Kind, x.nextTimer()
	out.Owner, out.Why = x.owner(s)
	out.Moves = x.moves()
	return out
}

// moves lists the states that a person may ask for.
func (x *decider) moves() []Move {
	var out []Move
	add := func(e *workflow.Edge) {
		m := Move{To: e.To, As: e.As}
		if e.Answers(workflow.OnRequest, "") && e.Permits(task.Human) && x.guard(e) && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		add(&x.def.Edges[i])
	}
	if e := x.wayBack(); e != nil {
		add(e)
	}
	return out
}
