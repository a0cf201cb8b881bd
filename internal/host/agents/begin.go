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
)

const (
	startsWithin = 20 * time.Second // an attempt that ends later than this has started
	standsStill  = 5 * time.Second  // so long a screen with text does not change before a start counts as stopped
	staysEmpty   = time.Minute      // likewise an empty one: some programs take most of that to draw
	firstGlance  = time.Second
	lastGlance   = 30 * time.Second
)

// Bounds of what is kept of an attempt's last lines.
const (
	maxLastLines = 8
	maxLastBytes = 2000
)

// hookCame notes that an attempt reported something. An agent that stood still before its first turn
// goes on.
func (a *Agents) hookCame(k Key, n *agent.Notice) {
	turn := n.Condition.Name != "" && n.Condition.Name != task.TurnFailed
	a.mu.Lock()
	at := a.live[k]
	known := at != nil && at.hooked && (at.turn || !turn)
	if at != nil {
		at.hooked, at.turn = true, at.turn || turn
		at.news++
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
	t, ok, err := a.Engine.Task(k.Task)
	if err != nil || !ok {
		return ""
	}
	at, _ := t.AttemptByNumber(k.Number)
	return at.Condition.Name
}

// withWatched calls f with an attempt that is watched, until the server leaves.
func (a *Agents) withWatched(k Key, f func(at *attempt)) {
	if at := a.watchedAttempt(k); at != nil {
		a.goUnlessStopping(func() { f(at) })
	}
}

// watchStart looks at the screen of an agent until its first hook came. One that stands still before
// that asks something that Orange does not know: a login, a licence, news. Nothing is typed into it.
func (a *Agents) watchStart(k Key, session string) {
	card, err := a.LoadCard(k)
	if err != nil || a.Terminal == nil || session == "" || card.Window == "" || card.Unhooked || card.Hooked || card.Heard || card.Transcript != "" {
		return
	}
	a.withWatched(k, func(at *attempt) {
		w := startWatch{a: a, k: k, card: card}
		for wait := firstGlance; a.pauseFor(a.ctx, at, wait) && !a.hasReported(at); {
			pane, err := a.Terminal.CaptureText(a.ctx, session, card.Window)
			if err != nil {
				return
			}
			wait = firstGlance
			if w.observeScreen(pane) { // it waits for a person, who may take long
				w.glance = min(2*max(w.glance, firstGlance), lastGlance)
				wait = w.glance
			}
		}
	})
}

// hasReported says whether a hook of the attempt came.
func (a *Agents) hasReported(at *attempt) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return at.hooked
}

// startWatch is what was seen of an agent that has not reported anything yet.
type startWatch struct {
	a      *Agents
	k      Key
	card   Card
	pane   string
	since  time.Time // when the screen last changed
	told   string    // the condition that the screen was the reason for
	glance time.Duration
}

// observeScreen takes in what the screen shows, and says whether the agent waits for a person.
func (w *startWatch) observeScreen(pane string) bool {
	now := w.a.Clock()
	if pane != w.pane || w.since.IsZero() {
		w.pane, w.since, w.glance = pane, now, 0
	}
	lines := ansi.LastLines(pane, maxLastLines)
	patience := standsStill
	if len(lines) == 0 {
		patience = staysEmpty
	}
	n, known := w.a.readScreen(w.card.Harness, pane)
	known = known && n.Condition.Name != ""
	_, answered := w.a.Harnesses.TrustDialogKeys(w.card.Harness, pane) // by Orange itself
	switch {
	case known && !answered:
	case now.Sub(w.since) < patience:
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

// unlessReported submits a condition that a screen was the reason for, if no hook came meanwhile.
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

// readScreen is what a screen says about its agent, without what is secret.
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

// lookWaits are the pauses after a hook of an agent at work before its record and its screen are looked
// at, because no hook says that its turn failed.
var lookWaits = [...]time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}

// lookForFailure looks a few times whether the turn that an agent is in has failed, and not any more once
// it reports something.
func (a *Agents) lookForFailure(k Key) {
	at := a.watchedAttempt(k)
	if at == nil {
		return
	}
	news := a.newsOf(at)
	a.goUnlessStopping(func() {
		for _, wait := range lookWaits {
			if !a.pauseFor(a.ctx, at, wait) || a.newsOf(at) != news {
				return
			}
			if t, ok, err := a.Engine.Task(k.Task); err == nil && ok {
				a.failedOrShown(&t, k, at, news)
			}
		}
	})
}

func (a *Agents) newsOf(at *attempt) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return at.news
}

// failedOrShown reports a failed turn that the agent's own record tells of, else what the screen shows.
func (a *Agents) failedOrShown(t *task.Task, k Key, at *attempt, news int) {
	card, err := a.LoadCard(k)
	if err != nil || card.Window == "" {
		return
	}
	left := a.Harnesses.ReadOutput(card.Harness, a.attemptOutput(t, k, card))
	if left.Failure == "" || left.Condition.Name != "" {
		a.lookAtScreen(t, k, at, news)
		return
	}
	ctx, cancel := context.WithTimeout(a.ctx, 5*time.Second)
	defer cancel()
	n := agent.Notice{Condition: task.Condition{Name: task.TurnFailed, Detail: a.maskSecrets(card.Harness, left.Failure)}}
	if err := a.unlessHeard(ctx, k, at, news, n); err != nil {
		a.Log.Warn("report a failed turn", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
	}
}

// couldNotStart says that an attempt ended by itself within seconds of its start and before its first turn.
// Of an agent that tells nothing of its turns nobody can say so.
func (a *Agents) couldNotStart(k Key, card Card, left agent.Notice, x agent.Exit) bool {
	if x.Mass != "" || x.At.IsZero() || card.Since.IsZero() || x.At.Sub(card.Since) > startsWithin {
		return false
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
	if said.Next == "" { // it keeps no record: its hooks are all there is
		return !card.Turn
	}
	return !slices.ContainsFunc(said.Turns, func(t transcript.Turn) bool { return t.Who == transcript.Agent })
}

// lastLines are what an attempt that is over showed last: why its last turn failed, then its last lines.
// They are kept on its card: an output does not change any more.
func (a *Agents) lastLines(k Key, card Card, failure string) string {
	if card.Last != nil {
		return *card.Last
	}
	var lines []string
	if failure != "" {
		lines = append(lines, failure)
	}
	if a.LastLines != nil && failure == "" {
		lines = append(lines, a.LastLines(k, card)...)
	}
	for i := range lines {
		lines[i] = cutText(lines[i], maxLastBytes/maxLastLines)
	}
	last := a.maskSecrets(card.Harness, strings.Join(lines[max(0, len(lines)-maxLastLines):], "\n"))
	if err := a.updateCard(k, func(c *Card) { c.Last = &last }); err != nil {
		a.Log.Warn("keep an attempt's card", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
	}
	return last
}

// ShownLast is what an attempt that is over showed last, "" for one that is not over.
func (a *Agents) ShownLast(k Key) string {
	card, err := a.LoadCard(k)
	if err != nil || card.Code == nil {
		return ""
	}
	return a.lastLines(k, card, "")
}

func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
