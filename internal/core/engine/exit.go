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

// exit is the end of an attempt's process. In an agent state the end of the state's
// own agent is judged by the same edges and gates as a request; if none opens it is
// a crash. Elsewhere it is written down and moves nothing.
func (x *decider) exit() Verdict {
	a, ok := x.gone()
	if !ok {
		return x.refuse("no attempt %d of %q is alive: its end is known already", x.sig.Attempt, x.sig.Role)
	}
	s, ok := x.def.State(x.t.Status)
	ended := journal.Ended{Number: a.Number, Role: a.Role, Code: x.sig.Code}
	switch {
	case !ok || a.Ending || s.Kind == workflow.Terminal:
		return x.exited(ended, "as ordered")
	case x.t.Held != "":
		return x.exited(ended, x.heldReason())
	case s.Kind == workflow.Queued:
		return x.exited(ended, x.t.Status+" is a queue: nobody works there")
	case s.Role != "" && s.Role != a.Role && !standsIn(x.def, x.t, s.Role, a.Role):
		return x.exited(ended, fmt.Sprintf("%s goes on without it: %s is the %s's", x.t.Status, x.t.Status, s.Role))
	case s.Kind != workflow.Agent && a.Done:
		return x.exited(ended, "its part is done")
	case s.Kind != workflow.Agent && x.sig.Mass != "":
		return x.exited(ended, x.massReason()+"; "+x.t.Status+" waits for a person")
	case s.Kind != workflow.Agent:
		return x.marked(ended)
	}
	waits := x.waitsForWords()
	v := x.judge(s, ended, a)
	x.keepUnanswered(waits, a)
	return v
}

// heldReason says why the end of an agent moves nothing while the task is held for a person.
func (x *decider) heldReason() string {
	if x.sig.Rules < 2 {
		return "its work failed, and a person looks"
	}
	return "the task is held for a person: " + x.t.Held
}

// standsIn says that role is not there because other does its part.
func standsIn(def *workflow.Definition, t *task.Task, role, other string) bool {
	r, ok := def.Role(role)
	_, live := t.Live(role)
	return ok && r.StandsInFor == other && !live
}

// gone finds the attempt that ended: by number, or the role's living one.
func (x *decider) gone() (task.Attempt, bool) {
	if x.sig.Attempt > 0 {
		return x.t.AttemptByNumber(x.sig.Attempt)
	}
	return x.t.Live(x.sig.Role)
}

func (x *decider) exited(ended journal.Ended, why string) Verdict {
	e := x.entry(journal.AgentExited)
	e.Ended = []journal.Ended{ended}
	e.Reason = why
	return x.last(e, Stay)
}

func (x *decider) marked(ended journal.Ended) Verdict {
	e := x.entry(journal.AgentCrashed)
	e.Ended, e.Role, e.From = []journal.Ended{ended}, ended.Role, x.t.Status
	e.Reason = fmt.Sprintf("%s waits for a person; nothing moves", x.t.Status)
	if ended.Code != 0 {
		e.Reason = x.withLastWords(e.Reason)
	}
	return x.last(e, Crash)
}

func (x *decider) judge(s *workflow.State, ended journal.Ended, a task.Attempt) Verdict {
	first := len(x.reasons)
	if x.sig.Report != nil {
		if v, decided := x.said(x.ending(ended), a.Role, a.Number); decided {
			return v
		}
	}
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		e := &x.def.Edges[i]
		if x.contradicts() || !e.Answers(workflow.OnExit, "") || !x.guard(e) || !x.gates(e) {
			continue
		}
		entry := x.ending(ended)
		if r := x.report(); r != nil {
			entry.Said = x.saying(r, a.Role, a.Number)
		}
		entry.Reason = howItEnded(a, x.sig.Code) + ", and " + x.because() + " is there"
		return x.takeWith(entry, e, Advance)
	}
	if c, ok := x.limit(a); ok {
		return x.limited(s, []journal.Ended{ended}, c)
	}
	if p := x.untold(a.Number); p != nil {
		return x.tellAnother(journal.Ended{Number: a.Number, Role: a.Role, Code: x.sig.Code}, p)
	}
	if x.sig.Mass != "" && !a.Overdue {
		return x.massDeath(s, ended)
	}
	if x.sig.Unstarted && !a.Overdue {
		return x.couldNotStart(s, a, ended)
	}
	if x.disowned != "" && x.t.Restated != x.t.Visit {
		return x.restate(s, ended)
	}
	if len(x.undone) > 0 {
		return x.finish(s, a, []journal.Ended{ended})
	}
	why := howItEnded(a, x.sig.Code)
	if r := nearest(x.reasons[first:]); r != nil {
		why += ": " + r.Text
	}
	if v, ok := x.noAnswer(s, a, ended, why); ok {
		return v
	}
	return x.crash(s, []journal.Ended{ended}, x.withLastWords(why))
}

// ending begins the entry of a move that follows from the end of an attempt.
func (x *decider) ending(ended journal.Ended) journal.Entry {
	e := x.entry(journal.AutoAdvanced)
	e.Ended = []journal.Ended{ended}
	return e
}

