package engine

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// maxDetail is the maximum size of an agent's description of its condition, in bytes.
const maxDetail = 500

// decideOnNotice handles a notice about a living attempt's condition and consumption. It changes no status: it records
// the notice for deadlines and people.
func (d *decider) decideOnNotice() Verdict {
	a, ok := d.t.AttemptByNumber(d.sig.Attempt)
	switch {
	case d.sig.Actor != task.Engine:
		return d.refuse("only the engine may report the condition of an attempt")
	case !ok:
		return d.refuse("attempt %d is over or never was", d.sig.Attempt)
	}
	e := d.newEntry(journal.AgentNotice)
	if c := d.sig.Condition; c != nil {
		if !task.KnownCondition(c.Name) {
			return d.refuse("condition %q is not known", c.Name)
		}
		now := *c
		now.Detail, now.Since = clipWords(now.Detail), d.sig.At
		changed := !now.SameAs(a.Condition) && (now.Name != task.Running || a.Condition.Name != "")
		if now.Name == task.Idle && d.sig.Rules >= journal.RulesOfIdle {
			changed = d.turnEnded(&now, a.Condition)
		}
		if changed {
			e.Condition, e.Role, e.Reason = &now, a.Role, conditionText(now)
		}
	}
	if u := d.sig.Usage; u != nil && u.Minus(a.Usage) != (task.Usage{}) {
		e.Usage, e.Role = u, a.Role
	}
	if d.sig.Model != a.Model {
		e.Model = humanize.Prefix(d.sig.Model, maxDetail)
	}
	if e.Condition == nil && e.Usage == nil && e.Model == "" && len(d.sig.Samples) == 0 {
		return Stay
	}
	if e.Condition != nil && !e.Condition.InTurn() {
		d.startWaitingCheck(&e, a)
	}
	return d.finishWith(e, Record)
}

// conditionText returns a condition with its details, as entries record it. People read Condition.Text.
func conditionText(c task.Condition) string {
	text := c.Name
	if c.AsksPerson() {
		text += ", with a question"
	}
	if c.Detail != "" {
		text += ": " + c.Detail
	}
	return text
}

// clipWords truncates an agent's text without splitting a character.
func clipWords(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r != ' ' && unicode.IsSpace(r) }) || strings.Contains(s, "  ") || strings.TrimSpace(s) != s {
		s = strings.Join(strings.Fields(s), " ")
	}
	return humanize.Prefix(s, maxDetail)
}

// endLimited ends an attempt at its provider's limit. This is not a crash: the agent is restarted when the limit ends.
func (d *decider) endLimited(s *workflow.State, ended []journal.Ended, c task.Condition) Verdict {
	e := d.newEntry(journal.AgentLimited)
	e.Ended, e.Role, e.From, e.RespawnAt = ended, s.Role, d.t.Status, c.Until
	e.Reason = fmt.Sprintf("the %s reached its usage limit", s.Role)
	a, _ := d.t.AttemptByNumber(ended[0].Number)
	if a.Harness == "" {
		return d.finishWith(e, Stay)
	}
	e.Limit = &task.Limit{Choice: a.Harness, Until: c.Until}
	role, _ := d.def.RoleNamed(s.Role)
	if c.Until.Sub(d.sig.At) > role.FallbackAfter && d.startNext(s, &e, a, "is at its limit until "+c.Until.UTC().Format("2006-01-02 15:04")) {
		e.RespawnAt = time.Time{}
	}
	return d.finishWith(e, Stay)
}

// explainingLimit returns the limit that explains an end, if there is one.
func (d *decider) explainingLimit(a task.Attempt) (task.Condition, bool) {
	c := a.Condition
	if d.sig.Condition != nil {
		c = *d.sig.Condition
	}
	return c, c.Name == task.Limited && c.Until.After(d.sig.At)
}

// resumeAfterLimit asks a living agent to continue when its limit ends.
func (d *decider) resumeAfterLimit(s *workflow.State) Verdict {
	a, _ := d.t.LiveAttempt(s.Role)
	e := d.newEntry(journal.AgentNotice)
	e.Attempt, e.Role, e.Reason = a.Number, a.Role, "the usage limit is lifted"
	e.Condition = &task.Condition{Name: task.Running, Since: d.sig.At}
	d.newPlan(&e).addEffect(workflow.Effect{Name: workflow.NotifyName(s.Role), Role: s.Role, Message: workflow.MessageReset}, task.ByState)
	return d.finishWith(e, Record)
}

// fallsBack ends a living agent that is at its limit for too long, so that another one continues. Its end is judged as
// an end at a limit.
func (d *decider) fallsBack(s *workflow.State) Verdict {
	a, _ := d.t.LiveAttempt(s.Role)
	role, _ := d.def.RoleNamed(s.Role)
	if !d.hasFallback(role, &a) {
		return Stay
	}
	return d.orderEnd(s, a, fmt.Sprintf("the %s is at its limit until %s, and another agent may go on", a.Role, a.Condition.Until.UTC().Format("2006-01-02 15:04")))
}

// nudgeIdle handles an agent without activity. The first time it asks the agent to continue; the next time it ends the
// agent, whose exit is then judged.
func (d *decider) nudgeIdle(s *workflow.State) Verdict {
	a, _ := d.t.LiveAttempt(s.Role)
	if at := idleAt(s, d.t, &a, d.sig.Active); at.After(d.sig.At) {
		return d.refuse("the %s showed life at %s", s.Role, d.sig.Active.UTC().Format("15:04:05"))
	}
	if !a.Nudged.IsZero() {
		return d.orderEnd(s, a, fmt.Sprintf("nothing was heard of the %s for %s", s.Role, s.Idle))
	}
	e := d.newEntry(journal.AgentNudged)
	e.Role, e.Nudged = a.Role, []int{a.Number}
	e.Reason = fmt.Sprintf("nothing was heard of the %s for %s", s.Role, s.Idle)
	if _, ok := findIdleAgent(d.def, d.t); ok {
		e.Reason = fmt.Sprintf("the turn of the %s ended %s ago, and the task did not move", s.Role, s.Idle)
	}
	message := workflow.MessageNudge
	if role, _ := d.def.RoleNamed(s.Role); role.Protocol != "" {
		message = workflow.MessageState
	}
	p := d.newPlan(&e)
	p.said = e.Reason
	p.addEffect(workflow.Effect{Name: workflow.NotifyName(s.Role), Role: s.Role, Message: message}, task.ByState)
	return d.finishWith(e, Record)
}
