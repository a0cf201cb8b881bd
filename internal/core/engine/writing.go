package engine

import (
	"cmp"
	"slices"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// VerbAnswer is the verb by which a person answers an agent's question. It completes a waiting state, or resumes a
// halt, and moves nothing where an agent waits in its own state. The answer is written to TASK.md and delivered to the
// agent.
const VerbAnswer = journal.VerbAnswer

// answerVerb returns the verb of the edges that an answer takes, or "" where no question is open.
func (d *decider) answerVerb() string {
	s, ok := d.def.StateNamed(d.t.Status)
	switch {
	case ok && s.Kind == workflow.Waiting:
		return "complete"
	case ok && s.Kind == workflow.Halt:
		return "resume"
	}
	return ""
}

// Complete is the verb that finishes the state a task is in.
const Complete = "complete"

// RequestChanges is the verb by which a person sends work back.
const RequestChanges = "request-changes"

// wordsSection returns the section of TASK.md for a person's text, by the verb that it belongs to.
func wordsSection(verb string) string {
	if verb == VerbAnswer {
		return "Answer"
	}
	return "Feedback"
}

// writePersonWords writes a person's text with a move into TASK.md, where agents read it: an answer, or requested
// changes.
func (p *plan) writePersonWords(e *workflow.Edge, to *workflow.State) {
	if p.d.sig.Note == "" || p.d.sig.Actor != task.Human && p.d.sig.Actor != task.Tracker {
		return
	}
	if p.d.sig.Verb != VerbAnswer && e.As != RequestChanges && !notifiesAgent(e.Do) && !p.mustNotify(to) {
		return
	}
	p.writeWords()
}

// writeWords writes a person's text into TASK.md, and keeps it for the message to an agent.
func (p *plan) writeWords() {
	if p.d.sig.Note == "" {
		return
	}
	p.said = p.d.sig.Note
	p.appendEffect(task.Effect{Do: workflow.WriteSection, By: task.ByState, Arg: wordsSection(p.d.sig.Verb), Text: p.d.sig.Note})
	p.postComment(string(p.d.sig.Actor), p.d.sig.Note)
}

// writeHandoff writes one stage's handoff to the next into TASK.md, unless a board carries it.
func (p *plan) writeHandoff() {
	if p.e.Handoff == nil || p.trackerRef() != "" {
		return
	}
	p.appendEffect(task.Effect{Do: workflow.WriteSection, By: task.ByState, Arg: "Handoff", Text: p.e.Handoff.Section()})
}

func notifiesAgent(list []workflow.Effect) bool {
	return slices.ContainsFunc(list, func(e workflow.Effect) bool {
		info, _ := workflow.EffectNamed(e.Name)
		return info.Notifies
	})
}

// notifyAgent sends the message of the state being entered to its agent, which lives already. An agent that this move
// starts reads it in its prompt.
func (p *plan) notifyAgent(to *workflow.State) {
	switch {
	case p.unavailable:
	case p.d.sig.Verb == VerbAnswer && p.liveAgentOf(to) == nil:
		p.startWithAnswer(to)
	case p.d.sig.Verb == VerbAnswer:
		p.addEffect(workflow.Effect{Name: workflow.NotifyName(to.Role), Role: to.Role, Message: workflow.MessageAnswer}, task.ByState)
	case p.mustNotify(to):
		p.addEffect(workflow.Effect{Name: workflow.NotifyName(to.Role), Role: to.Role, Message: cmp.Or(to.Prompt, workflow.MessageTurn)}, task.ByState)
		p.e.Effects[len(p.e.Effects)-1].Turn = true
	}
}

// startWithAnswer makes the agent that this move starts begin with the message that a person answered.
func (p *plan) startWithAnswer(to *workflow.State) {
	for i := range p.e.Effects {
		if e := &p.e.Effects[i]; p.d.sig.Rules >= 1 && e.Start && e.Role == to.Role && to.Role != "" && e.Message == "" {
			e.Message, e.Text = workflow.MessageAnswer, p.said
		}
	}
}

// dropTurns drops pending messages about the state that the task leaves: they are obsolete.
func (p *plan) dropTurns() {
	for i := range p.d.t.Pending {
		if old := &p.d.t.Pending[i]; old.Turn && !slices.Contains(p.e.Dropped, old.ID) {
			p.e.Dropped = append(p.e.Dropped, old.ID)
		}
	}
}

// liveAgentOf returns the agent of the state that lived before this move, or nil if none did.
func (p *plan) liveAgentOf(to *workflow.State) *task.Attempt {
	if to.Role == "" || to.Kind == workflow.Terminal {
		return nil
	}
	a := p.liveAttempt(to.Role)
	if a == nil || slices.ContainsFunc(p.e.Started, func(s task.Attempt) bool { return s.Number == a.Number }) {
		return nil
	}
	return a
}

// mustNotify reports whether the persistent agent of the state lives, did not request this move itself, and gets no
// message about it from the effects so far.
func (p *plan) mustNotify(to *workflow.State) bool {
	a := p.liveAgentOf(to)
	if a == nil || p.d.sig.Rules < 1 || p.d.sig.Told || p.d.sig.Attempt == a.Number {
		return false
	}
	role, _ := p.d.def.RoleNamed(to.Role)
	return role.Session == workflow.Persistent && !slices.ContainsFunc(p.e.Effects, func(e task.Effect) bool {
		info, _ := workflow.EffectNamed(e.Do)
		return info.Notifies && e.Attempt == a.Number
	})
}

func (p *plan) deliveryPolicy() task.Delivery {
	if n := p.e.New; n != nil {
		return n.Delivery
	}
	return p.d.t.Delivery
}
