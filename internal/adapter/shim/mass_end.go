package shim

import (
	"fmt"
	"time"

	"orange/internal/core/agent"
)

// Causes that can end several attempts together: the values of Exit.Mass.
const (
	MassReboot = "reboot"
	MassTmux   = "tmux"
	MassShims  = "attendants"
)

const (
	// togetherWithin is how close ends must be to count as one event.
	togetherWithin = 2 * time.Second
	// recentSignals is how long an end is remembered. An agent may take a while to end, so the time at which its shim was
	// signalled counts.
	recentSignals = 20 * time.Second
)

// lost is the value of Struck for a shim that is gone without a record.
const lost = "lost"

// areNear reports whether two ends can be one event.
func areNear(a, b agent.ExternalEnd) bool {
	return a.At.IsZero() || b.At.IsZero() || a.At.Sub(b.At).Abs() <= togetherWithin
}

// shimEnd is an attempt that was ended, or is being ended, from outside.
type shimEnd struct {
	external agent.ExternalEnd
	terminal Process // its tmux server, zero without one
}

// wasExternal reports whether the machine ended the attempt. If a terminal closes while its tmux server runs, a person
// closed it.
func (e shimEnd) wasExternal() bool {
	return e.external.By != "" && !(e.external.By == "SIGHUP" && e.terminal.PID != 0 && e.terminal.Alive())
}

// massCause returns what ended the attempt, if others ended with it.
func (e shimEnd) massCause() string {
	if e.terminal.PID != 0 && e.external.By == "SIGHUP" {
		return MassTmux
	}
	return MassShims
}

// judgeExit adds to an exit whether the attempt ended together with others. A single attempt that ended from outside
// ended alone. The judgement becomes part of the exit record, so that it is the same after a restart of the server. It
// returns false if the supervisor was closed first.
func (s *Supervisor) judgeExit(f Folder, state State) (agent.Exit, bool) {
	exit := state.Exit
	if exit.Mass != "" || exit.ExternalEnd == nil && exit.BootID == s.boot || s.wasOrdered(f) {
		return exit, true
	}
	if exit.BootID != s.boot {
		if exit.ExternalEnd != nil || exit.Signal != "" { // the machine went down
			exit.Mass, exit.Reason = MassReboot, restarted
		}
		return s.keepExit(f, exit)
	}
	own := shimEnd{*exit.ExternalEnd, state.Started.Terminal}
	s.mu.Lock()
	s.shimEnds[f] = own
	s.mu.Unlock()
	select { // others may be about to end
	case <-s.ctx.Done():
		return agent.Exit{}, false
	case <-time.After(togetherWithin):
	}
	others := s.countEndedWith(f, own)
	s.forgetShimEnd(f)
	if others == 0 || !own.wasExternal() {
		return exit, true
	}
	exit.Mass = own.massCause()
	agents := "1 other agent"
	if others > 1 {
		agents = fmt.Sprintf("%d other agents", others)
	}
	exit.Reason = "its shim was ended together with those of " + agents
	if exit.Mass == MassTmux {
		exit.Reason = "tmux ended together with " + agents
	}
	return s.keepExit(f, exit)
}

func (s *Supervisor) keepExit(f Folder, exit agent.Exit) (agent.Exit, bool) {
	if exit.Mass != "" {
		_ = f.replaceRecord(exitFile, exit) // if it is not stored, the next server judges again
	}
	return exit, true
}

// countEndedWith counts the other attempts that ended from outside at the same time: those that are over, and those
// whose shim was signalled and is still ending its agent.
func (s *Supervisor) countEndedWith(f Folder, own shimEnd) int {
	s.mu.Lock()
	all := map[Folder]shimEnd{}
	for g := range s.watched {
		all[g] = shimEnd{}
	}
	for g, k := range s.shimEnds {
		all[g] = k
	}
	for g := range s.ordered {
		delete(all, g)
	}
	s.mu.Unlock()
	delete(all, f)
	n := 0
	for g, k := range all {
		if k.external.By == "" {
			k = g.readShimEnd(s.boot)
		}
		if k.wasExternal() && areNear(k.external, own.external) {
			n++
		}
	}
	return n
}

// readShimEnd returns how the shim of an attempt was ended.
func (f Folder) readShimEnd(boot string) shimEnd {
	state, err := f.ReadState(boot)
	switch {
	case err != nil || state.Started.BootID != boot:
		return shimEnd{}
	case state.Phase == Lost:
		return shimEnd{agent.ExternalEnd{By: lost, At: time.Now()}, state.Started.Terminal}
	case state.Exit.ExternalEnd != nil:
		return shimEnd{*state.Exit.ExternalEnd, state.Started.Terminal}
	case state.Started.ExternalEnd != nil:
		return shimEnd{*state.Started.ExternalEnd, state.Started.Terminal}
	}
	return shimEnd{}
}

// forgetShimEnd drops ends that no other attempt can have shared any more. An end is kept as long as the judgement of
// another attempt may need it.
func (s *Supervisor) forgetShimEnd(f Folder) {
	s.goUnlessClosed(func() {
		select {
		case <-s.ctx.Done():
		case <-time.After(recentSignals):
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.shimEnds, f)
	})
}

// wasOrdered reports whether this supervisor ordered the end of the attempt.
func (s *Supervisor) wasOrdered(f Folder) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ordered[f]
}
