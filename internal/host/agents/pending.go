package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/lazy"
	"orange/internal/outputlog"
	"orange/internal/view/ansi"
)

const (
	maxShown   = 480 // bytes of a screen that the inbox shows
	settleTime = 5 * time.Second
	// recheckInterval is how often to check, while a message is pending and nothing is drawn on the screen, whether the
	// message is still pending and whether tmux has left its own mode.
	recheckInterval = 15 * time.Second
	modeEnds        = time.Second
)

// keepPending keeps the message pending: watchScreen retries it when the screen changes. If the agent waits for a person,
// keepPending reports what the screen shows.
func (m *message) keepPending(ctx context.Context, s screenState, why string) error {
	if err := m.showIfWaits(ctx, s, why); err != nil {
		m.a.Log.Warn("report what a screen shows", "component", "agents", "task", m.k.Task, "attempt", m.k.Number, "error", err)
	}
	m.watchScreen()
	return fmt.Errorf("cannot send a message to attempt %d now: %s: %w", m.k.Number, why, task.ErrNotNow)
}

// showIfWaits reports why the message is pending, unless the agent works or its hooks reported what it waits for.
func (m *message) showIfWaits(ctx context.Context, s screenState, why string) error {
	m.at.reports.Lock()
	defer m.at.reports.Unlock()
	c, ok := m.waitingCondition(s, why)
	if !ok {
		return nil
	}
	return m.showCondition(ctx, c)
}

// waitingCondition returns the condition of an agent whose screen takes no message. It returns false for an agent that
// works, because its screen changes by itself.
func (m *message) waitingCondition(s screenState, why string) (task.Condition, bool) {
	c := m.recordedCondition()
	if c.IsBlocked() && !m.wasShown(c) {
		return task.Condition{}, false // its hooks reported what it waits for
	}
	if n, ok := m.a.readScreen(m.card.Harness, s.Text); ok && s.Kind != ansi.Prompt && n.Condition.IsBlocked() && n.Condition.Name != task.Limited {
		return n.Condition, true // above a prompt the same text may be part of the work
	}
	if c.Name != task.Idle && !m.wasShown(c) && (!m.a.Harnesses.AsksFirst(m.card.Harness) || c.Name == task.Running && !m.isSettled()) {
		return task.Condition{}, false
	}
	detail := "a message to it waits, because " + why
	if s.Kind != ansi.Prompt { // do not show what a person types
		if words := m.screenEnd(s.Text, maxShown-len(detail)); words != "" {
			detail += ": " + words
		}
	}
	return task.Condition{Name: task.WaitingInput, Detail: detail}, true
}

// isSettled reports whether nothing was drawn for a while.
func (m *message) isSettled() bool {
	_, drawn, err := outputlog.Stat(m.a.OutputFile(m.k))
	return err != nil || m.a.Clock().Sub(drawn) > settleTime
}

// wasShown reports whether a condition is the one that was last submitted because of the screen.
func (m *message) wasShown(c task.Condition) bool {
	return m.card.Shown != nil && c.Name == m.card.Shown.Name && c.Detail == m.card.Shown.Detail
}

// showCondition submits a condition that was read from the screen, and keeps the one before. It does not submit the
// same reason again when only the screen differs.
func (m *message) showCondition(ctx context.Context, c task.Condition) error {
	now := m.recordedCondition()
	if m.wasShown(now) && now.Name == c.Name && detailReason(now.Detail) == detailReason(c.Detail) {
		return nil
	}
	if err := m.updateCard(func(card *Card) {
		if !m.wasShown(now) {
			card.Before = &now
		}
		card.Shown = &c
	}); err != nil {
		return err
	}
	return m.a.submitCondition(ctx, m.k, agent.Notice{Condition: c})
}

func detailReason(detail string) string {
	why, _, _ := strings.Cut(detail, ":")
	return why
}

