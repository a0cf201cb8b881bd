package engine

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// startDelays is how long the engine waits before it tries again to start an agent that could not
// start. After the last of them a person looks. What keeps a program from starting, such as a login or
// a missing variable, is seldom gone after seconds.
var startDelays = [...]time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// StartTries is how often the engine starts an agent again that could not start.
const StartTries = len(startDelays)

// StartDelay is how long the engine waits after the given failure of an agent to start, from 1
// to StartTries.
func StartDelay(failure int) time.Duration { return startDelays[failure-1] }

// couldNotStart answers an agent that ended by itself before its first turn, and left nothing that
// moves the task. It counts no crash, so it leads to no limit and to no fixer. Where the role has another
// agent that this start has not tried, that one goes on.
func (d *decider) couldNotStart(s *workflow.State, a task.Attempt, ended journal.Ended) Verdict {
	e := d.newEntry(journal.AgentNotBegun)
	e.Ended, e.Role, e.From = []journal.Ended{ended}, s.Role, d.t.Status
	e.Reason = startReason(d.sig.Last, ended.Code)
	if d.startNext(s, &e, a, "could not start") {
		return d.finishWith(e, Stay)
	}
	tried := 0
	if u := d.t.Unstarted; u != nil {
		tried = u.Count
	}
	if tried >= StartTries {
		e.WorkFailed = fmt.Sprintf("the %s could not start %d times: %s", s.Role, tried+1, e.Reason)
		return d.finishWith(e, Stay)
	}
	e.RespawnAt = d.sig.At.Add(startDelays[tried])
	return d.finishWith(e, Stay)
}

// startReason says why an agent could not start: its own words if it showed any.
func startReason(last string, code int) string {
	if words := lastWords(last); words != "" {
		return fmt.Sprintf("%s (code %d)", words, code)
	}
	return fmt.Sprintf("it ended at once and showed nothing (code %d)", code)
}

// failedStart is why the state's agent could not start, nil if it lives or did start.
func (d *decider) failedStart(s *workflow.State) *task.Unstarted {
	if _, live := d.t.LiveAttempt(s.Role); live || s.Kind != workflow.Agent {
		return nil
	}
	return d.t.Unstarted
}

// Bounds of an agent's last lines as part of a sentence.
const (
	maxWordLines = 3
	maxWordBytes = 300
)

// lastWords are the last lines that an agent showed as part of a sentence: few, on one line, safe to show.
func lastWords(last string) string {
	return humanize.Abridge(ansi.OneLine(strings.Join(ansi.LastLines(last, maxWordLines), " ")), maxWordBytes)
}

// withLastWords puts what an agent showed last before how it ended: it says more about the cause than
// what TASK.md lacks.
func (d *decider) withLastWords(why string) string {
	if words := lastWords(d.sig.Last); words != "" {
		return words + "; " + why
	}
	return why
}
