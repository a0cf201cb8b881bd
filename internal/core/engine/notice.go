package engine

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// maxDetail bounds what is kept of an agent's own words about its condition, in bytes.
const maxDetail = 500

// notice is how a living attempt is doing and what it has consumed. It changes no
// status: it is written down so that deadlines and people know.
func (x *decider) notice() Verdict {
	a, ok := x.t.AttemptByNumber(x.sig.Attempt)
	switch {
	case x.sig.Actor != task.Engine:
		return x.refuse("only the engine hears how an attempt is doing")
	case !ok:
		return x.refuse("attempt %d is over or never was", x.sig.Attempt)
	}
	e := x.entry(journal.AgentNotice)
	if c := x.sig.Condition; c != nil {
		if !task.KnownCondition(c.Name) {
			return x.refuse("condition %q is not known", c.Name)
		}
		now := *c
		now.Detail, now.Since = clip(now.Detail), x.sig.At
		news := !now.Is(a.Condition) && (now.Name != task.Running || a.Condition.Name != "")
		if now.Name == task.Idle && x.sig.Rules >= journal.RulesOfIdle {
			news = x.turnEnded(&now, a.Condition)
		}
		if news {
			e.Notice, e.Role, e.Reason = &now, a.Role, conditionText(now)
		}
	}
	if u := x.sig.Usage; u != nil && u.Less(a.Usage) != (task.Usage{}) {
		e.Usage, e.Role = u, a.Role
	}
	if e.Notice == nil && e.Usage == nil && len(x.sig.Samples) == 0 {
		return Stay
	}
	return x.last(e, Record)
}

func conditionText(c task.Condition) string {
	text := c.Name
	if c.Asks() {
		text += ", with a question"
	}
	if c.Detail != "" {
		text += ": " + c.Detail
	}
	return text
}

// clip keeps an agent's words short, and whole characters of them.
func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxDetail {
		return s
	}
	s = s[:maxDetail]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}

// limited ends an attempt that its provider served no more. That is no crash: it is
// started again when the limit is lifted.
func (x *decider) limited(s *workflow.State, ended []journal.Ended, c task.Condition) Verdict {
	e := x.entry(journal.AgentLimited)
	e.Ended, e.Role, e.From, e.Respawn = ended, s.Role, x.t.Status, c.Until
	e.Reason = fmt.Sprintf("the %s reached its usage limit", s.Role)
	a, _ := x.t.AttemptByNumber(ended[0].Number)
	if a.Harness == "" {
		return x.last(e, Stay)
	}
	e.Limit = &task.Limit{Choice: a.Harness, Until: c.Until}
	role, _ := x.def.Role(s.Role)
	if c.Until.Sub(x.sig.At) > role.FallbackAfter && x.startNext(s, &e, a, "is at its limit until "+c.Until.UTC().Format("2006-01-02 15:04")) {
		e.Respawn = time.Time{}
	}
	return x.last(e, Stay)
}

// limit is the condition that explains an end, if a provider's limit does.
func (x *decider) limit(a task.Attempt) (task.Condition, bool) {
	c := a.Condition
	if x.sig.Condition != nil {
		c = *x.sig.Condition
	}
	return c, c.Name == task.Limited && c.Until.After(x.sig.At)
}

// lifted is the moment a living agent's limit is over: it is told to go on.
func (x *decider) lifted(s *workflow.State) Verdict {
	a, _ := x.t.Live(s.Role)
	e := x.entry(journal.AgentNotice)
	e.Attempt, e.Role, e.Reason = a.Number, a.Role, "the usage limit is lifted"
	e.Notice = &task.Condition{Name: task.Running, Since: x.sig.At}
	x.plan(&e).add(workflow.Effect{Name: workflow.NotifyName(s.Role), Role: s.Role, Message: workflow.MessageReset}, task.ByState)
	return x.last(e, Record)
}

// fallsBack ends a living agent that is at its limit for too long, so that another one goes on. Its end is judged as the end at
// a limit.
func (x *decider) fallsBack(s *workflow.State) Verdict {
	a, _ := x.t.Live(s.Role)
	role, _ := x.def.Role(s.Role)
	if !x.others(role, &a) {
		return Stay
	}
	return x.end(s, a, fmt.Sprintf("the %s is at its limit until %s, and another agent may go on", a.Role, a.Condition.Until.UTC().Format("2006-01-02 15:04")))
}

// idle is a moment without a sign of life. The agent is asked once to go on; the next
// time it is ended and judged.
func (x *decider) idle(s *workflow.State) Verdict {
	a, _ := x.t.Live(s.Role)
	if at := idleAt(s, x.t, &a, x.sig.Active); at.After(x.sig.At) {
		return x.refuse("the %s showed life at %s", s.Role, x.sig.Active.UTC().Format("15:04:05"))
	}
	if !a.Nudged.IsZero() {
		return x.end(s, a, fmt.Sprintf("nothing was heard of the %s for %s", s.Role, s.Idle))
	}
	e := x.entry(journal.AgentNudged)
	e.Role, e.Nudged = a.Role, []int{a.Number}
	e.Reason = fmt.Sprintf("nothing was heard of the %s for %s", s.Role, s.Idle)
	if _, ok := idles(x.def, x.t); ok {
		e.Reason = fmt.Sprintf("the turn of the %s ended %s ago, and the task did not move", s.Role, s.Idle)
	}
	message := workflow.MessageNudge
	if role, _ := x.def.Role(s.Role); role.Protocol != "" {
		message = workflow.MessageState
	}
	p := x.plan(&e)
	p.said = e.Reason
	p.add(workflow.Effect{Name: workflow.NotifyName(s.Role), Role: s.Role, Message: message}, task.ByState)
	return x.last(e, Record)
}
