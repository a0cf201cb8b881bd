package engine

import (
	"fmt"
	"strconv"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// decideOnExit handles the end of an attempt's process. In an agent state, the end of the state's own agent is judged
// by the same edges and gates as a request; if none opens it is a crash. In other states it is recorded and moves
// nothing.
func (d *decider) decideOnExit() Verdict {
	a, ok := d.endedAttempt()
	if !ok {
		return d.refuse("no attempt %d of %q is alive: its end is known already", d.sig.Attempt, d.sig.Role)
	}
	s, ok := d.def.StateNamed(d.t.Status)
	ended := journal.Ended{Number: a.Number, Role: a.Role, Code: d.sig.Code}
	switch {
	case ok && a.Role == workflow.CheckRole && !d.def.DeclaresRole(a.Role):
		return d.decideOnCheck(s, a, ended)
	case !ok || a.Ending || s.Kind == workflow.Terminal:
		return d.recordExit(ended, "as ordered")
	case s.Kind == workflow.CheckDo:
		return d.recordExit(ended, d.t.Status+" waits for checks, not for agents")
	case d.t.WorkFailed != "":
		return d.recordExit(ended, d.heldReason())
	case s.Kind == workflow.Queued:
		return d.recordExit(ended, d.t.Status+" is a queue: nobody works there")
	case s.Role != "" && s.Role != a.Role && !standsIn(d.def, d.t, s.Role, a.Role):
		return d.recordExit(ended, fmt.Sprintf("%s goes on without it: %s is the %s's", d.t.Status, d.t.Status, s.Role))
	case s.Kind != workflow.Agent && a.Done:
		return d.recordExit(ended, "its part is done")
	case s.Kind != workflow.Agent && d.sig.Mass != "":
		return d.recordExit(ended, d.massReason()+"; "+d.t.Status+" waits for a person")
	case s.Kind != workflow.Agent:
		return d.recordCrash(ended)
	}
	waits := d.waitsForAnswer()
	v := d.judgeExit(s, ended, a)
	d.keepUnanswered(waits, a)
	return v
}

// heldReason returns why the end of an agent moves nothing while the task is held for a person.
func (d *decider) heldReason() string {
	if d.sig.Rules < 2 {
		return "its work failed, and a person looks"
	}
	return "the task is held for a person: " + d.t.WorkFailed
}

// standsIn reports whether role is absent because other does its part.
func standsIn(def *workflow.Definition, t *task.Task, role, other string) bool {
	r, ok := def.RoleNamed(role)
	_, live := t.LiveAttempt(role)
	return ok && r.StandsInFor == other && !live
}

// endedAttempt finds the attempt that ended: by number, or the role's living one.
func (d *decider) endedAttempt() (task.Attempt, bool) {
	if d.sig.Attempt > 0 {
		return d.t.AttemptByNumber(d.sig.Attempt)
	}
	return d.t.LiveAttempt(d.sig.Role)
}

func (d *decider) recordExit(ended journal.Ended, why string) Verdict {
	e := d.newEntry(journal.AgentExited)
	e.Ended = []journal.Ended{ended}
	e.Reason = why
	d.startWaitingCheck(&e, task.Attempt{Number: ended.Number})
	return d.finishWith(e, Stay)
}

func (d *decider) recordCrash(ended journal.Ended) Verdict {
	e := d.newEntry(journal.AgentCrashed)
	e.Ended, e.Role, e.From = []journal.Ended{ended}, ended.Role, d.t.Status
	e.Reason = fmt.Sprintf("%s waits for a person; nothing moves", d.t.Status)
	if ended.Code != 0 {
		e.Reason = d.withLastWords(e.Reason)
	}
	return d.finishWith(e, Crash)
}

func (d *decider) judgeExit(s *workflow.State, ended journal.Ended, a task.Attempt) Verdict {
	first := len(d.reasons)
	untold := d.wasNotTold(a.Number)
	if d.sig.Report != nil && !untold {
		if v, decided := d.takeReportedEdge(d.newExitEntry(ended), a.Role, a.Number); decided {
			return v
		}
	}
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		e := &d.def.Edges[i]
		if untold || d.isAmbiguous() || !e.AnswersTo(workflow.OnExit, "") || !d.checkGuard(e) || !d.checkGates(e) {
			continue
		}
		entry := d.newExitEntry(ended)
		if r := d.attemptReport(); r != nil {
			entry.LastReport = d.newLastReport(r, a.Role, a.Number)
		}
		entry.Reason = howItEnded(a, d.sig.Code) + ", and " + d.openingEvidence() + " is there"
		return d.takeEdgeWith(entry, e, Advance)
	}
	if c, ok := d.explainingLimit(a); ok {
		return d.endLimited(s, []journal.Ended{ended}, c)
	}
	if p := d.undeliveredMessage(a.Number); p != nil {
		return d.replaceUnnotified(journal.Ended{Number: a.Number, Role: a.Role, Code: d.sig.Code}, p)
	}
	if d.sig.Mass != "" && !a.Overdue {
		return d.massDeath(s, ended)
	}
	if d.sig.Unstarted && !a.Overdue {
		return d.couldNotStart(s, a, ended)
	}
	if d.foreignVerdict != "" && d.t.Restated != d.t.Visit {
		return d.askToRestate(s, ended)
	}
	if len(d.undone) > 0 {
		return d.askToFinish(s, a, []journal.Ended{ended})
	}
	why := howItEnded(a, d.sig.Code)
	if r := nearestReason(d.reasons[first:]); r != nil {
		why += ": " + r.Text
	}
	if v, ok := d.noAnswer(s, a, ended, why); ok {
		return v
	}
	return d.countCrash(s, []journal.Ended{ended}, d.withLastWords(why))
}

