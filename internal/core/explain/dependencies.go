package explain

import (
	"fmt"

	"orange/internal/core/engine"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// unmet returns the tasks that this one is after and that have not landed.
func (d *explainer) unmet() []task.Predecessor { return task.UnmetOf(d.t.Predecessors) }

// waitsToStart reports whether the task has not started, and starts when others have landed.
func (d *explainer) waitsToStart(s *workflow.State) bool {
	return len(task.UnmetToStart(d.t.Predecessors)) > 0 && d.t.Queued && (s.Kind == workflow.Queued || d.t.AttemptCount() == 0)
}

// waitsForOthers reports whether the task goes on by itself when others have landed.
func (d *explainer) waitsForOthers(s *workflow.State) bool {
	return d.waitsToStart(s) || d.now.WaitsToLand()
}

// waitsForDropped reports whether the task waits for one that ended without landing, so that a person must act. A task that is
// at work waits only when it could be merged.
func (d *explainer) waitsForDropped(s *workflow.State) bool {
	if len(task.DroppedOf(d.t.Predecessors)) == 0 || s.Kind == workflow.Terminal {
		return false
	}
	return s.Kind == workflow.Queued || d.waitsForOthers(s) || s.Kind == workflow.HumanDo && d.now.MergeHelps()
}

// droppedItem fills in the item of a task that waits for one that ended without landing, with the ways out.
func (d *explainer) droppedItem(_ *workflow.State, it *Item) {
	it.Kind, it.Text, it.Since, it.Action = ItemBlocked, d.droppedText(), d.t.UpdatedAt, d.dropAction()
}

func (d *explainer) droppedText() string {
	text := "it " + engine.DescribeUnmet(d.unmet()) + ": remove the dependency, "
	if d.now.PersonMay(workflow.VerbCancel) {
		text += "cancel the task, "
	}
	return text + "or reopen the other one with orange task reopen " + string(task.DroppedOf(d.t.Predecessors)[0].ID)
}

// dropAction returns the action that removes the dependency on a task that ended without landing.
func (d *explainer) dropAction() Action {
	return Action{Verb: VerbDropAfter, Task: d.t.ID, After: task.DroppedOf(d.t.Predecessors)[0].ID}
}

// mergeWaitsText says for which tasks a merge waits, "" for none.
func (d *explainer) mergeWaitsText() string {
	if len(d.unmet()) == 0 || !d.now.MergeHelps() {
		return ""
	}
	return fmt.Sprintf("; its merge %s", engine.DescribeUnmet(d.unmet()))
}

// readyText says that the pull request of the task is green and approved, as a part of a sentence, or "".
func (d *explainer) readyText() string {
	if d.t.PRReady == "" || d.t.PRURL == "" {
		return ""
	}
	return "; its pull request is green and approved: merge " + d.t.PRURL
}
