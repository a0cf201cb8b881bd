package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/question"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// findRestingAgent finds the agent whose turn ended, or failed, in this visit to a state of its own role, or of a role
// that it stands in for. No deadline counts its time.
func findRestingAgent(def *workflow.Definition, t *task.Task) (task.Attempt, bool) {
	s, ok := def.StateNamed(t.Status)
	if !ok || s.Kind != workflow.Agent || t.Rules < journal.RulesOfIdle {
		return task.Attempt{}, false
	}
	for _, a := range t.Attempts {
		own := a.Role == s.Role || standsIn(def, t, s.Role, a.Role)
		if own && !a.Ending && !a.Overdue && !a.Condition.InTurn() && !a.Condition.Since.Before(t.Since) {
			return a, true
		}
	}
	return task.Attempt{}, false
}

// findIdleAgent finds the agent that waits for a person's answer: its turn ended in its own state, and no message to it
// is pending.
func findIdleAgent(def *workflow.Definition, t *task.Task) (task.Attempt, bool) {
	a, ok := findRestingAgent(def, t)
	return a, ok && !slices.ContainsFunc(t.Pending, func(p task.Effect) bool {
		info, _ := workflow.EffectNamed(p.Do)
		return p.Attempt == a.Number && (p.Start || info.Notifies)
	})
}

// waitsForAnswer returns who waits for a person's answer, or nil: an idle agent, or an agent that ended while idle and
// was not replaced.
func (d *decider) waitsForAnswer() *task.Unanswered {
	if a, ok := findIdleAgent(d.def, d.t); ok {
		return &task.Unanswered{Attempt: a.Number, Role: a.Role, Asks: a.Condition.AsksPerson(), Since: a.Condition.Since}
	}
	s, ok := d.def.StateNamed(d.t.Status)
	if !ok || s.Kind != workflow.Agent || d.t.Unanswered == nil {
		return nil
	}
	if _, live := d.t.LiveAttempt(s.Role); live {
		return nil
	}
	return d.t.Unanswered
}

// WaitsForAnswer reports whether an agent of the task waits for a person's answer, or waited when it ended.
func WaitsForAnswer(def *workflow.Definition, t task.Task) bool {
	return (&decider{def: def, t: &t}).waitsForAnswer() != nil
}

// AgentTurnEnded reports whether the turn of the state's agent ended, even if a message to it is pending.
func AgentTurnEnded(def *workflow.Definition, t *task.Task) bool {
	_, ok := findRestingAgent(def, t)
	return ok
}

// attemptLives reports whether an attempt has not ended.
func (d *decider) attemptLives(number int) bool {
	_, ok := d.t.AttemptByNumber(number)
	return ok
}

// leftBy classifies the message with which an agent's turn ended.
func leftBy(message string) task.Left {
	switch {
	case strings.TrimSpace(message) == "":
		return ""
	case question.AsksReader(message):
		return task.LeftQuestion
	}
	return task.LeftWords
}

// classifyLastMessage classifies the last message of an agent that ended.
func (d *decider) classifyLastMessage() {
	if d.sig.Kind == signal.Exit && d.sig.Left == "" && d.sig.Rules >= journal.RulesOfIdle {
		d.sig.Left = leftBy(d.sig.Final)
	}
}

// turnEnded completes the condition of an agent whose turn ended, and reports whether it is new. A repeated idle notice
// is not.
func (d *decider) turnEnded(now *task.Condition, was task.Condition) (changed bool) {
	if now.Left == "" {
		now.Left = leftBy(d.sig.Final)
	}
	return was.Name != task.Idle || was.Since.Before(d.t.Since) || now.Left != "" && now.Left != was.Left
}

