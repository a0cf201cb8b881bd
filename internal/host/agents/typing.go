package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/task"
	"orange/internal/outputlog"
	"orange/internal/view/ansi"
)

const (
	// pasting is how long a program takes further input for part of a paste.
	pasting = 300 * time.Millisecond
	// drawing is how long a program may take to show what was pasted.
	drawing = 30 * time.Second
	// redraw is how long to wait for a program to draw more.
	redraw = 200 * time.Millisecond
	// afterHook is how long after its hook a program may still draw the end of its turn.
	afterHook = 2 * time.Second
	// asking is how long a dialog may take to appear after its hook.
	asking = 5 * time.Second
	// looks is how often a changing screen is read before typing is given up.
	looks = 12
	// steady is how many reads must agree, because a screen may be read while it is being drawn.
	steady = 3
)

// message is one message on its way into the terminal of an attempt.
type message struct {
	a    *Agents
	k    Key
	t    task.Task
	e    task.Effect
	card Card
	at   *attempt
	text string

	before string // letters of an unknown screen when the message was pasted into it
}

// screenState is the screen at one moment.
type screenState struct {
	ansi.View
	ansi.Input
}

func (m *message) viewScreen(ctx context.Context) (screenState, error) {
	v, err := m.a.Terminal.ReadView(ctx, m.sessionName(), m.card.Window)
	if err != nil {
		return screenState{}, err
	}
	return screenState{v, m.a.Harnesses.ReadInput(m.card.Harness, v)}, nil
}

// sessionName returns the present name of the task's session, which changes with its branch.
func (m *message) sessionName() string {
	if t, ok, err := m.a.Task(m.k.Task); err == nil && ok {
		return t.TmuxSession
	}
	return m.t.TmuxSession
}

// deliverMessage pastes the message and sends it, if the screen allows that. It only sends a message that an earlier
// try pasted, if the input line still holds it.
func (m *message) deliverMessage(ctx context.Context) error {
	if err := m.a.notWanted(m.k, &m.e); err != nil {
		return err
	}
	told, sent := slices.Contains(m.card.Told, m.e.ID), slices.Contains(m.card.Sent, m.e.ID)
	refused, left := 0, 0
	for range looks {
		s, err := m.viewScreen(ctx)
		if err != nil {
			return err
		}
		why := m.refusalReason(s)
		switch {
		case told && !s.InMode && s.HoldsText(m.text):
			return m.sendMessage(ctx)
		case (sent || told && m.card.Prompted.After(m.card.Pasted)) && !m.inLine(s):
			if left++; left == steady {
				return nil // it left the input line: the agent has it
			}
		case why != "":
			if refused++; refused == steady {
				return m.keepPending(ctx, s, why)
			}
		default:
			pasted, err := m.pasteMessage(ctx, s)
			if err != nil {
				return err
			}
			if pasted {
				return m.sendMessage(ctx)
			}
		}
		if !m.a.pauseFor(ctx, m.at, redraw) {
			return m.a.interruptionError()
		}
	}
	return fmt.Errorf("the screen of attempt %d keeps changing: %w", m.k.Number, task.ErrNotNow)
}

// refusalReason returns why nothing may be typed into a screen now, or "" if it may.
func (m *message) refusalReason(s screenState) string {
	c := m.recordedCondition()
	switch {
	case c.Name == task.Limited: // a limit that is over stays on the screen until something is typed
		return "it has reached a limit of its provider"
	case s.InMode:
		return "somebody reads its history in tmux"
	case s.Kind == ansi.Dialog:
		return "a dialog is open"
	case c.IsBlocked() && !m.wasShown(c) && (s.Kind != ansi.Prompt || m.a.Clock().Sub(c.Since) < asking):
		return "it waits for a person"
	case s.Kind == ansi.Prompt && s.Line != "":
		return "a line is half typed"
	case s.Kind == ansi.Unknown && !m.isResting():
		return "its screen is not known to be a prompt"
	}
	return ""
}

