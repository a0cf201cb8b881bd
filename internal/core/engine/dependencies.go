package engine

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// The fields of an update that change what a task is after. Each holds one id. The journal has the whole list, under
// journal.FieldAfter.
const (
	FieldAddAfter  = "add_after"
	FieldDropAfter = "drop_after"
)

// PredecessorStateOf says what became of a task, for the tasks that are after it. It has landed if its work is in the
// default branch. A task that is over without a merge counts as landed if nothing of it was left to merge: its workflow does
// not merge, or its branch has no commits. One that was cancelled does not count, nor one that is over and whose commits were not
// merged. Whether the task was deleted since makes no difference.
func PredecessorStateOf(def *workflow.Definition, t *task.Task) task.PredecessorState {
	s, ok := def.StateNamed(t.Status)
	switch {
	case t.Work != nil && t.Work.Landed:
		return task.PredecessorLanded
	case ok && s.Kind != workflow.Terminal:
		return task.PredecessorOpen
	case !ok || def.MeansCancelled(t.Status) || def.MergesWork() && t.Work != nil && t.Work.Head != "":
		return task.PredecessorDropped
	}
	return task.PredecessorLanded
}

// unmet returns the tasks that this one is after and that have not landed.
func (d *decider) unmet() []task.Predecessor {
	if d.sig.Predecessors != nil {
		return task.UnmetOf(d.sig.Predecessors)
	}
	return task.UnmetOf(d.t.Predecessors)
}

// unmetToStart returns the tasks that keep this one from starting. One that it is stacked on does not if it has work.
func (d *decider) unmetToStart() []task.Predecessor {
	if d.sig.Predecessors != nil {
		return task.UnmetToStart(d.sig.Predecessors)
	}
	return task.UnmetToStart(d.t.Predecessors)
}

// mayNotStart reports whether other tasks must land before this one may have its first workspace. A task that has started,
// because it left its queue or an agent of it was started, waits only with its merge.
func (d *decider) mayNotStart() bool {
	if len(d.unmetToStart()) == 0 {
		return false
	}
	s, ok := d.def.StateNamed(d.t.Status)
	return d.t.AttemptCount() == 0 || ok && s.Kind == workflow.Queued
}

// mustQueue reports whether a task stays in its queue until other tasks have landed, although it could leave by the edge.
func (d *decider) mustQueue(e *workflow.Edge) bool {
	s, ok := d.def.StateNamed(d.t.Status)
	return ok && s.Kind == workflow.Queued && e.AnswersTo(workflow.OnReady, "") && len(d.unmetToStart()) > 0
}

// waitForPredecessors records that a task starts when other tasks have landed.
func (d *decider) waitForPredecessors(e *workflow.Edge) Verdict {
	text := DescribeUnmet(d.unmetToStart())
	d.addReason(e, RuleAfter, false, text)
	if !d.mayQueue() {
		return d.refuseToStart(fmt.Sprintf("%s -> %s: ", d.fromState(), e.To))
	}
	return d.queueTask(text)
}

// refuseToStart refuses a request that would start an agent before other tasks have landed.
func (d *decider) refuseToStart(prefix string) Verdict {
	if d.t.Seq == 0 {
		return d.refuse("%safter: it %s, and a task waits only in a queue: create it in one, or without --after", prefix, DescribeUnmet(d.unmetToStart()))
	}
	return d.refuse("%safter: it %s: %s", prefix, DescribeUnmet(d.unmetToStart()), waysOut(d.t.ID, d.unmetToStart()))
}

// refuseMerge refuses a merge before other tasks have landed.
func (d *decider) refuseMerge() Verdict {
	return d.refuse("after: the task %s: %s", DescribeUnmet(d.unmet()), waysOut(d.t.ID, d.unmet()))
}

// waysOut says what a person can do about a task that waits for others.
func waysOut(id task.ID, unmet []task.Predecessor) string {
	out := fmt.Sprintf("remove a dependency with orange task update %s --not-after %s", id, unmet[0].ID)
	if dropped := task.DroppedOf(unmet); len(dropped) > 0 {
		return fmt.Sprintf("remove the dependency with orange task update %s --not-after %s, or reopen %s", id, dropped[0].ID, predecessorName(dropped[0]))
	}
	return "wait for that, or " + out
}

// DescribeUnmet says what a task waits for, as the rest of a sentence about it.
func DescribeUnmet(unmet []task.Predecessor) string {
	var open, dropped, stacked []string
	for _, p := range unmet {
		switch {
		case p.State == task.PredecessorDropped:
			dropped = append(dropped, predecessorName(p))
		case p.Stack && p.Head == "":
			stacked = append(stacked, predecessorName(p))
		default:
			open = append(open, predecessorName(p))
		}
	}
	var parts []string
	if len(stacked) > 0 {
		parts = append(parts, "waits for "+strings.Join(stacked, ", ")+" to hand over work")
	}
	if len(open) > 0 {
		parts = append(parts, "waits for "+strings.Join(open, ", ")+" to land")
	}
	if len(dropped) > 0 {
		parts = append(parts, "is after "+strings.Join(dropped, ", ")+", which ended without landing")
	}
	return strings.Join(parts, " and ")
}

