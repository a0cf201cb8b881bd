package engine

import (
	"fmt"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/workflow"
)

// An agent that dies together with others is started again at once, unless that has
// happened massLimit times within massWithin: then a person looks at the machine first.
const (
	massLimit  = journal.LostKept
	massWithin = 10 * time.Minute
)

// massDeath answers the end of an agent that was caused from outside, together with the
// ends of others. It counts no crash and starts the agent again.
func (x *decider) massDeath(s *workflow.State, ended journal.Ended) Verdict {
	e := x.entry(journal.AgentLost)
	e.Ended, e.Role, e.From = []journal.Ended{ended}, s.Role, x.t.Status
	e.Reason = x.massReason()
	times := 1
	for _, at := range x.t.Lost {
		if x.sig.At.Sub(at) < massWithin {
			times++
		}
	}
	if times >= massLimit {
		e.Held = fmt.Sprintf("the %s ended %d times within %d minutes together with other agents (%s): find out what ends them on this machine, then start it again",
			s.Role, times, massWithin/time.Minute, e.Reason)
		return x.last(e, Stay)
	}
	if e.Held = x.heldForAnswer(ended); e.Held != "" {
		return x.last(e, Stay)
	}
	x.replace(s, &e, respawnDelay(1))
	return x.last(e, Stay)
}

// massReason says what ended the agent. Whoever watches the processes knows more.
func (x *decider) massReason() string {
	switch {
	case x.sig.Note != "":
		return x.sig.Note
	case x.sig.Mass == signal.MassReboot:
		return "the machine was restarted"
	case x.sig.Mass == signal.MassTmux:
		return "tmux ended with several agents"
	}
	return "several agents and their attendants ended at the same time"
}

// massHeld says that the task is held because of mass deaths, and not for another reason
// after mass deaths that were far apart.
func (x *decider) massHeld() bool {
	n := len(x.t.Lost)
	return x.t.Held != "" && n >= massLimit && x.t.Lost[n-1].Sub(x.t.Lost[n-massLimit]) < massWithin
}