// newExitEntry begins the entry of a move that follows from the end of an attempt.
func (d *decider) newExitEntry(ended journal.Ended) journal.Entry {
	e := d.newEntry(journal.AutoAdvanced)
	e.Ended = []journal.Ended{ended}
	return e
}

// endedWithUnusableReport reports whether the agent ended by itself and left a message that is not a valid report. An
// agent that was interrupted has crashed.
func (d *decider) endedWithUnusableReport(s *workflow.State, a task.Attempt) bool {
	role, _ := d.def.RoleNamed(s.Role)
	r := d.sig.Report
	return role != nil && role.Protocol != "" && r != nil && (a.Overdue || d.sig.Code == 0 || r.Outcome == signal.Ambiguous || r.Code != "")
}

// isAmbiguous reports whether the agent reported both outcomes. Such a report moves nothing, whatever evidence exists.
func (d *decider) isAmbiguous() bool {
	return d.sig.Report != nil && d.sig.Report.Outcome == signal.Ambiguous
}

func (d *decider) whatWasSeen(why string) string {
	if d.sig.Report == nil {
		return why
	}
	switch diagnosis := d.sig.Report.Diagnosis; {
	case diagnosis != "":
		why += "; " + diagnosis
	case d.sig.Report.Code == "":
		why += "; nothing in its last message says how it went"
	}
	return why
}

// undeliveredMessage returns the message that was still to be delivered to a living attempt when it ended, or nil.
func (d *decider) undeliveredMessage(number int) *task.Effect {
	for i := range d.t.Pending {
		p := &d.t.Pending[i]
		if info, _ := workflow.EffectNamed(p.Do); info.Notifies && p.Attempt == number && !p.Start && p.Prompt != workflow.MessageNudge {
			return p
		}
	}
	return nil
}

// wasNotTold reports whether a message of the move that brought the task here has not reached the attempt. What the attempt
// left is then from before that move, and its end cannot be the answer.
func (d *decider) wasNotTold(number int) bool {
	if d.sig.Rules < RulesOfUndelivered {
		return false
	}
	for i := range d.t.Pending {
		p := &d.t.Pending[i]
		if isMessageTo(p, number) && (p.By == task.ByEdge || p.Prompt == workflow.MessageAnswer || p.Turn && p.Prompt != workflow.MessageReply) {
			return true
		}
	}
	return false
}

