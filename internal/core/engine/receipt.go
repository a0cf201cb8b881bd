package engine

import (
	"fmt"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// MaxTries is how often an effect is tried before a person is asked to look.
const MaxTries = 6

// receipt is how one try of an effect went. A failed effect takes nothing back: it
// is tried again, later and later, and at the limit the task asks for attention.
func (x *decider) receipt() Verdict {
	r := x.sig.Result
	if r == nil {
		return x.refuse("the signal does not say which effect it is about")
	}
	p := x.owed(r.Effect)
	switch {
	case p == nil:
		return x.refuse("effect %s is not pending: its result is known already", r.Effect)
	case p != &x.t.Pending[0]:
		return x.refuse("effect %s is not the next one: %s comes first", r.Effect, x.t.Pending[0].ID)
	case p.Do == workflow.ReleaseWorkspace && len(x.t.Attempts) > 0:
		return x.refuse("a workspace is not released while an agent of the task lives")
	}
	e := x.entry(journal.EffectDone)
	e.Receipt, e.Tries, e.Reason = r, p.Tries+1, deedOf(p)
	if r.Note != "" {
		e.Reason += ": " + clip(r.Note)
	}
	if r.OK {
		if p.Start {
			e.Type = journal.AgentSpawned
			e.Role, e.Attempt, e.Place = p.Role, p.Attempt, x.t.Workspace
		}
		e.Unbind = p.Do == workflow.ReleaseWorkspace
		return x.last(e, Record)
	}
	if x.pointless(p) {
		e.Type, e.Dropped = journal.EffectGaveUp, []string{p.ID}
		if a, ok := x.t.AttemptByNumber(p.Attempt); ok && p.Start && !a.Running {
			e.Ended = []journal.Ended{{Number: a.Number, Role: a.Role, Code: -1}}
		}
		return x.last(e, Record)
	}
	if r.Final || e.Tries >= MaxTries {
		e.Type = journal.EffectGaveUp
		e.Attention = fmt.Sprintf("%s failed: %s", p.Do, r.Error)
		if e.Tries > 1 {
			e.Attention = fmt.Sprintf("%s failed %d times: %s", p.Do, e.Tries, r.Error)
		}
		if p.By == task.ByPerson { // who asked for it is told, and may ask again
			e.Dropped = []string{p.ID}
		}
		return x.last(e, Record)
	}
	e.Type = journal.EffectFailed
	e.Again = x.sig.At.Add(retryDelay(e.Tries))
	return x.last(e, Record)
}

// deedOf names an effect, and for a card what of it changes.
func deedOf(p *task.Effect) string {
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

// pointless says that an agent could not be started or told, and is to end anyway: it
// must not hold up its own end.
func (x *decider) pointless(p *task.Effect) bool {
	info, _ := workflow.EffectNamed(p.Do)
	a, lives := x.t.AttemptByNumber(p.Attempt)
	return (info.Spawns || info.Notifies) && (!lives || a.Ending)
}

func (x *decider) owed(id string) *task.Effect {
	for i := range x.t.Pending {
		if x.t.Pending[i].ID == id {
			return &x.t.Pending[i]
		}
	}
	return nil
}

func retryDelay(tries int) time.Duration {
	return min(time.Second<<min(tries-1, 10), 5*time.Minute)
}

// Next is the effect to run now or later: the oldest one owed, because effects keep
// their order. None runs while the task is paused, nor behind one that was given up.
// A workspace is not released before every process of the task is gone.
func Next(t *task.Task) (e task.Effect, ok bool) {
	if t.Paused || t.Deleted || len(t.Pending) == 0 || t.Pending[0].GivenUp {
		return task.Effect{}, false
	}
	if t.Pending[0].Do == workflow.ReleaseWorkspace && len(t.Attempts) > 0 {
		return task.Effect{}, false
	}
	return t.Pending[0], true
}
