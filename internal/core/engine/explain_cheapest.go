package engine

import (
	"fmt"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// An Unblock is the least that gets a task going: an edit, a command, or patience.
type Unblock struct {
	Edit  string    `json:"edit,omitempty"` // what must be written or done before the command
	Run   string    `json:"run,omitempty"`  // the command; empty: wait
	Opens string    `json:"opens"`          // what follows; without a command, what is waited for
	Until time.Time `json:"until,omitzero"` // the longest wait
}

// Complete is the verb that finishes the state a task is in.
const Complete = "complete"

// cheapest finds the least that gets the task going.
func (x *decider) cheapest(s *workflow.State) Unblock {
	t := x.t
	switch {
	case t.Paused:
		return x.command("resume", "effects and timers of the task go on")
	case t.Attention != "":
		var it Item
		x.wants(s, &it)
		opens := map[string]string{
			RequestChanges: "the branch is rebased, and the work is reviewed again",
			VerbMerge:      "the branch is merged, once what is named is mended",
		}[it.Verb]
		if opens == "" {
			return x.command("resume", "what was given up is tried again, and the deadline counts again")
		}
		return Unblock{Run: it.Do, Opens: opens}
	case t.Asked != nil:
		return x.command("update", t.Status+" -> "+t.Asked.To, "--status", t.Asked.To)
	case x.keptFrom() != nil:
		return x.command("attach", "the "+x.keptFrom().Role+" gets the message that waits, once its prompt is empty")
	case x.inLine() != nil:
		return Unblock{Opens: x.inLine().Do + " to be done", Until: x.inLine().NotBefore}
	case s.Kind == workflow.Terminal:
		return Unblock{Opens: "nothing: the task is over"}
	case x.asksForWords():
		return Unblock{Run: x.answerCommand(), Opens: "the " + s.Role + " goes on with your words"}
	case t.Held != "":
		var it Item
		x.heldItem(s, &it)
		return Unblock{Run: it.Do, Opens: "the work is done again"}
	case s.Kind == workflow.HumanDo && t.Face != nil && x.def.WatchesBoard(s.Name) && !t.Queued:
		return Unblock{Run: x.boardCommand(), Opens: "what the card then asks for"}
	case s.Kind == workflow.Waiting && x.def.WaitsForChildren(s.Name) && !t.Queued:
		return Unblock{Opens: "its children"}
	case s.Kind == workflow.Halt && (s.Role == "" || saidHalt(t)):
		return Unblock{Run: x.answerCommand(), Opens: "the work goes on where it stopped"}
	case t.Queued && s.Kind != workflow.Queued && t.Workspace != "":
		return Unblock{Opens: "another task of project " + t.Project + " that is at work there"}
	case t.Queued:
		return Unblock{Opens: fmt.Sprintf("a workspace that another task gives back, or a larger pool: orange project update %s --pool-size N", t.Project)}
	case s.Kind == workflow.Agent:
		return x.cheapestWithAgent(s)
	case s.Kind == workflow.HumanDo && x.mergeHelps() && !x.merged() && !x.handedNothing():
		return x.command("merge", "the branch is merged, and the task is done")
	}
	return x.cheapestWay(s)
}

// cheapestWithAgent waits for an agent that lives or is about to. Where there is none
// a person may do its part; the deadline repairs it too.
func (x *decider) cheapestWithAgent(s *workflow.State) Unblock {
	var until time.Time
	if tm := x.nextTimer(); tm != nil {
		until = tm.At
	}
	switch a, live := x.t.Live(s.Role); {
	case live && x.absent(a) && a.Running:
		return Unblock{Opens: fmt.Sprintf("the end of attempt %d to be recorded", a.Number)}
	case live && x.absent(a):
		return Unblock{Opens: "the " + s.Role + " to be started"}
	case live && (a.Condition.Name == task.WaitingPermission || a.Condition.Name == task.WaitingInput):
		return x.command("attach", "the "+s.Role+" gets its answer at its terminal and goes on")
	case live && a.Condition.Name == task.NotStarted:
		return x.command("attach", "the "+s.Role+" gets what its screen asks for and starts")
	case live && a.Condition.Name == task.TurnFailed:
		return x.command("attach", "the "+s.Role+" is told to go on, once what failed is mended")
	case live && a.Condition.Name == task.Idle:
		return Unblock{Opens: "the " + s.Role + ", which is idle", Until: until}
	case live:
		return Unblock{Opens: "the " + s.Role + ", which is at work", Until: until}
	case !x.t.RespawnAt.IsZero():
		return Unblock{Opens: "the " + s.Role + " to be started again", Until: x.t.RespawnAt}
	}
	way := x.cheapestWay(s)
	if way.Run == "" && !until.IsZero() {
		way.Opens = "the deadline, which starts the " + s.Role + " again"
	}
	way.Until = until
	return way
}

// What the ways on cost: a command that finishes the state costs nothing. Where a
// person's decision is what the state is for, leaving it otherwise costs most.
const (
	costDetour  = 1
	costEdit    = 2
	costRetreat = 3
	costTooMuch = 6
)

// cheapestWay weighs the edges a person may ask for.
func (x *decider) cheapestWay(s *workflow.State) Unblock {
	best, least := Unblock{Opens: "nothing that a person could ask for here"}, costTooMuch
	for _, e := range x.waysOn() {
		edit, possible := x.missing(e)
		cost := 0
		switch {
		case e.As == Complete:
		case s.Kind == workflow.HumanDo:
			cost += costRetreat
		default:
			cost += costDetour
		}
		if edit != "" {
			cost += costEdit
		}
		if possible && cost < least {
			best, least = x.wayCommand(e), cost
			best.Edit = edit
		}
	}
	return best
}

func (x *decider) wayCommand(e *workflow.Edge) Unblock {
	leads := x.t.Status + " -> " + e.To
	if s, ok := x.def.State(x.t.Status); ok && s.Kind == workflow.Waiting && e.As == Complete && !x.def.WaitsForChildren(s.Name) {
		return Unblock{Run: x.answerCommand(), Opens: leads}
	}
	if e.As == Complete {
		return x.command(Complete, leads)
	}
	return x.command("update", leads, "--status", e.To)
}

// waysOn lists the edges that finish the state, in the order in which the verb tries
// them, then those that lead neither to an end nor into trouble.
func (x *decider) waysOn() []*workflow.Edge {
	sig := *x.sig
	sig.To, sig.Verb = "", Complete
	y := &decider{def: x.def, t: x.t, sig: &sig}
	out := y.asked()
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		e := &x.def.Edges[i]
		to, _ := x.def.State(e.To)
		back := to.Kind == workflow.Terminal || to.Kind == workflow.Halt || to.Kind == workflow.Waiting
		if e.Answers(workflow.OnRequest, "") && e.As != Complete && !back {
			out = append(out, e)
		}
	}
	return out
}

// missing says what a person must write or do before the edge opens, "" for nothing.
// A guard that does not hold is nothing a person could mend.
func (x *decider) missing(e *workflow.Edge) (edit string, possible bool) {
	x.reasons = nil
	defer func() { x.reasons = nil }()
	if !e.Permits(task.Human) || !x.guardOfPerson(e) {
		return "", false
	}
	if x.gates(e) {
		return "", true
	}
	return nearest(x.reasons).Text, true
}

// command is an action that is one command about the task.
func (x *decider) command(verb, opens string, args ...string) Unblock {
	run := "orange task " + verb + " " + string(x.t.ID)
	if verb == "resume" {
		run = "orange resume " + string(x.t.ID)
	}
	for _, a := range args {
		run += " " + a
	}
	return Unblock{Run: run, Opens: opens}
}

// merged says whether the branch is known to be merged.
func (x *decider) merged() bool {
	ok, _ := evidence(x.sig.Evidence, workflow.Merged, workflow.Merged)
	return ok
}
