package verify

import (
	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// turnEndings are the ways in which a turn can end.
var turnEndings = [...]task.Left{task.LeftWords, task.LeftQuestion}

// forgetIdle drops the conditions of agents, except of one whose turn ended in its own state, or
// beside a check: only that makes a difference later. An agent that gets a message runs again once it has
// received it. What its turn ended with is dropped: an agent that asked and then dies leaves
// the task held, like one that ends with a question.
func (m *model) forgetIdle(w *world) {
	t := &w.t
	for i := range t.Attempts {
		a := &t.Attempts[i]
		if a.Condition.Name != "" {
			rests, was := m.remembersRest(w, a), a.Condition
			a.Condition = task.Condition{}
			if rests {
				a.Condition = task.Condition{Name: was.Name, Since: was.Since}
			}
		}
	}
	if t.Answered = nil; t.Unanswered != nil {
		t.Unanswered = nil
		if len(t.Pending) == 0 {
			t.Unanswered = &endedIdle
		}
	}
}

// remembersRest reports whether it makes a difference later that the turn of an agent ended.
func (m *model) remembersRest(w *world, a *task.Attempt) bool {
	status := w.t.Status
	return m.def.PassedEdge(status) != nil && a.Condition.Name == task.Idle || a.Role == m.ownRole(status) && engine.AgentTurnEnded(m.def, &w.t)
}

// endedIdle stands for an agent that ended while it waited for a person. No attempt has its
// number.
var endedIdle = task.Unanswered{Attempt: 1 << 20, Since: origin}

// idleActions returns the ends of turns that move nothing, a person who answers, and a person
// who talks to the agent at its terminal.
func (m *model) idleActions(w *world, out []action) []action {
	t := &w.t
	if s, ok := m.def.StateNamed(t.Status); !ok || s.Kind != workflow.Agent || len(t.Pending) > 0 {
		return out
	}
	waits := t.Unanswered != nil
	for i := range t.Attempts {
		a := &t.Attempts[i]
		switch {
		case a.Role != m.ownRole(t.Status) || w.procs[i] != alive || a.Ending || a.Overdue || t.WorkFailed != "":
		case a.Condition.Name == task.Idle:
			waits = true
			out = append(out, action{kind: signal.Notice, who: task.Engine, word: task.Running, actor: i, human: true})
		default:
			for _, left := range turnEndings {
				out = append(out, action{kind: signal.Notice, who: task.Engine, word: task.Idle, actor: i, left: left})
			}
		}
	}
	if waits {
		out = append(out, action{kind: signal.Request, who: task.Human, word: engine.VerbAnswer, actor: -1, human: true})
	}
	return out
}

// wordsLeft returns the ends of the state's agent, by itself, with a message. For roles with a
// protocol the message is among their possible last reports.
func (m *model) wordsLeft(w *world, i int, out []action) []action {
	a := &w.t.Attempts[i]
	if a.Role != m.ownRole(w.t.Status) || a.Ending || a.Overdue || w.t.WorkFailed != "" {
		return out
	}
	var report *signal.Report
	if role, _ := m.def.RoleNamed(a.Role); role.Protocol != "" {
		report = &signal.Report{Outcome: signal.Unknown}
	}
	for _, c := range m.sectionChoices(w, m.exits[m.stateNumber[w.t.Status]]) {
		for _, left := range turnEndings {
			if report == nil || left == task.LeftQuestion {
				out = append(out, action{event: reportEnd, kind: signal.Exit, who: task.Engine, actor: i, choice: c, report: report, left: left})
			}
		}
	}
	return out
}
