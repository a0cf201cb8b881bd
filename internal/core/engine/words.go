package engine

import (
	"cmp"
	"slices"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// VerbAnswer is the verb by which a person answers what an agent asked. It completes a
// waiting state, or resumes a halt, and moves nothing where an agent waits in its own state; the words
// are written down and told to the agent.
const VerbAnswer = journal.VerbAnswer

// answerVerb is the verb of the edges that an answer takes, "" where nothing was asked.
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

// wordsSection names where a person's words go in TASK.md, by what they belong to.
func wordsSection(verb string) string {
	if verb == VerbAnswer {
		return "Answer"
	}
	return "Feedback"
}

// writePersonWords puts what a person says with a move into TASK.md, where agents read it: an
// answer, or what is to change.
func (p *plan) writePersonWords(e *workflow.Edge, to *workflow.State) {
	if p.d.sig.Note == "" || p.d.sig.Actor != task.Human && p.d.sig.Actor != task.Tracker {
		return
	}
	if p.d.sig.Verb != VerbAnswer && e.As != RequestChanges && !notifiesAgent(e.Do) && !p.mustTell(to) {
		return
	}
	p.writeWords()
}

// writeWords writes a person's words down, and keeps them for whoever is told something.
func (p *plan) writeWords() {
	if p.d.sig.Note == "" {
		return
	}
	p.said = p.d.sig.Note
	p.appendEffect(task.Effect{Do: workflow.WriteSection, By: task.ByState, Arg: wordsSection(p.d.sig.Verb), Text: p.d.sig.Note})
	p.postComment(string(p.d.sig.Actor), p.d.sig.Note)
}

// writeHandoff writes what a stage left for the next into TASK.md, where the task is on no
// board that carries it.
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

// tellAgent gives the message of the state that is entered to its agent, which lives already.
// An agent that this move starts reads it in its prompt.
func (p *plan) tellAgent(to *workflow.State) {
	switch {
	case p.starved:
	case p.d.sig.Verb == VerbAnswer && p.hearingAgent(to) == nil:
		p.startWithAnswer(to)
	case p.d.sig.Verb == VerbAnswer:
		p.addEffect(workflow.Effect{Name: workflow.NotifyName(to.Role), Role: to.Role, Message: workflow.MessageAnswer}, task.ByState)
	case p.mustTell(to):
		p.addEffect(workflow.Effect{Name: workflow.NotifyName(to.Role), Role: to.Role, Message: cmp.Or(to.Prompt, workflow.MessageTurn)}, task.ByState)
		p.e.Effects[len(p.e.Effects)-1].Turn = true
	}
}

// startWithAnswer lets the agent that this move starts begin with the message that a person answered.
func (p *plan) startWithAnswer(to *workflow.State) {
	for i := range p.e.Effects {
		if e := &p.e.Effects[i]; p.d.sig.Rules >= 1 && e.Start && e.Role == to.Role && to.Role != "" && e.Message == "" {
			e.Message, e.Text = workflow.MessageAnswer, p.said
		}
	}
}

// dropTurns forgets messages about a state that the task leaves before its agent heard
// them: they are not true any more.
func (p *plan) dropTurns() {
	for i := range p.d.t.Pending {
		if old := &p.d.t.Pending[i]; old.Turn && !slices.Contains(p.e.Dropped, old.ID) {
			p.e.Dropped = append(p.e.Dropped, old.ID)
		}
	}
}

// hearingAgent is the agent of the state that lived before this move, nil if none did.
func (p *plan) hearingAgent(to *workflow.State) *task.Attempt {
	if to.Role == "" || to.Kind == workflow.Terminal {
		return nil
	}
	a := p.liveAttempt(to.Role)
	if a == nil || slices.ContainsFunc(p.e.Started, func(s task.Attempt) bool { return s.Number == a.Number }) {
		return nil
	}
	return a
}

// mustTell says that the persistent agent of the state lives, did not ask for this move
// itself, and is told of it by no effect so far.
func (p *plan) mustTell(to *workflow.State) bool {
	a := p.hearingAgent(to)
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
