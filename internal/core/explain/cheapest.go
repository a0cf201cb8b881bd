package explain

import (
	"fmt"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// An Unblock is the least that gets a task going: an edit, an action, or waiting.
type Unblock struct {
	Edit   string    `json:"edit,omitempty"`  // what a person must write or do before the action
	Action Action    `json:"action,omitzero"` // what a person does; none: wait
	Run    string    `json:"run,omitempty"`   // Action as a command line, which package narrate writes
	Opens  string    `json:"opens"`           // what follows; without an action, what the task waits for
	Until  time.Time `json:"until,omitzero"`  // the end of the wait at the latest
}

// cheapestWithAgent returns how to unblock a state that belongs to an agent: by waiting, if an agent
// runs or is about to start, or by helping it at its terminal. If there is no agent, a person may do
// its part, and the deadline starts an agent again.
func (d *explainer) cheapestWithAgent(s *workflow.State) Unblock {
	var until time.Time
	if tm := d.nextTimer(); tm != nil {
		until = tm.At
	}
	switch a, live := d.t.LiveAttempt(s.Role); {
	case live && d.isAbsent(a) && a.Running:
		return Unblock{Opens: fmt.Sprintf("the end of attempt %d to be recorded", a.Number)}
	case live && d.isAbsent(a):
		return Unblock{Opens: "the " + s.Role + " to be started"}
	case live && (a.Condition.Name == task.WaitingPermission || a.Condition.Name == task.WaitingInput):
		return d.unblockBy(VerbAttach, "the "+s.Role+" gets its answer at its terminal and continues")
	case live && a.Condition.Name == task.NotStarted:
		return d.unblockBy(VerbAttach, "the "+s.Role+" gets what its screen asks for and starts")
	case live && a.Condition.Name == task.TurnFailed:
		return d.unblockBy(VerbAttach, "the "+s.Role+" continues, once the cause is fixed")
	case live && a.Condition.Name == task.Idle:
		return Unblock{Opens: "the " + s.Role + ", which is idle", Until: until}
	case live:
		return Unblock{Opens: "the " + s.Role + ", which is at work", Until: until}
	case !d.t.RespawnAt.IsZero():
		return Unblock{Opens: "the " + s.Role + " to be started again", Until: d.t.RespawnAt}
	}
	way := d.cheapestWay(s)
	if way.Action.Verb == "" && !until.IsZero() {
		way.Opens = "the deadline, which starts the " + s.Role + " again"
	}
	way.Until = until
	return way
}

// The costs of leaving a state. An action that completes the state costs nothing. If the state exists
// for a person's decision, any other action costs most.
const (
	costDetour  = 1
	costEdit    = 2
	costBack    = 3
	costTooMuch = 6
)

// cheapestWay returns the cheapest edge that a person may ask for.
func (d *explainer) cheapestWay(s *workflow.State) Unblock {
	best, least := Unblock{Opens: "nothing: no request of a person opens an edge here"}, costTooMuch
	for _, e := range d.waysOn() {
		edit, possible := d.now.MissingForPerson(e)
		cost := 0
		switch {
		case e.As == engine.Complete:
		case s.Kind == workflow.HumanDo:
			cost += costBack
		default:
			cost += costDetour
		}
		if edit != "" {
			cost += costEdit
		}
		if possible && cost < least {
			best, least = d.wayAction(e), cost
			best.Edit = edit
		}
	}
	return best
}

func (d *explainer) wayAction(e *workflow.Edge) Unblock {
	leads := d.t.Status + " -> " + e.To
	if s, ok := d.def.StateNamed(d.t.Status); ok && s.Kind == workflow.Waiting && e.As == engine.Complete && !d.def.WaitsForChildren(s.Name) {
		return Unblock{Action: d.taskAction(engine.VerbAnswer), Opens: leads}
	}
	if e.As == engine.Complete {
		return d.unblockBy(engine.Complete, leads)
	}
	return Unblock{Action: d.moveAction(e.To), Opens: leads}
}

// waysOn lists the edges that complete the state, in the order in which the verb tries them, then
// those that lead neither to a terminal state nor to a halt or a waiting state.
func (d *explainer) waysOn() []*workflow.Edge {
	out := d.now.EdgesOfVerb(engine.Complete)
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		e := &d.def.Edges[i]
		to, _ := d.def.StateNamed(e.To)
		back := to.Kind == workflow.Terminal || to.Kind == workflow.Halt || to.Kind == workflow.Waiting
		if e.AnswersTo(workflow.OnRequest, "") && e.As != engine.Complete && !back {
			out = append(out, e)
		}
	}
	return out
}