// predecessorName names a task for people: its branch, and the beginning of its id.
func predecessorName(p task.Predecessor) string {
	id := humanize.ShortID(string(p.ID))
	if p.Branch == "" {
		return "task " + id
	}
	return p.Branch + " (" + id + ")"
}

// decideOnPredecessors records that a task that this one is after landed, was cancelled or was reopened. A task in its queue
// starts when its turn comes, which the runtime knows; a merge that waits is carried out, because NextEffect returns it again.
func (d *decider) decideOnPredecessors() Verdict {
	if now := d.sig.Predecessors; now != nil && !slices.Equal(now, d.t.Predecessors) {
		e := d.newEntry(journal.PredecessorMoved)
		e.Reason, e.Predecessors = describeMoved(d.t.Predecessors, now), now
		return d.finishWith(e, Record)
	}
	return Stay
}

// describeMoved says what became of predecessors since they were last looked at.
func describeMoved(was, now []task.Predecessor) string {
	words := map[task.PredecessorState]string{
		task.PredecessorOpen: " is open", task.PredecessorLanded: " landed", task.PredecessorDropped: " ended without landing",
	}
	var parts []string
	for _, p := range now {
		at := slices.IndexFunc(was, func(old task.Predecessor) bool { return old.ID == p.ID })
		if at >= 0 && was[at].State == p.State && p.Head != "" {
			parts = append(parts, predecessorName(p)+" has work")
			continue
		}
		if at < 0 || was[at].State != p.State {
			parts = append(parts, predecessorName(p)+words[p.State])
		}
	}
	return strings.Join(parts, ", ")
}

// recordPredecessors notes on the first entry of a decision what became of the tasks that this one is after, if the record
// has something else. So the decision can be made again from the journal.
func (d *decider) recordPredecessors(entries []journal.Entry) {
	if now := d.sig.Predecessors; now != nil && len(entries) > 0 && !slices.Equal(now, d.before.Predecessors) {
		entries[0].Predecessors = now
	}
}

// waitsToLand reports whether an effect would merge a task before those that it is after.
func waitsToLand(t *task.Task, p *task.Effect) bool {
	return p.Do == workflow.MergeBranch && len(t.Predecessors) > 0 && len(task.UnmetOf(t.Predecessors)) > 0
}

// WaitsToLand reports whether the next blocking effect of a task is a merge that waits for other tasks.
func (s *Situation) WaitsToLand() bool {
	p := s.d.nextBlocking()
	return p != nil && !p.GivenUp && waitsToLand(s.d.t, p)
}

// absoluteFields returns the fields of an update with the whole list of the tasks that the task is after.
func (d *decider) absoluteFields() ([]signal.Field, string) {
	if !ChangesAfter(d.sig) {
		return d.sig.Fields, ""
	}
	after, why := AfterUpdate(d.t.After, d.sig.Fields)
	out := slices.DeleteFunc(slices.Clone(d.sig.Fields), changesAfter)
	return append(out, signal.Field{Name: journal.FieldAfter, To: task.JoinIDs(after)}), why
}

// AfterUpdate returns the tasks that a task is after when an update has changed its fields, or why the update cannot be made.
func AfterUpdate(after []task.ID, fields []signal.Field) (out []task.ID, why string) {
	out = slices.Clone(after)
	for _, f := range fields {
		if !changesAfter(f) {
			continue
		}
		id := task.ID(f.To)
		switch at := slices.Index(out, id); {
		case f.Name == journal.FieldAfter:
			out = task.SplitIDs(f.To)
		case f.Name == FieldDropAfter && at < 0:
			return out, fmt.Sprintf("the task is not after %s", humanize.ShortID(f.To))
		case f.Name == FieldDropAfter:
			out = slices.Delete(out, at, at+1)
		case at < 0:
			out = append(out, id)
		}
	}
	return out, ""
}

// ChangesAfter reports whether a signal is an update of what a task is after.
func ChangesAfter(sig *signal.Signal) bool {
	return sig.Kind == signal.Update && slices.ContainsFunc(sig.Fields, changesAfter)
}

// changesAfter reports whether a field of an update says what the task is after.
func changesAfter(f signal.Field) bool {
	return f.Name == FieldAddAfter || f.Name == FieldDropAfter || f.Name == journal.FieldAfter
}

// badAfter returns what is wrong with the tasks that a task is to be after, or "".
func (d *decider) badAfter(id task.ID, after []task.ID) string {
	isMerge := func(e task.Effect) bool { return e.Do == workflow.MergeBranch && !e.GivenUp && !waitsToLand(d.t, &e) }
	grows := slices.ContainsFunc(after, func(p task.ID) bool { return !slices.Contains(d.t.After, p) })
	switch {
	case slices.Contains(after, id):
		return "a task cannot be after itself"
	case slices.ContainsFunc(after, func(p task.ID) bool { return !p.IsValid() }):
		return fmt.Sprintf("%q is not a task id", after[slices.IndexFunc(after, func(p task.ID) bool { return !p.IsValid() })])
	case len(after) > task.MaxPredecessors:
		return fmt.Sprintf("a task is after at most %d others, and these are %d", task.MaxPredecessors, len(after))
	case grows && slices.ContainsFunc(d.t.Pending, isMerge):
		return "the task is being merged: it cannot wait for another any more"
	}
	return ""
}