// answerIdle delivers a person's answer to a waiting agent. The task stays in its state. If the agent ended meanwhile,
// a new attempt begins with the answer.
func (d *decider) answerIdle() Verdict {
	w := d.waitsForAnswer()
	switch {
	case w == nil:
		return d.refuseAnswer()
	case d.sig.Actor != task.Human && d.sig.Actor != "":
		return d.refuse("only a person may answer the %s", w.Role)
	}
	e := d.newEntry(journal.AgentAnswered)
	e.Role, e.Reason = w.Role, fmt.Sprintf("a person answered the %s", w.Role)
	p := d.newPlan(&e)
	p.writeWords()
	name, role := workflow.NotifyName(w.Role), w.Role
	if !d.attemptLives(w.Attempt) {
		s, _ := d.def.StateNamed(d.t.Status)
		name, role = workflow.SpawnName(s.Role), s.Role
	}
	switch p.addEffect(workflow.Effect{Name: name, Role: role, Message: workflow.MessageReply}, task.ByState); {
	case p.busy != "":
		return d.refuse("%s: try again when it is done", d.othersWork(p.busy))
	case p.unavailable:
		return d.refuseUnavailable()
	}
	if tells := &e.Effects[len(e.Effects)-1]; !tells.Start { // the next move makes it obsolete; TASK.md keeps the answer
		tells.Turn = true
	}
	return d.finishWith(e, Record)
}

// refuseAnswer refuses an answer that no agent waits for, and says who gave the last one.
func (d *decider) refuseAnswer() Verdict {
	a := d.t.Answered
	if a == nil {
		return d.refuse("%s waits for no answer", d.t.Status)
	}
	who := "a person"
	if a.By != task.Human && a.By != "" {
		who = "the " + string(a.By)
	}
	if a.Via != "" {
		who += " (" + a.Via + ")"
	}
	return d.refuse("%s waits for no answer: %s answered at %s", d.t.Status, who, a.At.UTC().Format(time.RFC3339))
}

// noAnswer handles an agent that ended by itself and left a message that does not move the task. A question is for a
// person: the task is held. Other messages are counted, and the agent is asked to report. Where ok is false the end is
// not of this kind, and is a crash.
func (d *decider) noAnswer(s *workflow.State, a task.Attempt, ended journal.Ended, why string) (v Verdict, ok bool) {
	byItself := d.sig.Left != "" && d.sig.Code == 0 && !a.Overdue
	if byItself && d.sig.Left == task.LeftQuestion && (d.sig.Report == nil || d.sig.Report.Code == "") {
		e := d.newEntry(journal.AgentSilent)
		e.Ended, e.Role, e.From, e.Reason = []journal.Ended{ended}, a.Role, d.t.Status, why
		e.WorkFailed = fmt.Sprintf("the %s ended with a question, and waits for an answer", a.Role)
		e.Unanswered = &task.Unanswered{Attempt: a.Number, Role: a.Role, Asks: true, Since: d.sig.At}
		return d.finishWith(e, Stay), true
	}
	c := d.def.SilenceCounter()
	if c == nil || !byItself && !d.endedWithUnusableReport(s, a) {
		return "", false
	}
	return d.countSilence(s, c, a, d.whatWasSeen(why)), true
}

// heldForAnswer returns the reason to hold the task if an agent ended while a person was asked, else "". Another agent
// would only ask again, and the answer would reach nobody.
func (d *decider) heldForAnswer(ended ...journal.Ended) string {
	w := d.waitsForAnswer()
	if w == nil || !w.Asks || len(ended) == 0 || w.Attempt != ended[0].Number {
		return ""
	}
	return fmt.Sprintf("the %s ended while it waited for an answer", w.Role)
}

// keepUnanswered records that an agent ended while it waited for a person's answer, where the task stays without an
// agent.
func (d *decider) keepUnanswered(w *task.Unanswered, a task.Attempt) {
	if w == nil || w.Attempt != a.Number || len(d.entries) != 1 {
		return
	}
	if e := &d.entries[0]; e.To == "" && e.Unanswered == nil {
		e.Unanswered = w
	}
}
