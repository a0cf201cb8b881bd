package engine

import (
	"fmt"
	"hash/fnv"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// MaxTries is how often an effect is tried before a person must act. A non-blocking effect delays nothing, and a
// tracker may be unreachable for a while, so it is tried more often.
const (
	MaxTries            = 6
	maxNonBlockingTries = 20
)

// decideOnReceipt handles the result of one try of an effect. A failed effect reverts nothing: it is tried again with
// growing delays, and at the limit the task needs attention.
func (d *decider) decideOnReceipt() Verdict {
	r := d.sig.Result
	if r == nil {
		return d.refuse("the signal does not say which effect it is about")
	}
	p := d.pendingEffect(r.Effect)
	switch {
	case p == nil && r.OK && r.Commit != "": // only a merge has a commit
		return d.recordLateMerge(r)
	case p == nil:
		return d.refuse("effect %s is not pending: its result is known already", r.Effect)
	case !p.NonBlocking && p != d.nextBlocking() && !d.passesLanding(p):
		return d.refuse("effect %s is not the next one: %s comes first", r.Effect, d.nextBlocking().ID)
	case p.Do == workflow.ReleaseWorkspace && len(d.t.Attempts) > 0:
		return d.refuse("a workspace is not released while an agent of the task lives")
	}
	if p.Do == workflow.MergeBranch && r.Landing != "" {
		return d.decideOnLanding(p, r)
	}
	e := d.newEntry(journal.EffectDone)
	e.Receipt, e.Tries, e.Reason = r, p.Tries+1, personActionName(p)
	if r.Note != "" {
		e.Reason += ": " + clipWords(r.Note)
	}
	if r.OK {
		if p.Start {
			e.Type = journal.AgentSpawned
			e.Role, e.Attempt, e.StartedIn = p.Role, p.Attempt, d.t.Workspace
			if a, ok := d.t.AttemptByNumber(p.Attempt); ok && a.Harness != "" {
				e.ChosenHarness = ChosenText(&a)
			}
		}
		e.UnbindWorkspace = p.Do == workflow.ReleaseWorkspace
		e.Attention = r.KeptWork()
		return d.finishWith(e, Record)
	}
	if d.isPointless(p) {
		e.Type, e.Dropped = journal.EffectGaveUp, []string{p.ID}
		if a, ok := d.t.AttemptByNumber(p.Attempt); ok && p.Start && !a.Running {
			e.Ended = []journal.Ended{{Number: a.Number, Role: a.Role, Code: -1}}
		}
		return d.finishWith(e, Record)
	}
	if r.Final || e.Tries >= MaxTriesOf(p) {
		e.Type = journal.EffectGaveUp
		e.Attention = fmt.Sprintf("%s failed: %s", p.Do, r.Error)
		if e.Tries > 1 {
			e.Attention = fmt.Sprintf("%s failed %d times: %s", p.Do, e.Tries, r.Error)
		}
		if p.Do == workflow.MergeBranch && r.Do != "" {
			e.GaveUp = &task.GaveUp{Do: p.Do, Conflict: r.Conflict}
		}
		if p.By == task.ByPerson { // the requester gets the error and may request it again
			e.Dropped = []string{p.ID}
		}
		return d.finishWith(e, Record)
	}
	e.Type = journal.EffectFailed
	e.RetryAt = d.sig.At.Add(retryDelay(p, e.Tries))
	return d.finishWith(e, Record)
}

// ChosenText returns which agent was chosen for an attempt, and why not another.
func ChosenText(a *task.Attempt) string {
	if a.Why == "" {
		return a.Harness
	}
	return a.Harness + ", because " + a.Why
}

// personActionName names an effect, and for a card what of it changes.
func personActionName(p *task.Effect) string {
	text := p.Do
	for _, tag := range p.Tags {
		text += " +" + tag
	}
	for _, tag := range p.Untags {
		text += " -" + tag
	}
	if p.Do == workflow.MoveCard {
		text += " " + p.Arg
	}
	return text
}

// isPointless reports whether an effect could not start or notify an agent that is to end anyway. Such an effect must
// not block that end.
func (d *decider) isPointless(p *task.Effect) bool {
	info, _ := workflow.EffectNamed(p.Do)
	a, lives := d.t.AttemptByNumber(p.Attempt)
	return (info.Spawns || info.Notifies) && (!lives || a.Ending)
}

func (d *decider) pendingEffect(id string) *task.Effect {
	for i := range d.t.Pending {
		if d.t.Pending[i].ID == id {
			return &d.t.Pending[i]
		}
	}
	return nil
}

// MaxTriesOf returns how often an effect is tried before it is given up.
func MaxTriesOf(p *task.Effect) int {
	if p.NonBlocking {
		return maxNonBlockingTries
	}
	return MaxTries
}

// retryTracker retries tracker effects that were given up. While a person must act on something else it waits: resuming
// the task tries everything again.
func (d *decider) retryTracker() Verdict {
	if d.byAgent() {
		return d.refuse("an agent may not report whether a tracker is reachable")
	}
	gave := d.t.GaveUp
	away, told := false, d.t.Attention == ""
	for i := range d.t.Pending {
		p := &d.t.Pending[i]
		switch {
		case p.GivenUp && !p.NonBlocking:
			return Stay
		case p.GivenUp:
			away, told = true, told || gave != nil && gave.Do == p.Do
		}
	}
	if !away || !told {
		return Stay
	}
	e := d.newEntry(journal.EffectAsked)
	e.Reason = "the tracker answers again"
	return d.finishWith(e, Record)
}

// nextBlocking returns the oldest pending effect that blocks others, or nil if there is none.
func (d *decider) nextBlocking() *task.Effect {
	for i := range d.t.Pending {
		if !d.t.Pending[i].NonBlocking {
			return &d.t.Pending[i]
		}
	}
	return nil
}

// blockingCount counts the pending effects that others wait for.
func (d *decider) blockingCount() (n int) {
	for i := range d.t.Pending {
		if !d.t.Pending[i].NonBlocking {
			n++
		}
	}
	return n
}

// retryDelay returns the delay before the next try, which grows with every try. Delays of tracker effects are spread by
// up to a quarter, each by its own amount, so that many tasks do not retry at the same moment. A delay is a multiple of
// the journal's time resolution.
func retryDelay(p *task.Effect, tries int) time.Duration {
	d := min(time.Second<<min(tries-1, 10), 5*time.Minute)
	if !p.NonBlocking {
		return d
	}
	d = min(d, time.Minute)
	h := fnv.New32a()
	fmt.Fprintf(h, "%s/%d", p.ID, tries)
	return (d + d*time.Duration(h.Sum32()%256)/1024).Truncate(time.Microsecond)
}

// NextEffect returns the effect to run now or later: the oldest pending one, because effects keep their order. No
// effect runs while the task is paused, nor behind one that was given up. A merge waits for the tasks that must land first. A workspace is not released before every
// process of the task has ended. A non-blocking effect lets the others pass as soon as it has failed, and passes those
// that cannot run; non-blocking effects wait for each other.
func NextEffect(t *task.Task) (e task.Effect, ok bool) {
	if t.Paused || t.Deleted {
		return task.Effect{}, false
	}
	var late *task.Effect // non-blocking, and to be tried again
	away, stuck := false, false
	for i := range t.Pending {
		p := &t.Pending[i]
		switch {
		case p.NonBlocking && (away || p.GivenUp || p.Tries > 0):
			if !away && !p.GivenUp {
				late = p
			}
			away = true
		case stuck && !p.NonBlocking:
		case p.GivenUp, p.Do == workflow.ReleaseWorkspace && len(t.Attempts) > 0, waitsForCheck(t, p), waitsToLand(t, p):
			stuck = true
		case checksCandidate(t, p):
		default:
			return *p, true
		}
	}
	if late == nil {
		return task.Effect{}, false
	}
	return *late, true
}