// recordedCondition returns the condition of the attempt in the task's record.
func (m *message) recordedCondition() task.Condition {
	t, ok, err := m.a.Task(m.k.Task)
	if err != nil || !ok {
		t = m.t
	}
	at, _ := t.AttemptByNumber(m.k.Number)
	return at.Condition
}

// isResting reports whether the last hook reported the end of a turn and nothing was drawn since.
func (m *message) isResting() bool {
	card, err := m.a.LoadCard(m.k)
	if err != nil || card.TurnEnded.IsZero() {
		return false
	}
	_, drawn, err := outputlog.Stat(m.a.OutputFile(m.k))
	return err != nil || !drawn.After(card.TurnEnded.Add(afterHook))
}

// pasteMessage pastes the message, if the window has not changed since s was read.
func (m *message) pasteMessage(ctx context.Context, s screenState) (done bool, err error) {
	select {
	case <-m.at.prompted: // of an earlier prompt
	default:
	}
	if s.Kind == ansi.Unknown {
		m.before = ansi.LettersOnly(plainText(s.Text))
	}
	if err := m.updateCard(func(c *Card) { // first, because a lost message is better than a repeated one
		c.Pasted = m.a.Clock().UTC()
		if !slices.Contains(c.Told, m.e.ID) {
			c.Told = append(c.Told, m.e.ID)
		}
	}); err != nil {
		return false, err
	}
	done, err = m.a.Terminal.PasteAt(ctx, m.sessionName(), m.card.Window, s.View, m.text)
	if err == nil && !done {
		err = m.updateCard(func(c *Card) {
			c.Told = slices.DeleteFunc(c.Told, func(id string) bool { return id == m.e.ID })
		})
	}
	return done, err
}

// updateCard changes the attempt's card, and this copy of it.
func (m *message) updateCard(change func(*Card)) error {
	return m.a.updateCard(m.k, func(c *Card) {
		change(c)
		m.card = *c
	})
}

// sendMessage presses Enter while the input line holds the message and nothing else, until the agent acknowledges it.
func (m *message) sendMessage(ctx context.Context) error {
	if !m.a.pauseFor(ctx, m.at, pasting) {
		return m.a.interruptionError()
	}
	for _, wait := range sendTimeouts {
		s, why, err := m.awaitHeld(ctx)
		if err != nil {
			return err
		}
		if why != "" {
			return m.keepPending(ctx, s, why)
		}
		if s, err = m.pressEnter(ctx, s); err != nil {
			return err
		}
		if m.a.awaitPrompted(ctx, m.at, wait) || !m.a.Harnesses.AcknowledgesPrompts(m.card.Harness) {
			return nil
		}
		if m.a.ctx.Err() != nil {
			return task.ErrClosing
		}
		now, err := m.viewScreen(ctx)
		if err != nil {
			return err
		}
		if m.hasLeftLine(s, now) {
			return m.awaitAccepted(ctx, now)
		}
	}
	return fmt.Errorf("attempt %d does not accept the message: check its terminal with orange task attach %s", m.k.Number, m.k.Task)
}

// hasLeftLine reports whether the message is no longer in the input line. For an unknown screen it reports whether
// something was drawn.
func (m *message) hasLeftLine(before, now screenState) bool {
	if now.Kind == ansi.Prompt {
		return !m.inLine(now)
	}
	return now.Kind != ansi.Unknown || now.View != before.View
}

// inLine reports whether an input line still shows the message or its beginning. Enter may have completed a word in it
// instead of sending it.
func (m *message) inLine(s screenState) bool {
	all := ansi.LettersOnly(m.text)
	return s.HoldsText(m.text) || s.Kind == ansi.Prompt && strings.HasPrefix(ansi.LettersOnly(s.Line), all[:min(len(all), beginning)])
}

