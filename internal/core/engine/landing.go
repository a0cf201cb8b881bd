package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// VerbUnland is the verb by which a person takes a task out of the landing queue.
const VerbUnland = "unland"

// RulesOfLanding is the version of the rules since which a task that ends without a merge leaves the landing queue.
const RulesOfLanding = 4

// busyRetry and busyLimit say how often a landing looks at a checkout of the target in which a person rebases or merges, and
// how long after that began, at most. The time is that of the checkout and not of the task, so that of many tasks not
// each waits as long.
const (
	busyRetry = 15 * time.Second
	busyLimit = 5 * time.Minute
)

// forgeRetry and forgeLimit say how often a landing looks at a forge that runs its checks, and for how long.
const (
	forgeRetry = 30 * time.Second
	forgeLimit = time.Hour
)

// maxMoves is how often a landing starts over because somebody else moved the target.
const maxMoves = 6

// decideOnLanding handles a step of a landing, or its end. A built candidate is checked before the target moves. If the
// target has moved meanwhile, the landing starts over.
func (d *decider) decideOnLanding(p *task.Effect, r *signal.Receipt) Verdict {
	e := d.newEntry(journal.LandingBuilt)
	e.Receipt, e.Tries = r, p.Tries
	if s, ok := d.def.StateNamed(d.t.Status); ok && s.Kind == workflow.Terminal { // the forge merged the work meanwhile
		e.Type, e.Reason, e.Dropped = journal.EffectGaveUp, p.Do, []string{p.ID}
		return d.finishWith(e, Record)
	}
	switch {
	case r.Landing == signal.LandingBuilt && r.Candidate != nil:
		e.Landing = &task.Landing{Candidate: *r.Candidate, Reuse: r.Reuse, Since: d.sig.At}
		e.Reason = fmt.Sprintf("candidate %.12s on %s %.12s", r.Candidate.Commit, r.Candidate.Target, r.Candidate.Tip)
		d.checkCandidate(&e, e.Landing, 0)
		return d.finishWith(e, Record)
	case r.Landing == signal.LandingMoved && p.Moves < maxMoves:
		e.Type, e.Reason = journal.LandingMoved, r.Error
		return d.finishWith(e, Record)
	case r.Landing == signal.LandingWaits && d.sig.At.Before(r.Since.Add(forgeLimit)):
		e.Type, e.Reason, e.RetryAt = journal.EffectFailed, p.Do, d.sig.At.Add(forgeRetry)
		return d.finishWith(e, Record)
	case r.Landing == signal.LandingBusy && d.sig.At.Before(r.Since.Add(busyLimit)):
		e.Type, e.Reason, e.RetryAt = journal.EffectFailed, p.Do, d.sig.At.Add(busyRetry)
		return d.finishWith(e, Record)
	}
	l := task.Landing{Outcome: r.Landing, Why: r.Error, Files: r.Files, Since: d.sig.At}
	if r.Landing == signal.LandingMoved {
		l.Why = fmt.Sprintf("the target moved %d times while the work was checked: request the merge again when fewer people commit to it", p.Moves+1)
	}
	if r.Candidate != nil {
		l.Candidate = *r.Candidate
	}
	if r.Conflict != nil {
		l.Files, l.Why = r.Conflict.Files, fmt.Sprintf("branch %s conflicts with %s", d.t.Branch, r.Conflict.Onto)
	}
	if !l.Returned() {
		l.Outcome = task.LandingBlocked
	}
	e.Tries++
	return d.endLanding(e, p, l)
}

// checkCandidate runs the first of the task's checks, from one on, that the candidate needs. If it needs none any more, the
// target may move. A check that passed on the same tree in the workspace is not needed if the project reuses results.
func (d *decider) checkCandidate(e *journal.Entry, l *task.Landing, from int) {
	for _, c := range d.t.Checks[from:] {
		if r, ok := d.t.CheckResultOf(c.Name); l.Reuse && ok && r.Covers(&c, l.Tree) {
			e.Reason += fmt.Sprintf("; check %s passed on its tree in the workspace", c.Name)
			continue
		}
		d.newPlan(e).runCheck(task.CheckRun{Name: c.Name, Place: task.PlaceLanding})
		return
	}
	l.Checked = true
	e.Landing = l
}

// endLanding takes the edge for the outcome of a landing that brought nothing into the target. If no edge answers, the
// task stays and needs a person.
func (d *decider) endLanding(e journal.Entry, p *task.Effect, l task.Landing) Verdict {
	e.Landing, e.Reason = &l, l.Why
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		edge := &d.def.Edges[i]
		if !edge.AnswersTo(workflow.OnLanding, l.Outcome) || !d.checkGuard(edge) {
			continue
		}
		e.Type, e.Dropped = journal.AutoAdvanced, []string{p.ID}
		return d.takeEdgeWith(e, edge, Advance)
	}
	e.Type = journal.LandingEnded
	e.Attention = fmt.Sprintf("%s failed: %s", p.Do, l.Why)
	if r := e.Receipt; r != nil && r.Landing != signal.LandingMoved {
		e.Attention = fmt.Sprintf("%s failed: %s", p.Do, r.Error)
	}
	e.GaveUp = &task.GaveUp{Do: p.Do}
	if l.Outcome == task.LandingConflict {
		e.GaveUp.Conflict = &task.Conflict{Onto: l.Target, Files: l.Files}
	}
	if p.By == task.ByPerson { // the requester gets the error and may request it again
		e.Dropped = []string{p.ID}
	}
	pl := d.newPlan(&e)
	pl.writeCheck()
	pl.writeLanding()
	return d.finishWith(e, Record)
}

