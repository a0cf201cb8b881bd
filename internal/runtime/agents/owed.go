package agents

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"orange/internal/core/agent"
	"orange/internal/core/screen"
	"orange/internal/core/task"
	"orange/internal/outputlog"
)

const (
	maxShown = 480 // bytes of a screen that the inbox shows
	quiet    = 5 * time.Second
	// lookAgain is how often a screen is looked at that nothing is drawn on, while a message to its agent
	// is owed: whether it is still owed, and whether tmux has left its own mode.
	lookAgain = 15 * time.Second
	modeEnds  = time.Second
)

// owe keeps the message owed: it is tried again when the screen changed. A person who could
// change it is shown the screen.
func (m *message) owe(ctx context.Context, s sight, why string) error {
	if err := m.showIfWaits(ctx, s, why); err != nil {
		m.a.Log.Warn("report what a screen shows", "component", "agents", "task", m.k.Task, "attempt", m.k.Number, "error", err)
	}
	m.watch()
	return fmt.Errorf("attempt %d cannot be told something now: %s: %w", m.k.Number, why, task.ErrNotNow)
}

// showIfWaits shows a person why the message is owed, unless the agent works or says itself what it waits for.
func (m *message) showIfWaits(ctx context.Context, s sight, why string) error {
	m.at.reports.Lock()
	defer m.at.reports.Unlock()
	c, ok := m.waits(s, why)
	if !ok {
		return nil
	}
	return m.show(ctx, c)
}

// waits is the condition of an agent that nothing can be told because of its screen. An agent that
// works is not shown: its screen changes by itself.
func (m *message) waits(s sight, why string) (task.Condition, bool) {
	c := m.condition()
	if c.IsBlocked() && !m.shown(c) {
		return task.Condition{}, false // its hooks said what it waits for
	}
	if n, ok := m.a.shown(m.card.Harness, s.Text); ok && s.Kind != screen.Prompt && n.Condition.IsBlocked() && n.Condition.Name != task.Limited {
		return n.Condition, true // above a prompt the same words may be part of the work
	}
	if c.Name != task.Idle && !m.shown(c) && (!m.a.Harnesses.AsksFirst(m.card.Harness) || c.Name == task.Running && !m.quiet()) {
		return task.Condition{}, false
	}
	detail := "a message to it waits, because " + why
	if s.Kind != screen.Prompt { // what a person types is theirs
		if words := m.lastWords(s.Text, maxShown-len(detail)); words != "" {
			detail += ": " + words
		}
	}
	return task.Condition{Name: task.WaitingInput, Detail: detail}, true
}

// quiet says that nothing was drawn for a while.
func (m *message) quiet() bool {
	_, drawn, err := outputlog.Stat(m.a.OutputFile(m.k))
	return err != nil || m.a.Clock().Sub(drawn) > quiet
}

// shown says whether a condition is what was last shown of the screen.
func (m *message) shown(c task.Condition) bool {
	return m.card.Shown != nil && c.Name == m.card.Shown.Name && c.Detail == m.card.Shown.Detail
}

// show reports a condition that the screen is the reason for, and keeps the one before. The same
// reason is not reported again because the screen looks different.
func (m *message) show(ctx context.Context, c task.Condition) error {
	now := m.condition()
	if m.shown(now) && now.Name == c.Name && reason(now.Detail) == reason(c.Detail) {
		return nil
	}
	if err := m.note(func(card *Card) {
		if !m.shown(now) {
			card.Before = &now
		}
		card.Shown = &c
	}); err != nil {
		return err
	}
	return m.a.condition(ctx, m.k, agent.Notice{Condition: c})
}

func reason(detail string) string {
	why, _, _ := strings.Cut(detail, ":")
	return why
}

// restore reports that the attempt is doing as it did before its screen was shown, unless something
// else was heard since.
func (m *message) restore(ctx context.Context) error {
	m.at.reports.Lock()
	defer m.at.reports.Unlock()
	card, err := m.a.Card(m.k) // another message may have been shown since
	if err != nil {
		return err
	}
	if m.card = card; card.Shown == nil {
		return nil
	}
	before, ours := task.Condition{Name: task.Running}, m.shown(m.condition())
	if b := m.card.Before; b != nil && b.Name != "" {
		before = *b
	}
	if ours {
		if err := m.a.condition(ctx, m.k, agent.Notice{Condition: before}); err != nil {
			return err
		}
	}
	return m.note(func(card *Card) { card.Shown, card.Before = nil, nil })
}

// restoreShown takes back what an earlier server showed of an attempt because of a message that was dropped meanwhile.
func (a *Agents) restoreShown(k Key, t task.Task) {
	card, err := a.Card(k)
	owed := slices.ContainsFunc(t.Pending, func(e task.Effect) bool { return e.Attempt == k.Number })
	if err != nil || card.Shown == nil || owed { // one that is owed is told, or shown again
		return
	}
	a.watched(k, func(at *attempt) {
		m := &message{a: a, k: k, t: t, card: card, at: at}
		if err := m.restore(a.ctx); err != nil {
			a.Log.Warn("report that a message is not owed any more", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
		}
	})
}

// watch has the message tried again once its screen takes it. One watcher is enough for an attempt: its
// messages come one after another.
func (m *message) watch() {
	if !m.at.watched.CompareAndSwap(false, true) {
		return
	}
	m.a.start(func() {
		retry := m.awaitScreen()
		if err := m.restore(m.a.ctx); err != nil {
			m.a.Log.Warn("report that a screen changed", "component", "agents", "task", m.k.Task, "attempt", m.k.Number, "error", err)
		}
		m.at.watched.Store(false)
		if retry {
			m.a.Engine.Retry(m.k.Task)
		}
	})
}

// awaitScreen waits until the message can be typed or sent. It says no if that is not wanted any more.
func (m *message) awaitScreen() bool {
	drawn := make(chan struct{}, 1)
	wait := lookAgain
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
		card, err := m.a.Card(m.k)
		if err == nil {
			m.card = card
		}
		s, err := m.look(m.a.ctx)
		if err != nil {
			return true // it says what is wrong
		}
		told := slices.Contains(m.card.Told, m.e.ID) // else what stands in the line is a person's
		if told && s.HoldsText(m.text) && !s.InMode || m.refusal(s) == "" {
			return true
		}
		if next = wait; s.InMode {
			next = modeEnds
		}
	}
}

// keys are words that may be secret: long ones of letters and digits.
var keys = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\w.~+/=%&?:-]{24,}`) })

// lastWords is the end of what a screen shows, as one line.
func (m *message) lastWords(text string, limit int) string {
	words := m.a.masked(m.card.Harness, strings.Join(strings.Fields(screen.SafeText(plain(text))), " "))
	words = keys().ReplaceAllStringFunc(words, func(word string) string {
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