// restoreCondition submits the condition that the attempt had before showCondition, unless another one was reported
// since.
func (m *message) restoreCondition(ctx context.Context) error {
	m.at.reports.Lock()
	defer m.at.reports.Unlock()
	card, err := m.a.LoadCard(m.k) // another message may have changed it since
	if err != nil {
		return err
	}
	if m.card = card; card.Shown == nil {
		return nil
	}
	before, ours := task.Condition{Name: task.Running}, m.wasShown(m.recordedCondition())
	if b := m.card.Before; b != nil && b.Name != "" {
		before = *b
	}
	if ours {
		if err := m.a.submitCondition(ctx, m.k, agent.Notice{Condition: before}); err != nil {
			return err
		}
	}
	return m.updateCard(func(card *Card) { card.Shown, card.Before = nil, nil })
}

// restoreShown restores the condition of an attempt that an earlier server changed because of a message that was
// dropped meanwhile.
func (a *Agents) restoreShown(k Key, t task.Task) {
	card, err := a.LoadCard(k)
	owed := slices.ContainsFunc(t.Pending, func(e task.Effect) bool { return e.Attempt == k.Number })
	if err != nil || card.Shown == nil || owed { // a pending message is sent, or reported again
		return
	}
	a.withWatched(k, func(at *attempt) {
		m := &message{a: a, k: k, t: t, card: card, at: at}
		if err := m.restoreCondition(a.ctx); err != nil {
			a.Log.Warn("report that a message is no longer pending", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
		}
	})
}

// watchScreen retries the message when the screen can take it. One watcher per attempt is enough, because its messages
// are sent one after another.
func (m *message) watchScreen() {
	if !m.at.watched.CompareAndSwap(false, true) {
		return
	}
	m.a.goUnlessStopping(func() {
		retry := m.awaitScreen()
		if err := m.restoreCondition(m.a.ctx); err != nil {
			m.a.Log.Warn("report that a screen changed", "component", "agents", "task", m.k.Task, "attempt", m.k.Number, "error", err)
		}
		m.at.watched.Store(false)
		if retry {
			m.a.Engine.RetryEffect(m.k.Task)
		}
	})
}

// awaitScreen waits until the message can be pasted or sent. It returns false if the message is no longer wanted.
func (m *message) awaitScreen() bool {
	drawn := make(chan struct{}, 1)
	wait := recheckInterval
	stop, err := m.a.WatchOutput(m.a.OutputFile(m.k), func() {
		select {
		case drawn <- struct{}{}:
		default:
		}
	})
	if err != nil {
		wait = modeEnds
	} else {
		defer stop()
	}
	for next := redraw; ; {
		if m.a.waitFor(m.a.ctx, m.at, next, drawn) == broken || m.a.notWanted(m.k, &m.e) != nil {
			return false
		}
		card, err := m.a.LoadCard(m.k)
		if err == nil {
			m.card = card
		}
		s, err := m.viewScreen(m.a.ctx)
		if err != nil {
			return true // the retry returns the error
		}
		told := slices.Contains(m.card.Told, m.e.ID) // otherwise a person typed what is in the line
		if told && s.HoldsText(m.text) && !s.InMode || m.refusalReason(s) == "" {
			return true
		}
		if next = wait; s.InMode {
			next = modeEnds
		}
	}
}

// keys matches long words of letters and digits, which may be secrets.
var keys = lazy.NewRegexp(`[\w.~+/=%&?:-]{24,}`)

// screenEnd returns the end of what a screen shows, as one line.
func (m *message) screenEnd(text string, limit int) string {
	words := m.a.maskSecrets(m.card.Harness, strings.Join(strings.Fields(ansi.SafeText(plainText(text))), " "))
	words = keys.ReplaceAllStringFunc(words, func(word string) string {
		if strings.ContainsAny(word, "0123456789") {
			return "[...]"
		}
		return word
	})
	if limit = max(0, limit); len(words) > limit {
		words = words[len(words)-limit:]
		for len(words) > 0 && !utf8.RuneStart(words[0]) {
			words = words[1:]
		}
	}
	return strings.TrimSpace(words)
}
