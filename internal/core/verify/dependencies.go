package verify

import (
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// unmetPredecessor is a task that the task is after and that has not landed.
var unmetPredecessor = []task.Predecessor{{ID: "OTHER0000000000000000", Branch: "other", State: task.PredecessorOpen}}

// dependentActions adds each action that can start the task once more, for a task that must wait for another. Where the answer
// is that the other one has landed, the decision is the one about a task without dependencies. A merge that waits is an effect that
// is not carried out yet, which the search tries for every effect. So whether the task is after another is chosen where
// it is asked, and is not part of a world.
func (m *model) dependentActions(w *world, first int, out []action) []action {
	s, ok := m.def.StateNamed(w.t.Status)
	if m.alone || !ok || s.Kind == workflow.Terminal || w.t.Workspace != "" {
		return out
	}
	for _, a := range out[first:] {
		if a.event == deliverSignal && (a.kind == signal.Request || a.kind == signal.Ready || a.kind == signal.Tracker) {
			a.waits, a.human = true, true // how long it waits is up to others: it is no loop of the workflow
			out = append(out, a)
		}
	}
	return out
}

// isWaiting reports whether a step is one of a task that waits for another. Such steps and worlds are counted on their own: in
// the search the pool always has a workspace, so a task waits in its queue for nothing else.
func isWaiting(w *world, a *action) bool { return a.waits || w.t.Queued }
