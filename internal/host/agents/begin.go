package agents

import (
	"context"
	"slices"
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/core/transcript"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

const (
	startsWithin = 20 * time.Second // an attempt that ends later than this has started
	stillTime    = 5 * time.Second  // a start counts as stopped when a screen with text has not changed for so long
	staysEmpty   = time.Minute      // likewise for an empty screen: some programs need most of a minute to draw
	minScreenGap = time.Second      // between two reads of a screen
	maxScreenGap = 30 * time.Second
)

// Bounds of the last lines that are kept of an attempt.
const (
	maxLastLines = 8
	maxLastBytes = 2000
)

// noteHook records that a hook of an attempt was called. If the attempt counted as not started, noteHook sets the
// condition of n to running.
func (a *Agents) noteHook(k Key, n *agent.Notice) {
	turn := n.Condition.Name != "" && n.Condition.Name != task.TurnFailed
	a.mu.Lock()
	at := a.live[k]
	known := at != nil && at.hooked && (at.turn || !turn)
	if at != nil {
		at.hooked, at.turn = true, at.turn || turn
		at.hooks++
	}
	a.mu.Unlock()
	if known {
		return
	}
	if n.Condition.Name == "" && a.conditionOf(k) == task.NotStarted {
		n.Condition = task.Condition{Name: task.Running}
	}
	if err := a.updateCard(k, func(c *Card) { c.Hooked, c.Turn = true, c.Turn || turn }); err != nil {
		a.Log.Warn("keep an attempt's card", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
	}
}

func (a *Agents) conditionOf(k Key) string {
	t, ok, err := a.Task(k.Task)
	if err != nil || !ok {
		return ""
	}
	at, _ := t.AttemptByNumber(k.Number)
	return at.Condition.Name
}

// withWatched runs f in a goroutine if the attempt is watched, unless the server is stopping.
func (a *Agents) withWatched(k Key, f func(at *attempt)) {
	if at := a.watchedAttempt(k); at != nil {
		a.goUnlessStopping(func() { f(at) })
	}
}

// watchStart reads the screen of an agent until its first hook is called. An agent whose screen does not change before
// that asks something that Orange does not know, such as a login, a licence or release notes. watchStart types nothing.
func (a *Agents) watchStart(k Key, session string) {
	card, err := a.LoadCard(k)
	if err != nil || a.Terminal == nil || session == "" || card.Window == "" || card.Unhooked || card.Hooked || card.Reported || card.Transcript != "" {
		return
	}
	a.withWatched(k, func(at *attempt) {
		w := startWatch{a: a, k: k, card: card}
		for wait := minScreenGap; a.pauseFor(a.ctx, at, wait) && !a.hasReported(at); {
			pane, err := a.Terminal.CaptureText(a.ctx, session, card.Window)
			if err != nil {
				return
			}
			wait = minScreenGap
			if w.observeScreen(pane) { // it waits for a person, who may take long
				w.gap = min(2*max(w.gap, minScreenGap), maxScreenGap)
				wait = w.gap
			}
		}
	})
}

// hasReported reports whether a hook of the attempt was called.
func (a *Agents) hasReported(at *attempt) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return at.hooked
}

// startWatch is what is known about the screen of an agent that has not reported anything yet.
type startWatch struct {
	a     *Agents
	k     Key
	card  Card
	pane  string
	since time.Time // when the screen last changed
	told  string    // the condition that was submitted because of the screen
	gap   time.Duration
}

// observeScreen updates w with what the screen shows, and reports whether the agent waits for a person.
func (w *startWatch) observeScreen(pane string) bool {
	now := w.a.Clock()
	if pane != w.pane || w.since.IsZero() {
		w.pane, w.since, w.gap = pane, now, 0
	}
	lines := ansi.LastLines(pane, maxLastLines)
	limit := stillTime
	if len(lines) == 0 {
		limit = staysEmpty
	}
	n, known := w.a.readScreen(w.card.Harness, pane)
	known = known && n.Condition.Name != ""
	_, answered := w.a.Harnesses.TrustDialogKeys(w.card.Harness, pane) // by Orange itself
	switch {
	case known && !answered:
	case now.Sub(w.since) < limit:
		return w.told != ""
	case !known:
		n = agent.Notice{Condition: task.Condition{Name: task.NotStarted, Detail: w.a.maskSecrets(w.card.Harness, strings.Join(lines, " "))}}
	}
	if err := w.a.unlessReported(w.k, n); err != nil {
		w.a.Log.Warn("report what a screen shows", "component", "agents", "task", w.k.Task, "attempt", w.k.Number, "error", err)
		return false
	}
	w.told = n.Condition.Name
	return true
}

// unlessReported submits a condition that was read from a screen, if no hook was called meanwhile.
func (a *Agents) unlessReported(k Key, n agent.Notice) error {
	at := a.watchedAttempt(k)
	if at == nil {
		return nil
	}
	at.reports.Lock()
	defer at.reports.Unlock()
	if a.hasReported(at) {
		return nil
	}
	return a.submitCondition(a.ctx, k, n)
}

// readScreen returns what a screen shows about its agent, without secrets.
func (a *Agents) readScreen(harness, pane string) (agent.Notice, bool) {
	n, ok := a.Harnesses.ReadScreen(harness, pane)
	n.Condition.Detail = a.maskSecrets(harness, n.Condition.Detail)
	return n, ok
}

func (a *Agents) maskSecrets(harness, text string) string {
	if a.Mask == nil || text == "" {
		return text
	}
	return a.Mask(harness, text)
}

// failureCheckDelays are the pauses after a hook of a working agent before its record and its screen are read, for harnesses
// in which no hook reports that a turn failed.
var failureCheckDelays = [...]time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}

