package engine

import (
	"fmt"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/workflow"
)

// An agent that dies together with others is restarted immediately, unless that happened massLimit times within
// massWithin: then a person must check the machine first.
const (
	massLimit  = journal.LostKept
	massWithin = 10 * time.Minute
)

// massDeath handles the end of an agent that was caused from outside, together with the ends of others. It counts no
// crash and restarts the agent.
func (d *decider) massDeath(s *workflow.State, ended journal.Ended) Verdict {
	e := d.newEntry(journal.AgentLost)
	e.Ended, e.Role, e.From = []journal.Ended{ended}, s.Role, d.t.Status
	e.Reason = d.massReason()
	times := 1
	for _, at := range d.t.Lost {
		if d.sig.At.Sub(at) < massWithin {
			times++
		}
	}
	if times >= massLimit {
		e.WorkFailed = fmt.Sprintf("the %s ended %d times within %d minutes together with other agents (%s): find out what ends them on this machine, then start it again",
			s.Role, times, massWithin/time.Minute, e.Reason)
		return d.finishWith(e, Stay)
	}
	if e.WorkFailed = d.heldForAnswer(ended); e.WorkFailed != "" {
		return d.finishWith(e, Stay)
	}
	d.replaceAgent(s, &e, respawnDelay(1))
	return d.finishWith(e, Stay)
}

// massReason returns what ended the agent. The process watcher's reason is preferred.
func (d *decider) massReason() string {
	switch {
	case d.sig.Note != "":
		return d.sig.Note
	case d.sig.Mass == signal.MassReboot:
		return "the machine was restarted"
	case d.sig.Mass == signal.MassTmux:
		return "tmux ended with several agents"
	}
	return "several agents and their attendants ended at the same time"
}

// massHeld reports whether the task is held because of mass deaths, and not for another reason after mass deaths that
// were far apart.
func (d *decider) massHeld() bool {
	n := len(d.t.Lost)
	return d.t.WorkFailed != "" && n >= massLimit && d.t.Lost[n-1].Sub(d.t.Lost[n-massLimit]) < massWithin
}