// writeLanding writes how a landing ended into TASK.md.
func (p *plan) writeLanding() {
	if l := p.e.Landing; l != nil && l.Outcome != "" {
		p.appendEffect(task.Effect{Do: workflow.WriteSection, By: task.ByState, Arg: "Landing", Text: strings.Join(l.Lines(), "\n")})
	}
}

// decideOnCandidateCheck handles the end of a check that ran on a candidate. When the last one has passed, the pending
// effect moves the target.
func (d *decider) decideOnCandidateCheck(a task.Attempt, ended journal.Ended) Verdict {
	r, p, l := d.checkResult(a), d.t.MergeEffect(), d.t.Landing
	e := d.checkEnded(r, ended)
	if p == nil || !l.InProgress() {
		return d.finishWith(e, Record)
	}
	end := *l
	end.Since = d.sig.At
	step, run, why := d.judgeCheck(r)
	switch {
	case step == holdCheck || step == failCheck:
		end.Outcome, end.Why = task.LandingBlocked, fmt.Sprintf("%s, when the work was merged with %s", why, l.Target)
		if step == failCheck {
			end.Outcome = task.LandingFailed
		}
		return d.endLanding(e, p, end)
	case step == repeatCheck:
		d.newPlan(&e).runCheck(run)
	default:
		at := slices.IndexFunc(d.t.Checks, func(c task.CheckDefinition) bool { return c.Name == run.Name })
		end.Since = l.Since
		d.checkCandidate(&e, &end, at+1)
	}
	return d.finishWith(e, Record)
}

// checksCandidate reports whether an effect waits until a candidate is checked. Effects behind it do not wait: one of
// them starts the check.
func checksCandidate(t *task.Task, p *task.Effect) bool {
	return p.Do == workflow.MergeBranch && t.Landing.InProgress() && !t.Landing.Checked
}

// passesLanding reports whether only a landing whose candidate is being checked stands before an effect.
func (d *decider) passesLanding(p *task.Effect) bool {
	for i := range d.t.Pending {
		switch q := &d.t.Pending[i]; {
		case q.ID == p.ID:
			return true
		case q.NonBlocking, checksCandidate(d.t, q):
		default:
			return false
		}
	}
	return false
}

// leaveLandingQueue handles a person's request to take the task out of the landing queue.
func (d *decider) leaveLandingQueue() Verdict {
	p := d.t.MergeEffect()
	switch {
	case d.sig.Actor != task.Human && d.sig.Actor != "":
		return d.refuse("only a person may take a task out of the landing queue")
	case p == nil:
		return d.refuse("the task is in no landing queue: see orange land list")
	}
	e := d.newEntry(journal.LandingLeft)
	e.Reason, e.Dropped = "a person took it out of the landing queue", []string{p.ID}
	if p.By != task.ByPerson {
		e.Attention = "a person took it out of the landing queue"
		e.GaveUp = &task.GaveUp{Do: p.Do}
		e.Type = journal.LandingEnded
		e.Dropped = nil
	}
	pl := d.newPlan(&e)
	pl.endCheck(&workflow.Edge{})
	return d.finishWith(e, Record)
}

// keepPerformedMerge refuses a request that would take back a merge while it is performed: nothing can stop it any more. It
// returns the verdict v of every other signal.
func (d *decider) keepPerformedMerge(v Verdict) Verdict {
	m := d.sig.Performing
	if m == nil || d.sig.Kind != signal.Request || v == Refuse || !awaitsMerge(d.before, m.Effect) {
		return v
	}
	if after, err := journal.Fold(*d.before, d.entries); err == nil && awaitsMerge(&after, m.Effect) {
		return v
	}
	d.reasons = slices.DeleteFunc(d.reasons, func(r Reason) bool { return r.Rule == RuleEdge && r.OK }) // it is not taken
	return d.refuse("the work is being merged into %s at this moment: wait for it (orange task history %s), then decide", m.Target, d.before.ID)
}

// awaitsMerge reports whether a task still wants the merge that an effect performs.
func awaitsMerge(t *task.Task, effect string) bool {
	return slices.ContainsFunc(t.Pending, func(p task.Effect) bool { return p.ID == effect && p.Do == workflow.MergeBranch && !p.GivenUp })
}

// recordLateMerge records a merge that brought the work into its target after a signal had dropped its effect. A person must
// know of it, unless the task moved because of the merge, or the record has the work as merged.
func (d *decider) recordLateMerge(r *signal.Receipt) Verdict {
	e := d.newEntry(journal.EffectDone)
	e.Receipt, e.Tries, e.Reason = r, 1, workflow.MergeBranch
	if c := r.Candidate; c != nil && !d.t.Landing.InProgress() {
		e.Landing = &task.Landing{Candidate: *c, Checked: true, Outcome: task.Landed, Since: d.sig.At}
	}
	if !r.Moved && (d.t.Work == nil || !d.t.Work.Landed) {
		e.Attention = fmt.Sprintf("its branch was merged into %s as %.7s after the merge was taken back, and the task is %s: keep the work or revert it",
			cmp.Or(r.Target, "its target"), r.Commit, d.t.Status)
	}
	return d.finishWith(e, Record)
}
