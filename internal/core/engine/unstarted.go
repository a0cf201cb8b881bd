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

// startDelays are the delays before the engine tries again to start an agent that could not start. After the last one a
// person must act. Typical causes, such as a login or a missing variable, seldom go away within seconds.
var startDelays = [...]time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// StartTries is how often the engine restarts an agent that could not start.
const StartTries = len(startDelays)

// StartDelay returns the delay after the given failure of an agent to start, from 1 to StartTries.
func StartDelay(failure int) time.Duration { return startDelays[failure-1] }

// couldNotStart handles an agent that ended by itself before its first turn and left nothing that moves the task. It
// counts no crash, so it leads to no limit and to no fixer. If the role has another agent that this start has not
// tried, that one continues.
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

// startReason returns why an agent could not start: its own output if there was any.
func startReason(last string, code int) string {
	if words := lastLines(last); words != "" {
		return fmt.Sprintf("%s (code %d)", words, code)
	}
	return fmt.Sprintf("it ended at once and showed nothing (code %d)", code)
}

// failedStart returns why the state's agent could not start, or nil if it lives or did start.
func (d *decider) failedStart(s *workflow.State) *task.Unstarted {
	if _, live := d.t.LiveAttempt(s.Role); live || s.Kind != workflow.Agent {
		return nil
	}
	return d.t.Unstarted
}

// Limits of an agent's last lines as part of a sentence.
const (
	maxWordLines = 3
	maxWordBytes = 300
)

// lastLines returns the last lines of an agent's screen as part of a sentence: few, on one line, safe to show.
func lastLines(last string) string {
	return humanize.Abridge(ansi.OneLine(strings.Join(ansi.LastLines(last, maxWordLines), " ")), maxWordBytes)
}

// withLastWords puts an agent's last output before how it ended: it says more about the cause than what TASK.md lacks.
func (d *decider) withLastWords(why string) string {
	if words := lastLines(d.sig.Last); words != "" {
		return words + "; " + why
	}
	return why
}
