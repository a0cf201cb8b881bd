package engine

import (
	"fmt"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// A Timer is a moment at which the engine needs a signal for a task.
type Timer struct {
	Name  string    `json:"name"`
	At    time.Time `json:"at"`
	Visit int       `json:"visit"`
	What  string    `json:"what"` // what will happen

	Cooldown bool `json:"cooldown,omitempty"` // a start that waits because the work failed in the state lately
}

// The timers that do not belong to an edge. An edge's timer is named by its time.
const (
	Deadline = "deadline"
	Respawn  = "respawn"
	Idle     = "idle"     // of the living agent: the latest time by which it must show activity
	Fallback = "fallback" // of the living agent: it is limited for so long that another one continues
	LimitEnd = "limit"    // of the living agent: its provider's limit is over
)

// Timers lists the timers of a task, in no particular order. The caller sends a timer signal when one is due.
func Timers(def *workflow.Definition, t *task.Task) []Timer {
	def = def.ForTask(t.Checks)
	s, ok := def.StateNamed(t.Status)
	if !ok || t.Paused || t.Deleted || s.Kind == workflow.Terminal {
		return nil
	}
	out := checkTimers(s, t)
	if !t.RespawnAt.IsZero() {
		what := "start the " + s.Role
		if coolsDown(s, t) {
			what += ", when the cooldown of " + humanize.FormatDuration(s.Cooldown) + " is over"
		} else {
			what += " again"
		}
		out = append(out, Timer{Name: Respawn, At: t.RespawnAt, Visit: t.Visit, What: what, Cooldown: coolsDown(s, t)})
	}
	if at, ok := agentDeadline(def, s, t); ok {
		out = append(out, Timer{Name: Deadline, At: at, Visit: t.Visit, What: "end the " + s.Role + " of " + s.Name + " and judge what it left"})
	}
	out = append(out, liveAgentTimers(def, s, t)...)
	out = append(out, fallbackTimers(def, s, t)...)
	for _, i := range def.EdgesFrom(t.Status) {
		for _, tr := range def.Edges[i].On {
			if tr.Kind == workflow.OnTimer {
				out = append(out, Timer{Name: tr.Value, At: t.Since.Add(tr.After), Visit: t.Visit, What: "go to " + def.Edges[i].To + " if it is open"})
			}
		}
	}
	return out
}

// fallbackTimers returns when another agent continues for the state's agent, which is at its limit: immediately, if the
// limit lasts longer than the role waits and there is another agent.
func fallbackTimers(def *workflow.Definition, s *workflow.State, t *task.Task) []Timer {
	a, live := t.LiveAttempt(s.Role)
	role, ok := def.RoleNamed(s.Role)
	if !live || !ok || s.Kind != workflow.Agent || !a.Running || a.Overdue || a.Condition.Name != task.Limited || a.Harness == "" || a.Condition.Until.Sub(a.Condition.Since) <= role.FallbackAfter {
		return nil
	}
	d := &decider{def: def, t: t, sig: &signal.Signal{At: a.Condition.Since}}
	if !d.hasFallback(role, &a) {
		return nil
	}
	return []Timer{{Name: Fallback, At: a.Condition.Since, Visit: t.Visit, What: "let another agent go on as the " + s.Role}}
}

// liveAgentTimers lists the timers of the state's living agent besides its deadline.
func liveAgentTimers(def *workflow.Definition, s *workflow.State, t *task.Task) []Timer {
	a, live := t.LiveAttempt(s.Role)
	switch {
	case !live || !a.Running || s.Role == "":
		return nil
	case a.Condition.Name == task.Limited:
		return []Timer{{Name: LimitEnd, At: a.Condition.Until, Visit: t.Visit, What: "tell the " + s.Role + " that its limit is over"}}
	case s.Kind != workflow.Agent || s.Idle == 0 || t.WorkFailed != "" || a.Overdue || a.Condition.IsBlocked() || t.Attention != "":
		return nil
	}
	if _, ok := findRestingAgent(def, t); ok { // an agent that waits for a person is not ended for that
		if _, idle := findIdleAgent(def, t); !idle || a.Condition.AsksPerson() || s.OnIdle == workflow.IdleAsk || !a.Nudged.IsZero() {
			return nil
		}
	}
	what := "ask the " + s.Role + " to go on if it shows no life"
	if !a.Nudged.IsZero() {
		what = "end the " + s.Role + " if it shows no life"
	}
	return []Timer{{Name: Idle, At: idleAt(s, t, &a, time.Time{}), Visit: t.Visit, What: what}}
}

// idleAt returns when a silent agent is due for a nudge or an end, given the time of its last activity.
func idleAt(s *workflow.State, t *task.Task, a *task.Attempt, active time.Time) time.Time {
	for _, at := range [...]time.Time{t.Since, a.Since, a.Nudged, a.Condition.Since} {
		if at.After(active) {
			active = at
		}
	}
	return active.Add(s.Idle)
}

// agentDeadline returns the deadline of the state's agent. A state that needs an agent and has none has a deadline too:
// its expiry repairs the state.
func agentDeadline(def *workflow.Definition, s *workflow.State, t *task.Task) (time.Time, bool) {
	if _, ok := findRestingAgent(def, t); ok { // time spent waiting for a person does not count
		return time.Time{}, false
	}
	if s.Kind != workflow.Agent || s.Wall == 0 || !t.RespawnAt.IsZero() || t.Attention != "" {
		return time.Time{}, false
	}
	a, live := t.LiveAttempt(s.Role)
	switch {
	case live && (a.Overdue || a.Condition.IsBlocked()): // time spent waiting for others does not count
		return time.Time{}, false
	case live && a.Since.After(t.Since):
		return a.Since.Add(s.Wall + a.Credit), true
	case live:
		return t.Since.Add(s.Wall + a.Credit), true
	case !live && (t.WorkFailed != "" || t.Crashed != "" && s.Respawn == workflow.RespawnManual):
		return time.Time{}, false
	case !live && t.RespawnAt.After(t.Since):
		return t.RespawnAt.Add(s.Wall), true
	}
	return t.Since.Add(s.Wall), true
}

// decideOnTimer handles a timer that is due.
func (d *decider) decideOnTimer() Verdict {
	if d.sig.Visit != d.t.Visit {
		return d.refuse("the timer belongs to visit %d and this is visit %d", d.sig.Visit, d.t.Visit)
	}
	due := false
	for _, tm := range Timers(d.def, d.t) {
		due = due || tm.Name == d.sig.Timer && !tm.At.After(d.sig.At)
	}
	if !due {
		return d.refuse("no timer %q is due", d.sig.Timer)
	}
	s, _ := d.def.StateNamed(d.t.Status)
	switch d.sig.Timer {
	case Deadline:
		return d.endOverdue(s)
	case Respawn:
		return d.respawnAgent(s)
	case Idle:
		return d.nudgeIdle(s)
	case LimitEnd:
		return d.resumeAfterLimit(s)
	case Fallback:
		return d.fallsBack(s)
	case CheckWait:
		return d.holdWaitingCheck(s)
	case CheckDeadline:
		return d.endOverdueCheck()
	}
	return d.takeEventEdge(workflow.OnTimer, d.sig.Timer)
}

// endOverdue ends the state's agent, whose exit is then judged like any other. If no agent lives the state is repaired,
// which counts as a crash.
func (d *decider) endOverdue(s *workflow.State) Verdict {
	a, live := d.t.LiveAttempt(s.Role)
	if !live {
		return d.countCrash(s, nil, fmt.Sprintf("%s has no %s and its deadline passed", s.Name, s.Role))
	}
	return d.orderEnd(s, a, fmt.Sprintf("the %s had %s", s.Role, s.Wall))
}

// orderEnd orders the end of an agent whose time is over. Its exit is then judged.
func (d *decider) orderEnd(s *workflow.State, a task.Attempt, why string) Verdict {
	e := d.newEntry(journal.AgentOverdue)
	e.Overdue = []int{a.Number}
	e.Reason = why
	e.Effects = []task.Effect{{
		ID: task.EffectID(d.t.ID, e.Seq, 0), Do: workflow.KillName(s.Role), By: task.ByState, Role: s.Role, Attempt: a.Number,
	}}
	return d.finishWith(e, Record)
}

// coolingUntil returns until when a state starts no agent because the work failed there, or zero if it may.
func (d *decider) coolingUntil(s *workflow.State) time.Time {
	failed := d.t.FailedIn(s.Name)
	if s.Cooldown == 0 || failed.IsZero() || !failed.Add(s.Cooldown).After(d.sig.At) {
		return time.Time{}
	}
	return failed.Add(s.Cooldown)
}

// coolsDown reports whether the state's agent was not yet started in this visit because the work failed there lately.
func coolsDown(s *workflow.State, t *task.Task) bool {
	return s.Cooldown > 0 && !t.RespawnAt.IsZero() && t.RespawnAt.Equal(t.FailedIn(s.Name).Add(s.Cooldown))
}

// respawnNow handles a person's request to start the agent now, before its delay ends or where only a person starts it.
func (d *decider) respawnNow() Verdict {
	s, ok := d.def.StateNamed(d.t.Status)
	switch {
	case d.sig.Actor != task.Human && d.sig.Actor != "":
		return d.refuse("only a person may start an agent again")
	case ok && s.Kind == workflow.CheckDo:
		return d.requestCheck()
	case !ok || s.Role == "" || s.Kind == workflow.Terminal || s.Kind == workflow.Queued:
		return d.refuse("%s needs no agent", d.t.Status)
	}
	e := d.newEntry(journal.AgentRespawn)
	e.Reason = "a person asked for it"
	p := d.newPlan(&e)
	begin := func() { p.ensureAgent(s) }
	if a, live := d.t.LiveAttempt(s.Role); live {
		if why := d.mayNotReplace(a); why != "" {
			return d.refuse("%s", why)
		}
		e.Reason = fmt.Sprintf("a person asked for it: attempt %d of the %s is ended first", a.Number, a.Role)
		begin = p.endForReplacement(s, a)
	}
	switch begin(); {
	case p.busy != "":
		return d.refuse("%s: try again when it is done", d.othersWork(p.busy))
	case p.unavailable:
		return d.refuseUnavailable()
	}
	return d.finishWith(e, Record)
}

// Force is the argument of Respawn that ends a living agent first.
const Force = "force"

// mayNotReplace returns why a living agent is not ended and replaced, or "" if it is.
func (d *decider) mayNotReplace(a task.Attempt) string {
	if d.sig.Arg != Force {
		return fmt.Sprintf("attempt %d of the %s is alive: end it and start another one with orange task respawn %s --force", a.Number, a.Role, d.t.ID)
	}
	return d.mayNotEnd(a)
}

// mayNotEnd returns why the end of a living agent is not ordered now, or "" if it may be.
func (d *decider) mayNotEnd(a task.Attempt) string {
	switch {
	case a.Overdue:
		return fmt.Sprintf("attempt %d of the %s is being ended at its deadline: see orange task explain %s", a.Number, a.Role, d.t.ID)
	case !a.Running:
		return fmt.Sprintf("attempt %d of the %s is still being started: see orange task explain %s", a.Number, a.Role, d.t.ID)
	}
	return ""
}

// endForReplacement orders the end of the state's agent, and returns what starts the next one. Effects run in order, so
// the end is confirmed before the start. The new agent gets the messages that the old one did not receive.
func (p *plan) endForReplacement(s *workflow.State, a task.Attempt) (begin func()) {
	if p.d.sig.Rules >= RulesOfUndelivered {
		p.keepMessages(a.Number)
		p.addEffect(workflow.Effect{Name: workflow.KillName(a.Role), Role: a.Role}, task.ByState)
		return func() { p.ensureAgent(s) }
	}
	owed := p.d.undeliveredMessage(a.Number)
	for i := range p.d.t.Pending {
		old := &p.d.t.Pending[i]
		if info, _ := workflow.EffectNamed(old.Do); info.Notifies && old.Attempt == a.Number {
			p.e.Dropped = append(p.e.Dropped, old.ID)
		}
	}
	p.addEffect(workflow.Effect{Name: workflow.KillName(a.Role), Role: a.Role}, task.ByState)
	if owed == nil {
		return func() { p.ensureAgent(s) }
	}
	p.said = owed.Text
	return func() { p.addEffect(workflow.Effect{Name: owed.Do, Role: owed.Role, Message: owed.Prompt}, owed.By) }
}

func (d *decider) refuseUnavailable() Verdict {
	if d.planned.waits {
		return d.refuseToStart("")
	}
	return d.refuse("no workspace of project %s is free: wait for a task to end, or raise the pool: orange project update %s --pool-size N", d.t.Project, d.t.Project)
}

// respawnAgent replaces an agent that ended, or starts one that had to wait.
func (d *decider) respawnAgent(s *workflow.State) Verdict {
	e := d.newEntry(journal.AgentRespawn)
	switch {
	case coolsDown(s, d.t):
		e.Reason = fmt.Sprintf("it is %s since the work failed in %s", s.Cooldown, s.Name)
	case d.t.Crashed == "" && d.failedStart(s) != nil:
		e.Reason = fmt.Sprintf("the %s could not start: %s", s.Role, d.t.Unstarted.Words)
	case d.t.Crashed == "" && d.endedWithoutReport():
		e.Reason = fmt.Sprintf("the %s did not say how it went", s.Role)
	default:
		e.Reason = fmt.Sprintf("the %s died", s.Role)
	}
	d.replaceAgent(s, &e, time.Minute)
	return d.finishWith(e, Record)
}

// endedWithoutReport reports whether the last agent of this visit ended without a report.
func (d *decider) endedWithoutReport() bool {
	said := d.t.LastReport
	return said != nil && said.Visit == d.t.Visit && said.Diagnosis != "" && (said.Code == "" || d.def.SilenceCounter() != nil && d.t.CounterValue(d.def.SilenceCounter().Name) > 0)
}
