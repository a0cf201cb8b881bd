package engine

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/prose"
	"orange/internal/core/screen"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// startDelays is how long the engine waits before it tries again to start an agent that could not
// start. After the last of them a person looks. What keeps a program from starting, such as a login or
// a missing variable, is seldom gone after seconds.
var startDelays = [...]time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// StartTries is how often the engine starts an agent again that could not start.
const StartTries = len(startDelays)

// couldNotStart answers an agent that ended by itself before its first turn, and left nothing that
// moves the task. It counts no crash, so it leads to no limit and to no fixer. Where the role has another
// agent that this start has not tried, that one goes on.
func (x *decider) couldNotStart(s *workflow.State, a task.Attempt, ended journal.Ended) Verdict {
	e := x.entry(journal.AgentNotBegun)
	e.Ended, e.Role, e.From = []journal.Ended{ended}, s.Role, x.t.Status
	e.Reason = startReason(x.sig.Last, ended.Code)
	if x.startNext(s, &e, a, "could not start") {
		return x.last(e, Stay)
	}
	tried := 0
	if u := x.t.Unstarted; u != nil {
		tried = u.Count
	}
	if tried >= StartTries {
		e.Held = fmt.Sprintf("the %s could not start %d times: %s", s.Role, tried+1, e.Reason)
		return x.last(e, Stay)
	}
	e.Respawn = x.sig.At.Add(startDelays[tried])
	return x.last(e, Stay)
}

// startReason says why an agent could not start: its own words if it showed any.
func startReason(last string, code int) string {
	if words := lastWords(last); words != "" {
		return fmt.Sprintf("%s (code %d)", words, code)
	}
	return fmt.Sprintf("it ended at once and showed nothing (code %d)", code)
}

// unstarted is why the state's agent could not start, nil if it lives or did start.
func (x *decider) unstarted(s *workflow.State) *task.Unstarted {
	if _, live := x.t.Live(s.Role); live || s.Kind != workflow.Agent {
		return nil
	}
	return x.t.Unstarted
}

// unstartedItem says that an agent could not start, why, and what happens next.
func (x *decider) unstartedItem(s *workflow.State, u *task.Unstarted, it *Item) {
	it.Kind, it.Since = ItemNotStarted, x.t.UpdatedAt
	it.Text, it.Do = fmt.Sprintf("the %s could not start: %s", s.Role, u.Words), x.command("respawn", "").Run
	switch {
	case x.t.Held != "":
		it.Text += fmt.Sprintf("; after %d tries it is not started again by itself", u.Count)
	case u.Count <= StartTries:
		it.Text += fmt.Sprintf("; it is tried again after %s (try %d of %d)", prose.Span(startDelays[u.Count-1]), u.Count+1, StartTries+1)
	}
}

// Bounds of an agent's last lines as part of a sentence.
const (
	maxWordLines = 3
	maxWordBytes = 300
)

// lastWords are the last lines that an agent showed as part of a sentence: few, on one line, safe to show.
func lastWords(last string) string {
	return boundText(screen.OneLine(strings.Join(screen.LastLines(last, maxWordLines), " ")), maxWordBytes)
}

// withLastWords puts what an agent showed last before how it ended: it says more about the cause than
// what TASK.md lacks.
func (x *decider) withLastWords(why string) string {
	if words := lastWords(x.sig.Last); words != "" {
		return words + "; " + why
	}
	return why
}