// spoke says that the agent came to its end by itself and left words, only not those
// that were asked for. One that broke off has crashed.
func (x *decider) spoke(s *workflow.State, a task.Attempt) bool {
	role, _ := x.def.Role(s.Role)
	r := x.sig.Report
	return role != nil && role.Protocol != "" && r != nil && (a.Overdue || x.sig.Code == 0 || r.Outcome == signal.Ambiguous || r.Code != "")
}

// contradicts says that the agent said both: that moves nothing, whatever it left.
func (x *decider) contradicts() bool {
	return x.sig.Report != nil && x.sig.Report.Outcome == signal.Ambiguous
}

func (x *decider) whatWasSeen(why string) string {
	if x.sig.Report == nil {
		return why
	}
	switch d := x.sig.Report.Diagnosis; {
	case d != "":
		why += "; " + d
	case x.sig.Report.Code == "":
		why += "; nothing in its last message says how it went"
	}
	return why
}

// untold is what a living attempt was to be told when it ended, nil if nothing.
func (x *decider) untold(number int) *task.Effect {
	for i := range x.t.Pending {
		p := &x.t.Pending[i]
		if info, _ := workflow.EffectNamed(p.Do); info.Notifies && p.Attempt == number && !p.Start && p.Prompt != workflow.MessageNudge {
			return p
		}
	}
	return nil
}

// tellAnother replaces an agent that ended, its part done, before it heard that there
// is more to do. That is no crash.
func (x *decider) tellAnother(ended journal.Ended, p *task.Effect) Verdict {
	e := x.entry(journal.AgentRespawn)
	e.Ended, e.Role, e.From = []journal.Ended{ended}, ended.Role, x.t.Status
	e.Reason, e.Dropped = fmt.Sprintf("the %s ended before it could be told", ended.Role), []string{p.ID}
	again := x.plan(&e)
	again.said = p.Text
	again.add(workflow.Effect{Name: p.Do, Role: p.Role, Message: p.Prompt}, p.By)
	if again.starved {
		e.Effects, e.Started, e.Respawn = nil, nil, x.sig.At.Add(respawnDelay(1))
	}
	return x.last(e, Stay)
}

func howItEnded(a task.Attempt, code int) string {
	if a.Overdue {
		return "the " + a.Role + " was ended at its deadline"
	}
	return "the " + a.Role + " ended (code " + strconv.Itoa(code) + ")"
}

// crash counts a failed attempt of the state's agent. At the bound the crash-limit
// edge is taken; below it the agent is replaced as the state says.
func (x *decider) crash(s *workflow.State, ended []journal.Ended, why string) Verdict {
	e := x.entry(journal.AgentCrashed)
	e.Ended, e.Role, e.From, e.Reason = ended, s.Role, x.t.Status, why
	c := x.def.CrashCounter()
	if c == nil {
		e.Attention = "the agent of " + s.Name + " crashed and no counter bounds that: respawn or cancel it"
		return x.last(e, Crash)
	}
	n := x.t.Counter(c.Name) + 1
	e.Counters = []task.Counter{{Name: c.Name, Value: n, Total: x.total(c.Name) + 1}}
	if n >= c.Max {
		return x.crashLimit(e, n, c.Max)
	}
	if e.Held = x.heldForAnswer(ended...); e.Held != "" {
		return x.last(e, Crash)
	}
	switch s.Respawn {
	case workflow.RespawnNow:
		x.replace(s, &e, respawnDelay(n))
	case workflow.RespawnAuto:
		e.Respawn = x.sig.At.Add(respawnDelay(n))
	}
	return x.last(e, Crash)
}

// replace starts the state's agent again, or later if it needs a workspace and none
// is free.
func (x *decider) replace(s *workflow.State, e *journal.Entry, later time.Duration) {
	p := x.plan(e)
	p.ensure(s)
	if p.starved {
		e.Effects, e.Started = nil, nil
		e.Respawn = x.sig.At.Add(later)
		e.Reason += "; no workspace is free to start it again"
	}
}

func (x *decider) total(counter string) int {
	for _, c := range x.t.Counters {
		if c.Name == counter {
			return c.Total
		}
	}
	return 0
}

func (x *decider) crashLimit(e journal.Entry, n, limit int) Verdict {
	return x.atLimit(e, workflow.OnCrashLimit, Crash, fmt.Sprintf("crash %d of %d in %s", n, limit, x.t.Status))
}

// atLimit takes the edge that answers to a bound that was reached. Where there is none a
// person is called.
func (x *decider) atLimit(e journal.Entry, on workflow.TriggerKind, otherwise Verdict, what string) Verdict {
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		edge := &x.def.Edges[i]
		if !edge.Answers(on, "") || !x.guard(edge) {
			continue
		}
		x.push(e)
		next := x.entry(journal.AutoAdvanced)
		next.Reason = what + ": " + e.Reason
		return x.takeWith(next, edge, Advance)
	}
	e.Attention = fmt.Sprintf("%s, and no edge answers to %s: respawn or cancel it", what, on)
	return x.last(e, otherwise)
}

// respawnDelay lets a machine in trouble breathe before the next try.
func respawnDelay(crashes int) time.Duration {
	return min(10*time.Second<<min(crashes-1, 10), 10*time.Minute)
}
