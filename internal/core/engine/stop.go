package engine

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// VerbStop is the verb by which a person ends an agent and keeps the task. An edge of the file with this verb comes first.
const VerbStop = "stop"

// stopAgent orders the end of a living agent. The task stays in its state. If the agent is at work there, the task is held, so
// that nothing starts another one before a person acts.
func (d *decider) stopAgent() Verdict {
	if v := d.checkPersonText("the reason", "stop an agent"); v != "" {
		return v
	}
	a, why := d.findAgentToStop()
	if why == "" {
		why = d.mayNotEnd(a)
	}
	if why == "" {
		why = d.endsLater(a)
	}
	if why != "" {
		return d.refuse("%s", why)
	}
	e := d.newEntry(journal.AgentStopped)
	e.Role, e.Reason = a.Role, fmt.Sprintf("a person stopped attempt %d of the %s", a.Number, a.Role)
	if d.worksHere(a) {
		e.WorkFailed = "a person stopped the " + a.Role
		if words := clipWords(d.sig.Note); words != "" {
			e.WorkFailed += ": " + words
		}
	}
	p := d.newPlan(&e)
	p.keepMessages(a.Number)
	p.addEffect(workflow.Effect{Name: workflow.KillName(a.Role), Role: a.Role}, task.ByState)
	return d.finishWith(e, Record)
}

// findAgentToStop returns the living agent that a person means: that of the role that the request names, else the one at
// work in the state, else the only one. Or it returns why there is none.
func (d *decider) findAgentToStop() (a task.Attempt, why string) {
	s, _ := d.def.StateNamed(d.t.Status)
	role := d.sig.Role
	switch _, known := d.def.RoleNamed(role); {
	case !known && role != "" && role != workflow.CheckRole:
		return a, fmt.Sprintf("role %q is not known: workflow %s has %s", role, d.def.Name, d.roleList())
	case role == "" && s != nil:
		role = s.Role
	}
	switch {
	case role == workflow.CheckRole && !d.def.DeclaresRole(role):
		return a, "a check is a command, and no agent to stop: it ends by itself or at its timeout, or name an agent with --role"
	case role == "":
		return d.onlyLivingAgent()
	}
	a, ok := d.t.LiveAttempt(role)
	if r, _ := d.def.RoleNamed(role); !ok && d.sig.Role == "" && r.StandsInFor != "" {
		a, ok = d.t.LiveAttempt(r.StandsInFor)
	}
	switch {
	case ok:
		return a, ""
	case slices.ContainsFunc(d.t.Attempts, func(a task.Attempt) bool { return a.Role == role }):
		return a, fmt.Sprintf("the %s is being ended already: see orange task explain %s", role, d.t.ID)
	case s != nil && s.Role == role && !d.t.RespawnAt.IsZero():
		return a, fmt.Sprintf("no %s of the task lives: keep Orange from starting one with orange pause %s", role, d.t.ID)
	}
	return a, fmt.Sprintf("no %s of the task lives, so there is nothing to stop: see orange task explain %s", role, d.t.ID)
}

// endsLater returns what would keep an agent alive although its end was ordered, because effects keep their order, or "".
func (d *decider) endsLater(a task.Attempt) string {
	switch {
	case d.t.Paused:
		return fmt.Sprintf("the task is paused, and nothing ends until it goes on: orange resume %s, and then stop the %s", d.t.ID, a.Role)
	case d.t.MergeEffect() != nil:
		return fmt.Sprintf("the work is landing, and nothing ends before that: take it out of the landing queue with orange land remove %s, and then stop the %s", d.t.ID, a.Role)
	}
	for i := range d.t.Pending {
		if p := &d.t.Pending[i]; p.GivenUp && !p.NonBlocking && !isMessageTo(p, a.Number) {
			return fmt.Sprintf("%s was given up, and what follows waits for it: orange resume %s, and then stop the %s", p.Do, d.t.ID, a.Role)
		}
	}
	return ""
}

// worksHere reports whether the state needs the agent: it is of the state's role, or stands in for it.
func (d *decider) worksHere(a task.Attempt) bool {
	s, ok := d.def.StateNamed(d.t.Status)
	return ok && s.Kind == workflow.Agent && (s.Role == a.Role || standsIn(d.def, d.t, s.Role, a.Role))
}

// isMessageTo reports whether an effect sends a message to a living attempt.
func isMessageTo(p *task.Effect, number int) bool {
	info, _ := workflow.EffectNamed(p.Do)
	return info.Notifies && p.Attempt == number && !p.Start
}

// reminders are the messages that mean nothing to an agent that has just started.
var reminders = [...]string{workflow.MessageNudge, workflow.MessageState, workflow.MessageReset}

// keepMessages takes the messages that an attempt has not received from the pending effects, where they would delay its
// end, and keeps them for the next agent of its role.
func (p *plan) keepMessages(number int) {
	for i := range p.d.t.Pending {
		old := &p.d.t.Pending[i]
		if !isMessageTo(old, number) {
			continue
		}
		p.e.Dropped = append(p.e.Dropped, old.ID)
		if !slices.Contains(reminders[:], old.Prompt) {
			p.e.Undelivered = append(p.e.Undelivered, task.Undelivered{Role: old.Role, By: old.By, Message: old.Prompt, Text: old.Text, Turn: old.Turn})
		}
	}
}

// addUndelivered gives a new agent the messages that the last one of its role did not receive before it ended: with
// its prompt those of one kind, and the others after it. A move makes messages about the state it leaves obsolete. The
// agent begins with the task as it is, so the message about an edit gives way to every other one.
func (p *plan) addUndelivered(start *task.Effect) (later []task.Effect) {
	kept := p.e.Undelivered
	p.e.Undelivered = slices.DeleteFunc(slices.Clone(kept), func(m task.Undelivered) bool { return m.Role == start.Role })
	for _, m := range slices.Concat(p.d.t.Undelivered, kept) {
		switch {
		case m.Role != start.Role || m.Turn && p.e.To != "":
		case start.Message == "" || p.d.sig.Rules >= RulesOfUndelivered && start.Message == workflow.MessageEdited:
			start.Message, start.Text = m.Message, m.Text
		case start.Message == m.Message && len(later) == 0: // with the prompt: the agent may end before another message reaches it
			start.Text = strings.TrimSpace(start.Text + "\n\n" + m.Text)
		case m.Message == workflow.MessageEdited && p.d.sig.Rules >= RulesOfUndelivered:
		default:
			later = append(later, task.Effect{Do: workflow.NotifyName(m.Role), By: m.By, Role: m.Role, Attempt: start.Attempt, Window: start.Window, Prompt: m.Message, Text: m.Text, Turn: m.Turn})
		}
	}
	return later
}
