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
	// pasting is how long a program takes what comes for part of a paste.
	pasting = 300 * time.Millisecond
	// drawing is how long a program may take to show what was pasted.
	drawing = 30 * time.Second
	// redraw is how long to wait for a program to draw more.
	redraw = 200 * time.Millisecond
	// afterHook is how much later than its hook a program may still draw what ends its turn.
	afterHook = 2 * time.Second
	// asking is how long a dialog may take to appear after its hook.
	asking = 5 * time.Second
	// looks is how often a screen is looked at that changes while it is typed at.
	looks = 12
	// steady is how many looks in a row must refuse: what is drawn in between may be half a screen.
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

	before string // letters of an unknown screen when the message was pasted at it
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

// sessionName is that of the task as it is called now.
func (m *message) sessionName() string {
	if t, ok, err := m.a.Engine.Task(m.k.Task); err == nil && ok {
		return t.TmuxSession
	}
	return m.t.TmuxSession
}

// deliverMessage types the message and sends it, if the screen takes it. A message that an earlier try
// pasted is only sent, unless nothing is left of it.
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
				return m.keepOwed(ctx, s, why)
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
	return fmt.Errorf("the screen of attempt %d changes all the time: %w", m.k.Number, task.ErrNotNow)
}

// refusalReason says why nothing may be typed at a screen now; "" means that it may.
func (m *message) refusalReason(s screenState) string {
	c := m.recordedCondition()
	switch {
	case c.Name == task.Limited: // a limit that is over stays on the screen until something is typed
		return "its provider serves it no more for now"
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

// recordedCondition is how the attempt is doing by the record.
func (m *message) recordedCondition() task.Condition {
	t, ok, err := m.a.Engine.Task(m.k.Task)
	if err != nil || !ok {
		t = m.t
	}
	at, _ := t.AttemptByNumber(m.k.Number)
	return at.Condition
}

// isResting says that the last hook told the end of a turn, and that nothing was drawn since.
func (m *message) isResting() bool {
	card, err := m.a.LoadCard(m.k)
	if err != nil || card.Rested.IsZero() {
		return false
	}
	_, drawn, err := outputlog.Stat(m.a.OutputFile(m.k))
	return err != nil || !drawn.After(card.Rested.Add(afterHook))
}

// pasteMessage pastes the message, if the window is still as it was seen.
func (m *message) pasteMessage(ctx context.Context, s screenState) (done bool, err error) {
	select {
	case <-m.at.prompted: // of an earlier prompt
	default:
	}
	if s.Kind == ansi.Unknown {
		m.before = ansi.LettersOnly(plainText(s.Text))
	}
	if err := m.updateCard(func(c *Card) { // better untold than told twice
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

// sendMessage presses Enter while the input line holds the message and nothing else, until the agent
// says that it has taken it in.
func (m *message) sendMessage(ctx context.Context) error {
	if !m.a.pauseFor(ctx, m.at, pasting) {
		return m.a.interruptionError()
	}
	for _, wait := range patience {
		s, why, err := m.awaitHeld(ctx)
		if err != nil {
			return err
		}
		if why != "" {
			return m.keepOwed(ctx, s, why)
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
			return m.awaitHeard(ctx, now)
		}
	}
	return fmt.Errorf("attempt %d does not take the message: look with orange task attach %s", m.k.Number, m.k.Task)
}

// hasLeftLine says whether the message is no longer in the input line. Of an unknown screen that is known
// only if something was drawn.
func (m *message) hasLeftLine(before, now screenState) bool {
	if now.Kind == ansi.Prompt {
		return !m.inLine(now)
	}
	return now.Kind != ansi.Unknown || now.View != before.View
}

// inLine says whether an input line still shows the message, or its beginning: Enter may have completed a word in it
// instead of sending it.
func (m *message) inLine(s screenState) bool {
	all := ansi.LettersOnly(m.text)
	return s.HoldsText(m.text) || s.Kind == ansi.Prompt && strings.HasPrefix(ansi.LettersOnly(s.Line), all[:min(len(all), beginning)])
}

// awaitHeard waits for the word of an agent that took the message out of its line. One that is
// busy keeps it until its turn ends, and says so then.
func (m *message) awaitHeard(ctx context.Context, s screenState) error {
	if m.a.awaitPrompted(ctx, m.at, patience[len(patience)-1]) || s.Kind == ansi.Prompt {
		return nil
	}
	if m.a.ctx.Err() != nil {
		return task.ErrClosing
	}
	return fmt.Errorf("attempt %d does not say that it has the message: look with orange task attach %s", m.k.Number, m.k.Task)
}

// pressEnter presses the key, if the window is still as it was seen and the line holds the message, and notes that the
// message is sent. While the agent works its input line may move with every look.
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
			return s, m.keepOwed(ctx, s, why)
		}
	}
	return s, fmt.Errorf("the screen of attempt %d changes all the time: %w", m.k.Number, task.ErrNotNow)
}

// awaitHeld waits until the input line shows the message and nothing else, and says why it must not be
// sent if something else is there.
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
		whole := !strings.HasPrefix(ansi.LettersOnly(m.text), ansi.LettersOnly(s.Line)) // else more of it may come
		settled := s.Kind == ansi.Prompt && whole && s.Input == last.Input
		if settled || m.a.Clock().After(end) {
			return s, why, nil
		}
		if !m.a.pauseFor(ctx, m.at, redraw) {
			return s, "", m.a.interruptionError()
		}
	}
}

// notHeld says why a pasted message must not be sent from a screen; "" if it may.
func (m *message) notHeld(s screenState) string {
	switch {
	case s.InMode:
		return "somebody reads its history in tmux"
	case s.Kind == ansi.Dialog:
		return "a dialog opened while it was told something"
	case s.Kind == ansi.Prompt && s.Line == "":
		return "its input line does not show what it was told"
	case s.Kind == ansi.Prompt && !s.HoldsText(m.text):
		return "somebody typed while it was told something, and both are in its input line"
	case s.Kind == ansi.Unknown && !m.showsOnlyMessage(s):
		return "its screen changed while it was told something"
	}
	return ""
}

// How many characters of a message its beginning has, and how many of its end an unknown screen must show to be
// explained by it.
const (
	beginning = 20
	ending    = 40
)

// showsOnlyMessage says whether an unknown screen shows nothing new but the message.
func (m *message) showsOnlyMessage(s screenState) bool {
	if m.before == "" {
		return false // it was not unknown before
	}
	shown, all := ansi.LettersOnly(plainText(s.Text)), ansi.LettersOnly(m.text)
	return shown == m.before || strings.Contains(shown, all[max(0, len(all)-ending):])
}

// plainText is a view's text without its looks.
func plainText(text string) string {
	var out strings.Builder
	for _, line := range ansi.ParseLines(text) {
		out.WriteString(strings.TrimRight(line.String(), " "))
		out.WriteByte('\n')
	}
	return out.String()
}
