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

// answers is the verb of the edges that an answer takes, "" where nothing was asked.
func (x *decider) answers() string {
	s, ok := x.def.State(x.t.Status)
	switch {
	case ok && s.Kind == workflow.Waiting:
		return "complete"
	case ok && s.Kind == workflow.Halt:
		return "resume"
	}
	return ""
}

// RequestChanges is the verb by which a person sends work back.
const RequestChanges = "request-changes"

// wordsSection names where a person's words go in TASK.md, by what they belong to.
func wordsSection(verb string) string {
	if verb == VerbAnswer {
		return "Answer"
	}
	return "Feedback"
}

// words puts what a person says with a move into TASK.md, where agents read it: an
// answer, or what is to change.
func (p *plan) words(e *workflow.Edge, to *workflow.State) {
	if p.x.sig.Note == "" || p.x.sig.Actor != task.Human && p.x.sig.Actor != task.Tracker {
		return
	}
	if p.x.sig.Verb != VerbAnswer && e.As != RequestChanges && !notifies(e.Do) && !p.mustTell(to) {
		return
	}
	p.writeWords()
}

// writeWords writes a person's words down, and keeps them for whoever is told something.
func (p *plan) writeWords() {
	if p.x.sig.Note == "" {
		return
	}
	p.said = p.x.sig.Note
	p.put(task.Effect{Do: workflow.WriteSection, By: task.ByState, Arg: wordsSection(p.x.sig.Verb), Text: p.x.sig.Note})
	p.say(string(p.x.sig.Actor), p.x.sig.Note)
}

// handover writes what a stage left for the next into TASK.md, where the task is on no
// board that carries it.
func (p *plan) handover() {
	if p.e.Handoff == nil || p.tracker() != "" {
		return
	}
	p.put(task.Effect{Do: workflow.WriteSection, By: task.ByState, Arg: "Handoff", Text: p.e.Handoff.Section()})
}

func notifies(list []workflow.Effect) bool {
	return slices.ContainsFunc(list, func(e workflow.Effect) bool {
		info, _ := workflow.EffectNamed(e.Name)
		return info.Notifies
	})
}

// tell gives the message of the state that is entered to its agent, which lives already.
// An agent that this move starts reads it in its prompt.
func (p *plan) tell(to *workflow.State) {
	switch {
	case p.starved:
	case p.x.sig.Verb == VerbAnswer && p.hears(to) == nil:
		p.startWithAnswer(to)
	case p.x.sig.Verb == VerbAnswer:
		p.add(workflow.Effect{Name: workflow.NotifyName(to.Role), Role: to.Role, Message: workflow.MessageAnswer}, task.ByState)
	case p.mustTell(to):
		p.add(workflow.Effect{Name: workflow.NotifyName(to.Role), Role: to.Role, Message: cmp.Or(to.Prompt, workflow.MessageTurn)}, task.ByState)
		p.e.Effects[len(p.e.Effects)-1].Turn = true
	}
}

// startWithAnswer lets the agent that this move starts begin with the message that a person answered.
func (p *plan) startWithAnswer(to *workflow.State) {
	for i := range p.e.Effects {
		if e := &p.e.Effects[i]; p.x.sig.Rules >= 1 && e.Start && e.Role == to.Role && to.Role != "" && e.Message == "" {
			e.Message, e.Text = workflow.MessageAnswer, p.said
		}
	}
}

// dropTurns forgets messages about a state that the task leaves before its agent heard
// them: they are not true any more.
func (p *plan) dropTurns() {
	for i := range p.x.t.Pending {
		if old := &p.x.t.Pending[i]; old.Turn && !slices.Contains(p.e.Dropped, old.ID) {
			p.e.Dropped = append(p.e.Dropped, old.ID)
		}
	}
}

// hears is the agent of the state that lived before this move, nil if none did.
func (p *plan) hears(to *workflow.State) *task.Attempt {
	if to.Role == "" || to.Kind == workflow.Terminal {
		return nil
	}
	a := p.live(to.Role)
	if a == nil || slices.ContainsFunc(p.e.Started, func(s task.Attempt) bool { return s.Number == a.Number }) {
		return nil
	}
	return a
}

// mustTell says that the persistent agent of the state lives, did not ask for this move
// itself, and is told of it by no effect so far.
func (p *plan) mustTell(to *workflow.State) bool {
	a := p.hears(to)
	if a == nil || p.x.sig.Rules < 1 || p.x.sig.Told || p.x.sig.Attempt == a.Number {
		return false
	}
	role, _ := p.x.def.Role(to.Role)
	return role.Session == workflow.Persistent && !slices.ContainsFunc(p.e.Effects, func(e task.Effect) bool {
		info, _ := workflow.EffectNamed(e.Do)
		return info.Notifies && e.Attempt == a.Number
	})
}

func (p *plan) delivery() task.Delivery {
	if n := p.e.New; n != nil {
		return n.Delivery
	}
	return p.x.t.Delivery
}