// checkForFailure checks a few times whether the current turn of an agent has failed, and stops when a hook is called.
func (a *Agents) checkForFailure(k Key) {
	at := a.watchedAttempt(k)
	if at == nil {
		return
	}
	hooks := a.hookCount(at)
	a.goUnlessStopping(func() {
		for _, wait := range failureCheckDelays {
			if !a.pauseFor(a.ctx, at, wait) || a.hookCount(at) != hooks {
				return
			}
			if t, ok, err := a.Task(k.Task); err == nil && ok {
				a.failedOrShown(&t, k, at, hooks)
			}
		}
	})
}

func (a *Agents) hookCount(at *attempt) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return at.hooks
}

// failedOrShown submits a failed turn that the agent's own record contains, or else what the screen shows.
func (a *Agents) failedOrShown(t *task.Task, k Key, at *attempt, hooks int) {
	card, err := a.LoadCard(k)
	if err != nil || card.Window == "" {
		return
	}
	left := a.Harnesses.ReadOutput(card.Harness, a.attemptOutput(t, k, card))
	if left.Failure == "" || left.Condition.Name != "" {
		a.submitScreen(t, k, at, hooks)
		return
	}
	ctx, cancel := context.WithTimeout(a.ctx, 5*time.Second)
	defer cancel()
	n := agent.Notice{Condition: task.Condition{Name: task.TurnFailed, Detail: a.maskSecrets(card.Harness, left.Failure)}}
	if err := a.unlessHookArrived(ctx, k, at, hooks, n); err != nil {
		a.Log.Warn("report a failed turn", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
	}
}

// couldNotStart reports whether an attempt ended by itself within seconds of its start and before its first turn.
// It returns false for an agent that does not report its turns, and for one during which the task moved: the server that
// received its hooks may be gone, but an agent that made a request had started.
func (a *Agents) couldNotStart(k Key, card Card, left agent.Notice, x agent.Exit) bool {
	if x.Mass != "" || x.At.IsZero() || card.Since.IsZero() || x.At.Sub(card.Since) > startsWithin {
		return false
	}
	if t, ok, err := a.Task(k.Task); err == nil && ok {
		if at, known := t.AttemptByNumber(k.Number); known && at.Visit < t.Visit {
			return false
		}
	}
	headless := card.Window == ""
	switch {
	case !a.Harnesses.SeparatesMessages(card.Harness), card.Unhooked && !headless:
		return false
	case left.Final != "" || left.Usage != nil || left.Condition.Name != "" || card.Turn && !headless:
		return false
	case !headless:
		return true
	}
	said := a.Harnesses.ReadConversation(card.Harness, agent.Output{Log: a.OutputFile(k), Transcript: card.Transcript, Session: card.Session, Headless: true, Since: card.Since, Over: true}, "")
	if said.Next == "" { // it keeps no record, so only its hooks count
		return !card.Turn
	}
	return !slices.ContainsFunc(said.Turns, func(t transcript.Turn) bool { return t.Who == transcript.Agent })
}

// lastLines returns why the last turn of an attempt that is over failed, or else the last lines it showed. It keeps
// them on the attempt's card, because the output no longer changes.
func (a *Agents) lastLines(k Key, card Card, failure string) string {
	if card.Last != nil {
		return *card.Last
	}
	var lines []string
	switch {
	case failure != "":
		lines = []string{a.maskSecrets(card.Harness, failure)}
	case a.LastLines != nil:
		lines = a.LastLines(k, card)
	}
	for i := range lines {
		lines[i] = humanize.Prefix(lines[i], maxLastBytes/maxLastLines)
	}
	last := strings.Join(lines[max(0, len(lines)-maxLastLines):], "\n")
	if err := a.updateCard(k, func(c *Card) { c.Last = &last }); err != nil {
		a.Log.Warn("keep an attempt's card", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
	}
	return last
}

// ShownLast returns the last lines that an attempt showed, or "" if the attempt is not over.
func (a *Agents) ShownLast(k Key) string {
	card, err := a.LoadCard(k)
	if err != nil || card.Code == nil {
		return ""
	}
	return a.lastLines(k, card, "")
}