// awaitAccepted waits until the agent acknowledges a message that has left its input line. A busy agent acknowledges it
// only when its turn ends.
func (m *message) awaitAccepted(ctx context.Context, s screenState) error {
	if m.a.awaitPrompted(ctx, m.at, sendTimeouts[len(sendTimeouts)-1]) || s.Kind == ansi.Prompt {
		return nil
	}
	if m.a.ctx.Err() != nil {
		return task.ErrClosing
	}
	return fmt.Errorf("attempt %d does not acknowledge the message: check its terminal with orange task attach %s", m.k.Number, m.k.Task)
}

// pressEnter presses Enter, if the window has not changed since s was read and the line holds the message, and records
// that the message was sent. While the agent works, its input line may move between two reads.
func (m *message) pressEnter(ctx context.Context, s screenState) (screenState, error) {
	for range looks {
		if err := m.a.notWanted(m.k, &m.e); err != nil {
			return s, err
		}
		done, err := m.a.Terminal.EnterAt(ctx, m.sessionName(), m.card.Window, s.View)
		if err != nil {
			return s, err
		}
		if done {
			return s, m.updateCard(func(c *Card) {
				if !slices.Contains(c.Sent, m.e.ID) {
					c.Sent = append(c.Sent, m.e.ID)
				}
			})
		}
		why := ""
		if s, why, err = m.awaitHeld(ctx); err != nil {
			return s, err
		}
		if why != "" {
			return s, m.keepPending(ctx, s, why)
		}
	}
	return s, fmt.Errorf("the screen of attempt %d keeps changing: %w", m.k.Number, task.ErrNotNow)
}

// awaitHeld waits until the input line shows the message and nothing else. If something else is there, it returns
// why the message must not be sent.
func (m *message) awaitHeld(ctx context.Context) (s screenState, why string, err error) {
	for end := m.a.Clock().Add(drawing); ; {
		if err := m.a.notWanted(m.k, &m.e); err != nil {
			return s, "", err
		}
		last := s
		if s, err = m.viewScreen(ctx); err != nil {
			return s, "", err
		}
		if why = m.notHeld(s); why == "" {
			return s, "", nil
		}
		whole := !strings.HasPrefix(ansi.LettersOnly(m.text), ansi.LettersOnly(s.Line)) // otherwise more of it may appear
		settled := s.Kind == ansi.Prompt && whole && s.Input == last.Input
		if settled || m.a.Clock().After(end) {
			return s, why, nil
		}
		if !m.a.pauseFor(ctx, m.at, redraw) {
			return s, "", m.a.interruptionError()
		}
	}
}

// notHeld returns why a pasted message must not be sent from a screen, or "" if it may.
func (m *message) notHeld(s screenState) string {
	switch {
	case s.InMode:
		return "somebody reads its history in tmux"
	case s.Kind == ansi.Dialog:
		return "a dialog opened while the message was being typed"
	case s.Kind == ansi.Prompt && s.Line == "":
		return "its input line does not show the message"
	case s.Kind == ansi.Prompt && !s.HoldsText(m.text):
		return "somebody typed at the same time, and both texts are in its input line"
	case s.Kind == ansi.Unknown && !m.showsOnlyMessage(s):
		return "its screen changed while the message was being typed"
	}
	return ""
}

// Lengths of parts of a message, in bytes: of the beginning that inLine compares, and of the ending that an unknown
// screen must show.
const (
	beginning = 20
	ending    = 40
)

// showsOnlyMessage reports whether an unknown screen shows nothing new but the message.
func (m *message) showsOnlyMessage(s screenState) bool {
	if m.before == "" {
		return false // the screen was known when the message was pasted
	}
	shown, all := ansi.LettersOnly(plainText(s.Text)), ansi.LettersOnly(m.text)
	return shown == m.before || strings.Contains(shown, all[max(0, len(all)-ending):])
}

// plainText returns a view's text without its styles.
func plainText(text string) string {
	var out strings.Builder
	for _, line := range ansi.ParseLines(text) {
		out.WriteString(strings.TrimRight(line.String(), " "))
		out.WriteByte('\n')
	}
	return out.String()
}
