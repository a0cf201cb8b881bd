package engine

import (
	"orange/internal/core/journal"
	"orange/internal/core/workflow"
)

// verbCancel is the verb by which a task is given up.
const verbCancel = "cancel"

// closedPR is a pull request that was closed without a merge. Who waits for that goes
// where it leads. Otherwise the work is not wanted: the task is cancelled if nothing would
// be lost by it, and else a person looks.
func (x *decider) closedPR() Verdict {
	if x.byAgent() {
		return x.refuse("an agent does not say what became of a pull request: the forge does")
	}
	if v := x.event(workflow.OnTracker, x.sig.Word); v != Stay {
		return v
	}
	lost := "nobody could tell what would be lost"
	for _, e := range x.sig.Evidence {
		if e.Name == workflow.NothingLost {
			lost = e.Detail
			if e.Holds {
				lost = ""
			}
		}
	}
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		e := &x.def.Edges[i]
		if lost == "" && e.As == verbCancel && x.permits(e, x.sig.Actor) && x.guard(e) && x.gates(e) {
			entry := x.entry(journal.StatusChanged)
			entry.Reason = "its pull request was closed without a merge"
			return x.takeWith(entry, e, Advance)
		}
	}
	if s, ok := x.def.State(x.t.Status); !ok || s.Kind == workflow.Terminal {
		return Stay
	}
	e := x.entry(journal.PRClosed)
	e.Reason = "its pull request was closed without a merge"
	e.Attention = e.Reason + ": reopen it, or cancel the task"
	if lost != "" {
		e.Attention += "; it is not cancelled by itself, because " + clip(lost)
	}
	return x.last(e, Record)
}

// byAgent says that a role of the workflow brings the news.
func (x *decider) byAgent() bool {
	_, role := x.def.Role(string(x.sig.Actor))
	return role
}
