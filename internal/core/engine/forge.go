package engine

import (
	"orange/internal/core/journal"
	"orange/internal/core/workflow"
)

// closedPR handles a pull request that was closed without a merge. If an edge waits for that, it is taken. Otherwise
// the work is not wanted: the task is cancelled if no work would be lost, else a person must decide.
func (d *decider) closedPR() Verdict {
	if d.byAgent() {
		return d.refuse("an agent may not report the end of a pull request: the forge does")
	}
	if v := d.takeEventEdge(workflow.OnTracker, d.sig.Word); v != Stay {
		return v
	}
	lost := "nobody could tell what would be lost"
	for _, e := range d.sig.Evidence {
		if e.Name == workflow.NothingLost {
			lost = e.Detail
			if e.Holds {
				lost = ""
			}
		}
	}
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		e := &d.def.Edges[i]
		if lost == "" && e.As == workflow.VerbCancel && d.checkActor(e, d.sig.Actor) && d.checkGuard(e) && d.checkGates(e) {
			entry := d.newEntry(journal.StatusChanged)
			entry.Reason = "its pull request was closed without a merge"
			return d.takeEdgeWith(entry, e, Advance)
		}
	}
	if s, ok := d.def.StateNamed(d.t.Status); !ok || s.Kind == workflow.Terminal {
		return Stay
	}
	e := d.newEntry(journal.PRClosed)
	e.Reason = "its pull request was closed without a merge"
	e.Attention = e.Reason + ": reopen it, or cancel the task"
	if lost != "" {
		e.Attention += "; it is not cancelled by itself, because " + clipWords(lost)
	}
	return d.finishWith(e, Record)
}

// byAgent reports whether the signal comes from a role of the workflow.
func (d *decider) byAgent() bool {
	_, role := d.def.RoleNamed(string(d.sig.Actor))
	return role
}