// replaceUnnotified replaces an agent that finished its part and ended before a message with more work reached it. This is
// not a crash.
func (d *decider) replaceUnnotified(ended journal.Ended, p *task.Effect) Verdict {
	e := d.newEntry(journal.AgentRespawn)
	e.Ended, e.Role, e.From = []journal.Ended{ended}, ended.Role, d.t.Status
	e.Reason, e.Dropped = fmt.Sprintf("the %s ended before it could be told", ended.Role), []string{p.ID}
	again := d.newPlan(&e)
	again.said = p.Text
	again.addEffect(workflow.Effect{Name: p.Do, Role: p.Role, Message: p.Prompt}, p.By)
	if again.unavailable {
		e.Effects, e.Started, e.RespawnAt = nil, nil, d.sig.At.Add(respawnDelay(1))
	}
	return d.finishWith(e, Stay)
}

func howItEnded(a task.Attempt, code int) string {
	if a.Overdue {
		return "the " + a.Role + " was ended at its deadline"
	}
	return "the " + a.Role + " ended (code " + strconv.Itoa(code) + ")"
}

// countCrash counts a failed attempt of the state's agent. At the limit it takes the crash-limit edge; below it
// replaces the agent as the state specifies.
func (d *decider) countCrash(s *workflow.State, ended []journal.Ended, why string) Verdict {
	e := d.newEntry(journal.AgentCrashed)
	e.Ended, e.Role, e.From, e.Reason = ended, s.Role, d.t.Status, why
	c := d.def.CrashCounter()
	if c == nil {
		e.Attention = "the agent of " + s.Name + " crashed and no counter bounds that: respawn or cancel it"
		return d.finishWith(e, Crash)
	}
	n := d.t.CounterValue(c.Name) + 1
	e.Counters = []task.Counter{{Name: c.Name, Value: n, Total: d.counterTotal(c.Name) + 1}}
	if n >= c.Max {
		return d.crashLimit(e, n, c.Max)
	}
	if e.WorkFailed = d.heldForAnswer(ended...); e.WorkFailed != "" {
		return d.finishWith(e, Crash)
	}
	switch s.Respawn {
	case workflow.RespawnNow:
		d.replaceAgent(s, &e, respawnDelay(n))
	case workflow.RespawnAuto:
		e.RespawnAt = d.sig.At.Add(respawnDelay(n))
	}
	return d.finishWith(e, Crash)
}

// replaceAgent starts the state's agent again, or schedules it for later if it needs a workspace and none is free.
func (d *decider) replaceAgent(s *workflow.State, e *journal.Entry, later time.Duration) {
	p := d.newPlan(e)
	p.ensureAgent(s)
	if p.unavailable {
		e.Effects, e.Started = nil, nil
		e.RespawnAt = d.sig.At.Add(later)
		e.Reason += "; no workspace is free to start it again"
	}
}

func (d *decider) counterTotal(counter string) int {
	for _, c := range d.t.Counters {
		if c.Name == counter {
			return c.Total
		}
	}
	return 0
}

func (d *decider) crashLimit(e journal.Entry, n, limit int) Verdict {
	return d.atLimit(e, workflow.OnCrashLimit, Crash, fmt.Sprintf("crash %d of %d in %s", n, limit, d.t.Status))
}

// atLimit takes the edge for a limit that was reached. Without such an edge it asks for a person.
func (d *decider) atLimit(e journal.Entry, on workflow.TriggerKind, otherwise Verdict, what string) Verdict {
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		edge := &d.def.Edges[i]
		if !edge.AnswersTo(on, "") || !d.checkGuard(edge) {
			continue
		}
		d.pushEntry(e)
		next := d.newEntry(journal.AutoAdvanced)
		next.Reason = what + ": " + e.Reason
		return d.takeEdgeWith(next, edge, Advance)
	}
	e.Attention = fmt.Sprintf("%s, and no edge answers to %s: respawn or cancel it", what, on)
	return d.finishWith(e, otherwise)
}

// respawnDelay returns the delay before the next start, which gives a machine in trouble time to recover.
func respawnDelay(crashes int) time.Duration {
	return min(10*time.Second<<min(crashes-1, 10), 10*time.Minute)
}
