// Package terminals shows agents to people: their attempts, conversations and screens, which a person may type into. It
// chooses the attempt that a person means; the host does the rest.
package terminals

import (
	"context"
	"fmt"
	"slices"

	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/host"
	"orange/internal/host/agents"
	"orange/internal/view/ansi"
	"orange/internal/wire"
)

// Viewer implements api.Attempts and api.Screens.
type Viewer struct {
	Host       *host.Host
	Definition func(t *task.Task) (*workflow.Definition, error)
}

// maxLogLines is how many lines of an output without turns are returned.
const maxLogLines = 2000

// ListAttempts implements api.Attempts.
func (s Viewer) ListAttempts(t task.Task) ([]wire.Attempt, error) {
	var out []wire.Attempt
	for _, n := range s.Host.Agents.AttemptNumbers(&t) {
		k := agents.Key{Task: t.ID, Number: n}
		card, err := s.Host.Agents.LoadCard(k)
		if err != nil {
			return nil, err
		}
		a := wire.Attempt{
			Number: n, Role: card.Role, Harness: card.Harness, Model: card.Model, Window: card.Window, Session: card.Session,
			Log: s.Host.Agents.OutputFile(k), Code: card.Code, Final: card.Final, Usage: card.Usage,
		}
		if live, ok := t.AttemptByNumber(n); ok {
			a.Alive, a.Since, a.Condition = true, live.Since, live.Condition
		}
		out = append(out, a)
	}
	return out, nil
}

// AttachCommand implements api.Attempts.
func (s Viewer) AttachCommand(t task.Task, role string) ([]string, error) {
	if !s.Host.HasTerminal() {
		return nil, task.Mistakef("agents run without a terminal here: see orange task log -f %s", t.ID)
	}
	if t.TmuxSession == "" && slices.ContainsFunc(t.Attempts, func(a task.Attempt) bool { return !a.Running && !a.Ending }) {
		return nil, task.Mistakef("the agent of task %s is being started: try again in a moment", t.ID)
	}
	if t.TmuxSession == "" {
		return nil, task.Mistakef("task %s has no terminal session: start its agent with orange task spawn %s", t.ID, t.ID)
	}
	window := ""
	for _, a := range t.Attempts {
		card, err := s.Host.Agents.LoadCard(agents.Key{Task: t.ID, Number: a.Number})
		if err == nil && card.Window != "" && (role == "" || role == a.Role) {
			window = card.Window
		}
	}
	if role != "" && window == "" {
		return nil, task.Mistakef("no %s of task %s is alive", role, t.ID)
	}
	return s.Host.AttachArgv(t.TmuxSession, window), nil
}

// HandleHook implements api.Attempts.
func (s Viewer) HandleHook(ctx context.Context, c agent.Caller, name, event string, payload []byte) error {
	return s.Host.Agents.ReceiveHook(ctx, agents.Key{Task: c.Task, Number: c.Attempt}, name, event, payload)
}

// AttemptLog implements api.Attempts.
func (s Viewer) AttemptLog(t task.Task, number int, role, after string) (wire.Log, error) {
	number, card, err := s.findAttempt(&t, number, role)
	if err != nil {
		return wire.Log{}, err
	}
	_, alive := t.AttemptByNumber(number)
	out := wire.Log{Attempt: number, Role: card.Role, Harness: card.Harness, Alive: alive, Form: wire.FormTranscript}
	said, err := s.Host.Agents.AttemptConversation(&t, number, after)
	if err != nil {
		return out, err
	}
	if after != "" || len(said.Turns) > 0 {
		out.Turns, out.Skipped, out.Cut, out.Next = said.Turns, said.Skipped, said.Cut, said.Next
		return out, nil
	}
	out.Form = wire.FormOutput
	if card.Window != "" {
		out.Form = wire.FormTerminal
	}
	out.Lines, out.Cut, err = s.Host.PrintedLines(agents.Key{Task: t.ID, Number: number}, card, maxLogLines)
	return out, err
}

// LastMessage implements api.Attempts.
func (s Viewer) LastMessage(t task.Task, number int, role string) (wire.Message, error) {
	number, card, err := s.findAttempt(&t, number, role)
	if err != nil {
		return wire.Message{}, err
	}
	_, alive := t.AttemptByNumber(number)
	text, err := s.Host.Agents.LastMessage(&t, number)
	return wire.Message{Attempt: number, Role: card.Role, Alive: alive, Text: text}, err
}

// findAttempt finds the newest attempt that has the number, unless that is 0, and the role, unless that is "".
func (s Viewer) findAttempt(t *task.Task, number int, role string) (int, agents.Card, error) {
	list := s.Host.Agents.AttemptNumbers(t)
	for i := len(list) - 1; i >= 0; i-- {
		card, err := s.Host.Agents.LoadCard(agents.Key{Task: t.ID, Number: list[i]})
		if err != nil {
			return 0, card, err
		}
		if (number == 0 || number == list[i]) && (role == "" || role == card.Role) {
			return list[i], card, nil
		}
	}
	what := "attempt"
	if role != "" {
		what += " of role " + ansi.OneLine(role)
	}
	if number > 0 {
		what += fmt.Sprintf(" with number %d", number)
	}
	return 0, agents.Card{}, task.Mistakef("task %s has no %s: see orange task attempts %s", t.ID, what, t.ID)
}
