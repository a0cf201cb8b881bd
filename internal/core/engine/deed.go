package engine

import (
	"slices"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// The verbs by which a person wants something done that moves no task by itself.
const (
	VerbMerge    = "merge"
	VerbPush     = "push"
	VerbCreatePR = "create-pr"
)

// deed writes down what a person wants done. What follows from it, such as the end of
// a task whose branch is merged, is decided when it is done.
func (x *decider) deed() Verdict {
	do := map[string]string{VerbMerge: workflow.MergeBranch, VerbPush: workflow.Push, VerbCreatePR: workflow.CreatePR}[x.sig.Verb]
	s, ok := x.def.State(x.t.Status)
	switch {
	case x.sig.Actor != task.Human && x.sig.Actor != "":
		return x.refuse("only a person may ask for that: %s", x.sig.Verb)
	case !ok || s.Kind == workflow.Terminal || s.Kind == workflow.Queued:
		return x.refuse("the task is %s: there is nothing to %s", x.t.Status, x.sig.Verb)
	case do == workflow.MergeBranch && !x.mergeHelps():
		return x.refuse("the task is %s, and a merge is for one that waits for it: see orange task explain %s", x.t.Status, x.t.ID)
	case do == workflow.MergeBranch && x.empty() != nil && !x.empty().Holds:
		return x.refuse("%s", x.empty().Detail)
	case do == workflow.MergeBranch && x.empty() != nil:
		return x.refuse("branch %s has no commits: nothing was merged; finish the task with orange task complete %s, or send it back with orange task request-changes %s", x.t.Branch, x.t.ID, x.t.ID)
	case slices.ContainsFunc(x.t.Pending, func(e task.Effect) bool { return e.Do == do && !e.GivenUp }):
		return x.refuse("%s is under way already", x.sig.Verb)
	}
	e := x.entry(journal.EffectAsked)
	e.Reason = "a person asked for it"
	for i := range x.t.Pending { // a delivery that was given up must not hold up the new one
		p := &x.t.Pending[i]
		if info, _ := workflow.EffectNamed(p.Do); p.GivenUp && (info.Pushes || info.OpensPR || p.Do == workflow.MergeBranch) {
			e.Dropped = append(e.Dropped, p.ID)
		}
	}
	e.Effects = []task.Effect{{ID: task.EffectID(x.t.ID, e.Seq, 0), Do: do, By: task.ByPerson, Arg: x.sig.Arg}}
	if do == workflow.MergeBranch {
		e.Effects[0].Head = x.sig.Confirmed
	}
	return x.last(e, Record)
}

// empty is the evidence that the branch has no commits of its own, nil if there is none.
func (x *decider) empty() *signal.Evidence {
	at := slices.IndexFunc(x.sig.Evidence, func(e signal.Evidence) bool { return e.Name == workflow.Merged && e.Empty })
	if at < 0 {
		return nil
	}
	return &x.sig.Evidence[at]
}

// mergeHelps says whether an edge out of the state waits for the branch to be merged.
func (x *decider) mergeHelps() bool {
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		for _, g := range x.def.EdgeGates(&x.def.Edges[i]) {
			if x.def.Gates[g].Evidence == workflow.Merged {
				return true
			}
		}
	}
	return false
}

// MayMerge says whether a person can merge while the task is in its state: by asking for a
// merge, or by a move that merges.
func MayMerge(def *workflow.Definition, t *task.Task) bool {
	x := &decider{def: def, t: t}
	return x.mergeHelps() || slices.ContainsFunc(def.EdgesFrom(t.Status), func(i int) bool {
		return def.MergesAtOnce(&def.Edges[i])
	})
}
