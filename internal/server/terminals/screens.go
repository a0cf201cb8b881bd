package terminals

import (
	"context"
	"errors"
	"strings"
	"time"

	"orange/internal/core/task"
	"orange/internal/host"
	"orange/internal/host/agents"
	"orange/internal/view/ansi"
	"orange/internal/wire"
)

// maxTailLines is how many lines of an agent's log are shown.
const maxTailLines = 200

// viewedAgent is an agent that a person watches.
type viewedAgent struct {
	agents.Key
	card  agents.Card
	alive bool
}

// ReadScreen implements api.Screens. It returns what the terminal of a running agent shows. For an agent that has no
// terminal or has ended, it returns the last lines of its log.
func (s Viewer) ReadScreen(ctx context.Context, t task.Task, role string) (wire.Screen, error) {
	out := wire.Screen{Role: role, At: time.Now().UTC()}
	a, ok, err := s.findAgent(&t, role)
	if err != nil {
		return out, err
	}
	if !ok {
		out.Note = "no agent is at work"
		return out, nil
	}
	out.Attempt, out.Role, out.Harness, out.Alive = a.Number, a.card.Role, a.card.Harness, a.alive
	if a.alive && s.hasTerminal(&t, a) {
		v, shown, err := s.Host.CaptureScreen(ctx, t.TmuxSession, a.card.Window)
		if shown || err != nil {
			out.Lines = ansi.ParseLines(v.Text)
			if input := s.Host.ReadInput(a.card.Harness, v); shown && !v.InMode {
				out.Seen, out.Dialog, out.Choices = digestScreen(a.Number, v, input), input.Kind == ansi.Dialog, input.Choices()
			}
			return out, err
		}
	}
	lines, err := s.Host.LogLines(&t, a.Key, a.card, maxTailLines)
	if err != nil {
		return out, err
	}
	if strings.TrimSpace(strings.Join(lines, "")) == "" {
		out.Note = "it has written nothing yet"
		if !a.alive {
			out.Note = "it wrote nothing"
		}
		return out, nil
	}
	out.Lines = ansi.ParseLines(strings.Join(lines, "\n"))
	return out, nil
}

// findAgent returns the agent that a person wants to see: the running agent of the role, or else its last one. Without a
// role, the agent of the task's state comes first.
func (s Viewer) findAgent(t *task.Task, role string) (viewedAgent, bool, error) {
	if live, ok := s.livingAttempt(t, role); ok {
		k := agents.Key{Task: t.ID, Number: live.Number}
		card, err := s.Host.Agents.LoadCard(k)
		card.Role = live.Role
		return viewedAgent{k, card, true}, true, err
	}
	for n := t.AttemptCount(); n > 0; n-- {
		k := agents.Key{Task: t.ID, Number: n}
		card, err := s.Host.Agents.LoadCard(k)
		if err == nil && card.Role != "" && (role == "" || role == card.Role) {
			return viewedAgent{k, card, false}, true, nil
		}
	}
	return viewedAgent{}, false, nil
}

// livingAttempt returns the newest running attempt of a role. Without a role, it prefers the role of the task's state.
func (s Viewer) livingAttempt(t *task.Task, role string) (task.Attempt, bool) {
	if role == "" {
		if def, err := s.Definition(t); err == nil {
			if st, ok := def.StateNamed(t.Status); ok && st.Role != "" {
				if a, ok := newestAttempt(t, st.Role); ok {
					return a, true
				}
			}
		}
	}
	return newestAttempt(t, role)
}

// newestAttempt returns the last attempt of a role, or of any role, that is not over. It prefers one that was not ordered to
// end.
func newestAttempt(t *task.Task, role string) (out task.Attempt, ok bool) {
	for _, a := range t.Attempts {
		if (role == "" || role == a.Role) && (!ok || out.Ending || !a.Ending) {
			out, ok = a, true
		}
	}
	return out, ok
}

// hasTerminal reports whether an agent has a terminal.
func (s Viewer) hasTerminal(t *task.Task, a viewedAgent) bool {
	return s.Host.HasTerminal() && t.TmuxSession != "" && a.card.Window != ""
}

// WatchOutput implements api.Screens.
func (s Viewer) WatchOutput(ctx context.Context, t task.Task, role string) (<-chan struct{}, error) {
	a, ok, err := s.findAgent(&t, role)
	if err != nil || !ok || !a.alive {
		return nil, err
	}
	return s.Host.WatchOutput(ctx, a.Key), nil
}

// TypeText implements api.Screens. It pastes the text in one piece, without its last line ends, and presses Enter.
func (s Viewer) TypeText(ctx context.Context, t task.Task, role, text string) error {
	text, err := host.CleanTypedText(text)
	if err != nil {
		return err
	}
	a, err := s.agentWithTerminal(&t, role)
	if err != nil {
		return err
	}
	err = s.Host.TypeText(ctx, t.TmuxSession, a.card.Window, text)
	if errors.Is(err, host.ErrWindowGone) {
		err = errClosed(&t, false)
	}
	return err
}

// agentWithTerminal returns the agent of a role that a person can type to.
func (s Viewer) agentWithTerminal(t *task.Task, role string) (viewedAgent, error) {
	if !s.Host.HasTerminal() {
		return viewedAgent{}, task.Mistakef("agents run without a terminal here, so nothing can be typed: see orange task answer --help")
	}
	a, ok, err := s.findAgent(t, role)
	switch {
	case err != nil:
		return a, err
	case !ok || !a.alive:
		return a, task.Mistakef("no agent of task %s is at work: start one with orange task spawn %s", t.ID, t.ID)
	case !s.hasTerminal(t, a):
		return a, task.Mistakef("the %s of task %s has no terminal: wait until it is started, or see orange task log %s", a.card.Role, t.ID, t.ID)
	}
	return a, nil
}
