package explain

import (
	"fmt"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// An Unblock is the least that gets a task going: an edit, an action, or patience.
type Unblock struct {
	Edit   string    `json:"edit,omitempty"`  // what must be written or done before the action
	Action Action    `json:"action,omitzero"` // what a person does; none: wait
	Run    string    `json:"run,omitempty"`   // Action as a command line, which package narrate writes
	Opens  string    `json:"opens"`           // what follows; without an action, what is waited for
	Until  time.Time `json:"until,omitzero"`  // the longest wait
}

// cheapestUnblock finds the least that gets the task going.
func (d *explainer) cheapestUnblock(s *workflow.State) Unblock {
	t := d.t
	pending, _ := d.now.FirstPending()
	switch {
	case t.Paused:
		return d.unblockBy(VerbResume, "effects and timers of the task go on")
	case t.Attention != "":
		var it Item
		d.fillNeededAction(s, &it)
		opens := map[string]string{
			engine.RequestChanges: "the branch is rebased, and the work is reviewed again",
			engine.VerbMerge:      "the branch is merged, once what is named is mended",
		}[it.Verb]
		if opens == "" {
			return d.unblockBy(VerbResume, "what was given up is tried again, and the deadline counts again")
		}
		return Unblock{Action: it.Action, Opens: opens}
	case t.Asked != nil:
		return Unblock{Action: d.moveAction(t.Asked.To), Opens: t.Status + " -> " + t.Asked.To}
	case d.keptFrom() != nil:
		return d.unblockBy(VerbAttach, "the "+d.keptFrom().Role+" gets the message that waits, once its prompt is empty")
	case pending != nil:
		return Unblock{Opens: pending.Do + " to be done", Until: pending.NotBefore}
	case s.Kind == workflow.Terminal:
		return Unblock{Opens: "nothing: the task is over"}
	case d.asksForWords():
		return Unblock{Action: d.taskAction(engine.VerbAnswer), Opens: "the " + s.Role + " goes on with your words"}
	case t.WorkFailed != "":
		var it Item
		d.heldItem(s, &it)
		return Unblock{Action: it.Action, Opens: "the work is done again"}
	case s.Kind == workflow.HumanDo && t.CardSnapshot != nil && d.def.WatchesBoard(s.Name) && !t.Queued:
		return Unblock{Action: d.boardAction(), Opens: "what the card then asks for"}
	case s.Kind == workflow.Waiting && d.def.WaitsForChildren(s.Name) && !t.Queued:
		return Unblock{Opens: "its children"}
	case s.Kind == workflow.Halt && (s.Role == "" || saidHalt(t)):
		return Unblock{Action: d.taskAction(engine.VerbAnswer), Opens: "the work goes on where it stopped"}
	case t.Queued && s.Kind != workflow.Queued && t.Workspace != "":
		return Unblock{Opens: "another task of project " + t.Project + " that is at work there"}
	case t.Queued:
		return Unblock{Opens: fmt.Sprintf("a workspace that another task gives back, or a larger pool: orange project update %s --pool-size N", t.Project)}
	case s.Kind == workflow.Agent:
		return d.cheapestWithAgent(s)
	case s.Kind == workflow.HumanDo && d.now.MergeHelps() && !d.now.IsMerged() && !d.handedNothing():
		return d.unblockBy(engine.VerbMerge, "the branch is merged, and the task is done")
	}
	return d.cheapestWay(s)
}

// cheapestWithAgent waits for an agent that lives or is about to. Where there is none
// a person may do its part; the deadline repairs it too.
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
		return d.unblockBy(VerbAttach, "the "+s.Role+" gets its answer at its terminal and goes on")
	case live && a.Condition.Name == task.NotStarted:
		return d.unblockBy(VerbAttach, "the "+s.Role+" gets what its screen asks for and starts")
	case live && a.Condition.Name == task.TurnFailed:
		return d.unblockBy(VerbAttach, "the "+s.Role+" is told to go on, once what failed is mended")
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

// What the ways on cost: an action that finishes the state costs nothing. Where a
// person's decision is what the state is for, leaving it otherwise costs most.
const (
	costDetour  = 1
	costEdit    = 2
	costRetreat = 3
	costTooMuch = 6
)

// cheapestWay weighs the edges a person may ask for.
func (d *explainer) cheapestWay(s *workflow.State) Unblock {
	best, least := Unblock{Opens: "nothing that a person could ask for here"}, costTooMuch
	for _, e := range d.waysOn() {
		edit, possible := d.now.MissingForPerson(e)
		cost := 0
		switch {
		case e.As == engine.Complete:
		case s.Kind == workflow.HumanDo:
			cost += costRetreat
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

// waysOn lists the edges that finish the state, in the order in which the verb tries
// them, then those that lead neither to an end nor into trouble.
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
