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

// The verbs by which a person requests an action that does not move the task.
const (
	VerbMerge    = "merge"
	VerbPush     = "push"
	VerbCreatePR = "create-pr"

	VerbApproveChanges = "approve-changes" // of paths that need a person
)

// requestPersonAction records an action that a person requested. Its consequences, such as the end of a task whose
// branch is merged, are decided when the action is done.
func (d *decider) requestPersonAction() Verdict {
	do := map[string]string{VerbMerge: workflow.MergeBranch, VerbPush: workflow.Push, VerbCreatePR: workflow.CreatePR}[d.sig.Verb]
	s, ok := d.def.StateNamed(d.t.Status)
	switch {
	case d.sig.Actor != task.Human && d.sig.Actor != "":
		return d.refuse("only a person may ask for that: %s", d.sig.Verb)
	case !ok || s.Kind == workflow.Terminal || s.Kind == workflow.Queued:
		return d.refuse("the task is %s: there is nothing to %s", d.t.Status, d.sig.Verb)
	case do == workflow.MergeBranch && !d.mergeHelps():
		return d.refuse("the task is %s, and a merge is for one that waits for it: see orange task explain %s", d.t.Status, d.t.ID)
	case do == workflow.MergeBranch && d.emptyBranchEvidence() != nil && !d.emptyBranchEvidence().Holds:
		return d.refuse("%s", d.emptyBranchEvidence().Detail)
	case do == workflow.MergeBranch && d.emptyBranchEvidence() != nil:
		return d.refuse("%s; finish the task with orange task complete %s, or send it back with orange task request-changes %s", d.emptyBranchEvidence().Detail, d.t.ID, d.t.ID)
	case do == workflow.MergeBranch && d.protectedPaths() != nil && !d.protectedPaths().Holds:
		return d.refuse("%s", d.protectedPaths().Detail)
	case do == workflow.MergeBranch && len(d.unmet()) > 0:
		return d.refuseMerge()
	case do == workflow.MergeBranch && d.t.CheckRun != nil && len(d.t.Checks) > 0:
		return d.refuse("check %s is in progress: merge when it has ended", d.t.CheckRun.Name)
	case slices.ContainsFunc(d.t.Pending, func(e task.Effect) bool { return e.Do == do && !e.GivenUp }):
		return d.refuse("%s is already in progress", d.sig.Verb)
	}
	e := d.newEntry(journal.EffectAsked)
	e.Reason = "a person asked for it"
	for i := range d.t.Pending { // a delivery that was given up must not block the new one
		p := &d.t.Pending[i]
		if info, _ := workflow.EffectNamed(p.Do); p.GivenUp && (info.Pushes || info.OpensPR || p.Do == workflow.MergeBranch) {
			e.Dropped = append(e.Dropped, p.ID)
		}
	}
	e.Effects = []task.Effect{{ID: task.EffectID(d.t.ID, e.Seq, 0), Do: do, By: task.ByPerson, Arg: d.sig.Arg}}
	if do == workflow.MergeBranch {
		e.Effects[0].Head = d.sig.Confirmed
	}
	return d.finishWith(e, Record)
}

// emptyBranchEvidence returns the evidence that the branch has no commits of its own, or nil if there is none.
func (d *decider) emptyBranchEvidence() *signal.Evidence {
	return d.evidenceWhere(func(e signal.Evidence) bool { return e.Name == workflow.Merged && e.Empty })
}

// leftBehind says which commits of the handover the branch does not have any more, "" if it has all of them.
func (d *decider) leftBehind() string {
	e := d.evidenceWhere(func(e signal.Evidence) bool { return e.Name == workflow.Merged && len(e.LeftBehind) > 0 })
	if e == nil {
		return ""
	}
	short := make([]string, len(e.LeftBehind))
	for i, commit := range e.LeftBehind {
		short[i] = fmt.Sprintf("%.12s", commit)
	}
	return fmt.Sprintf("branch %s no longer has commits of its handover: %s", d.t.Branch, humanize.FirstFew(short, 5))
}

// protectedPaths returns the evidence about paths that need a person, or nil if there is none.
func (d *decider) protectedPaths() *signal.Evidence {
	return d.evidenceWhere(func(e signal.Evidence) bool { return e.Name == workflow.Unchanged })
}

// evidenceWhere returns the first evidence of a kind, or nil.
func (d *decider) evidenceWhere(wanted func(signal.Evidence) bool) *signal.Evidence {
	at := slices.IndexFunc(d.sig.Evidence, wanted)
	if at < 0 {
		return nil
	}
	return &d.sig.Evidence[at]
}

// approveChanges records that a person approves what the branch changes of the paths that need a person, as it is now.
func (d *decider) approveChanges() Verdict {
	s, ok := d.def.StateNamed(d.t.Status)
	found := d.protectedPaths()
	switch {
	case d.sig.Actor != task.Human && d.sig.Actor != "":
		return d.refuse("only a person may approve changes of paths that need a person")
	case !ok || s.Kind == workflow.Terminal:
		return d.refuse("the task is over: it is %s", d.t.Status)
	case len(d.t.Unchanged) == 0:
		return d.refuse("the task may change every path: orange project update %s --unchanged GLOB names paths that need a person, for tasks that are created after that", d.t.Project)
	case found == nil:
		return d.refuse("cannot tell what branch %s changes: try again", d.t.Branch)
	case found.Holds:
		return d.refuse("nothing needs an approval: %s", found.Detail)
	case len(found.Changes) == 0: // it could not be read
		return d.refuse("%s", found.Detail)
	}
	e := d.newEntry(journal.ChangesApproved)
	e.Approved = found.Changes
	e.Reason = "a person approved changes of " + strings.Join(task.PathsOf(found.Changes), ", ")
	return d.finishWith(e, Record)
}

// mergeHelps reports whether an edge out of the state waits for the branch to be merged.
func (d *decider) mergeHelps() bool {
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		for _, g := range d.def.EdgeGates(&d.def.Edges[i]) {
			if d.def.Gates[g].Evidence == workflow.Merged {
				return true
			}
		}
	}
	return false
}

// MayMerge reports whether a person can merge while the task is in its state, by requesting a merge or by a move that
// merges.
func MayMerge(def *workflow.Definition, t *task.Task) bool {
	d := &decider{def: def, t: t}
	return d.mergeHelps() || slices.ContainsFunc(def.EdgesFrom(t.Status), func(i int) bool {
		return def.MergesAtOnce(&def.Edges[i])
	})
}
