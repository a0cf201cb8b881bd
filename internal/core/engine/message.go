package engine

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// VerbSend is the verb by which a person sends a message to a living agent. It moves nothing.
const VerbSend = "send"

// maxMessage bounds a person's message to an agent, in bytes.
const maxMessage = 64 << 10

// sendMessage delivers a person's message to a living agent. The task stays in its state, and nothing is written into
// TASK.md. A move does not make the message obsolete.
func (d *decider) sendMessage() Verdict {
	if v := d.checkPersonText("the message", "send a message to an agent"); v != "" {
		return v
	}
	if d.sig.Note == "" {
		return d.refuse("the message is empty: give some words")
	}
	a, why := d.findRecipient()
	if why != "" {
		return d.refuse("%s", why)
	}
	e := d.newEntry(journal.AgentMessaged)
	e.Role, e.Reason = a.Role, fmt.Sprintf("a person sent a message to attempt %d of the %s", a.Number, a.Role)
	d.newPlan(&e).messageAgent(a, workflow.MessagePerson, d.sig.Note)
	return d.finishWith(e, Record)
}

// VerbEdit is the verb by which a person changes the summary of a task, its requirements, or both.
const VerbEdit = "edit"

// editTask changes the summary to the one in the request's fields, and ## Requirements to the request's text. The living
// agent of the state's role is told.
func (d *decider) editTask() Verdict {
	if v := d.checkPersonText("the requirements", "edit a task"); v != "" {
		return v
	}
	if at := slices.IndexFunc(d.sig.Fields, func(f signal.Field) bool { return f.Name != "summary" }); at >= 0 {
		return d.refuse("%q is not edited like this: use orange task update %s", d.sig.Fields[at].Name, d.t.ID)
	}
	e := d.newEntry(journal.TaskUpdated)
	if why := d.changeFields(&e); why != "" {
		return d.refuse("%s", why)
	}
	p := d.newPlan(&e)
	if d.sig.Note != "" {
		p.appendEffect(task.Effect{Do: workflow.WriteSection, By: task.ByState, Arg: taskfile.RequirementsSection, Text: d.sig.Note})
	}
	if len(e.Fields) == 0 && len(e.Effects) == 0 {
		return Stay
	}
	if s, ok := d.def.StateNamed(d.t.Status); ok && s.Role != "" {
		if a, why := d.findRecipient(); why == "" {
			e.Role = a.Role
			p.messageAgent(a, workflow.MessageEdited, "")
		}
	}
	return d.finishWith(e, Record)
}

// checkPersonText refuses a request that only a person may make while the task goes on, or whose text is not usable.
func (d *decider) checkPersonText(what, do string) Verdict {
	s, ok := d.def.StateNamed(d.t.Status)
	switch {
	case d.sig.Actor != task.Human && d.sig.Actor != "":
		return d.refuse("only a person may %s", do)
	case ok && s.Kind == workflow.Terminal:
		return d.refuse("the task is over: it is %s", d.t.Status)
	case !utf8.ValidString(d.sig.Note):
		return d.refuse("%s is not text: give UTF-8", what)
	case len(d.sig.Note) > maxMessage:
		return d.refuse("%s has %d bytes and the limit is %d: put it into a file of the repository and name that", what, len(d.sig.Note), maxMessage)
	}
	return ""
}

// messageAgent adds the effect that sends a message to a living agent.
func (p *plan) messageAgent(a task.Attempt, message, text string) {
	p.said = text
	p.addEffect(workflow.Effect{Name: workflow.NotifyName(a.Role), Role: a.Role, Message: message}, task.ByState)
}

// findRecipient returns the living agent that gets a person's message: that of the role that the request names, else
// of the state's role, else the only one. Or it returns why there is none.
func (d *decider) findRecipient() (a task.Attempt, why string) {
	s, _ := d.def.StateNamed(d.t.Status)
	role := d.sig.Role
	if _, ok := d.def.RoleNamed(role); !ok && role != "" {
		return a, fmt.Sprintf("role %q is not known: workflow %s has %s", role, d.def.Name, d.roleList())
	}
	if role == "" && s != nil {
		role = s.Role
	}
	if role == workflow.CheckRole && !d.def.DeclaresRole(role) {
		return a, "a check is a command and takes no messages: wait until it has ended, or name an agent with --role"
	}
	if role == "" {
		return d.onlyLivingAgent()
	}
	a, ok := d.livingAgent(role)
	if r, _ := d.def.RoleNamed(role); !ok && d.sig.Role == "" && r.StandsInFor != "" {
		a, ok = d.livingAgent(r.StandsInFor)
	}
	switch {
	case ok:
		return a, ""
	case s != nil && s.Role == role && s.Kind != workflow.Queued:
		return a, fmt.Sprintf("no %s of the task lives: start one with orange task respawn %s", role, d.t.ID)
	}
	return a, fmt.Sprintf("no %s of the task lives, and %s needs none: see orange task attempts %s", role, d.t.Status, d.t.ID)
}

// livingAgent returns the agent of a role that can still get a message.
func (d *decider) livingAgent(role string) (task.Attempt, bool) {
	a, ok := d.t.LiveAttempt(role)
	return a, ok && !a.Overdue
}

// onlyLivingAgent returns the agent that lives where the state has no role, or why there is not exactly one.
func (d *decider) onlyLivingAgent() (a task.Attempt, why string) {
	var roles []string
	for _, have := range d.t.Attempts {
		if !have.Ending && !have.Overdue && (have.Role != workflow.CheckRole || d.def.DeclaresRole(have.Role)) {
			a, roles = have, append(roles, have.Role)
		}
	}
	switch len(roles) {
	case 0:
		return a, fmt.Sprintf("no agent of the task lives, and %s needs none: see orange task explain %s", d.t.Status, d.t.ID)
	case 1:
		return a, ""
	}
	slices.Sort(roles)
	return a, fmt.Sprintf("several agents live: say which with --role, %s", strings.Join(roles, " or "))
}

func (d *decider) roleList() string {
	names := make([]string, len(d.def.Roles))
	for i := range d.def.Roles {
		names[i] = d.def.Roles[i].Name
	}
	return strings.Join(names, ", ")
}
