package attend

import (
	"fmt"
	"time"

	"orange/internal/core/agent"
)

// What can end attempts together: the values of Exit.Mass.
const (
	MassReboot     = "reboot"
	MassTmux       = "tmux"
	MassAttendants = "attendants"
)

const (
	// togetherWithin is how close ends are that come together.
	togetherWithin = 2 * time.Second
	// lookBack is how long an end is remembered: an agent may take a while to end, and is
	// judged by when its attendant was struck.
	lookBack = 20 * time.Second
)

// lost is the value of Struck for an attendant that is gone without a record.
const lost = "lost"

// nearBlows says whether two blows can be one event.
func nearBlows(a, b agent.Blow) bool {
	return a.At.IsZero() || b.At.IsZero() || a.At.Sub(b.At).Abs() <= togetherWithin
}

// struck is an attempt that ended, or ends, from outside.
type struck struct {
	blow     agent.Blow
	terminal Process // its tmux server, zero without one
}

// outside says whether the machine ended the attempt. A terminal that closes while its
// tmux server lives was closed by a person.
func (k struck) outside() bool {
	return k.blow.By != "" && !(k.blow.By == "SIGHUP" && k.terminal.PID != 0 && k.terminal.Alive())
}

// cause says what ended the attempt, if it did not end alone.
func (k struck) cause() string {
	if k.terminal.PID != 0 && k.blow.By == "SIGHUP" {
		return MassTmux
	}
	return MassAttendants
}

// judge adds to an exit whether the attempt ended together with others. A single attempt
// that ended from outside ended alone. The judgement becomes part of the exit record, so
// that it is the same after a restart of the server. It says no if the supervisor was
// closed first.
func (s *Supervisor) judge(f Folder, state State) (agent.Exit, bool) {
	exit := state.Exit
	if exit.Mass != "" || exit.Blow == nil && exit.BootID == s.boot || s.wasOrdered(f) {
		return exit, true
	}
	if exit.BootID != s.boot {
		if exit.Blow != nil || exit.Signal != "" { // it went down with the machine
			exit.Mass, exit.Reason = MassReboot, restarted
		}
		return s.keep(f, exit)
	}
	own := struck{*exit.Blow, state.Started.Terminal}
	s.mu.Lock()
	s.struck[f] = own
	s.mu.Unlock()
	select { // others may be about to end
	case <-s.ctx.Done():
		return agent.Exit{}, false
	case <-time.After(togetherWithin):
	}
	others := s.struckWith(f, own)
	s.forgetStruck(f)
	if others == 0 || !own.outside() {
		return exit, true
	}
	exit.Mass = own.cause()
	agents := "1 other agent"
	if others > 1 {
		agents = fmt.Sprintf("%d other agents", others)
	}
	exit.Reason = "its attendant was ended together with those of " + agents
	if exit.Mass == MassTmux {
		exit.Reason = "tmux ended together with " + agents
	}
	return s.keep(f, exit)
}

func (s *Supervisor) keep(f Folder, exit agent.Exit) (agent.Exit, bool) {
	if exit.Mass != "" {
		_ = f.replace(exitFile, exit) // what is not kept is judged again by the next server
	}
	return exit, true
}

// struckWith counts the other attempts that ended from outside at the same time: those
// that are over, and those whose attendant was struck and still ends its agent.
func (s *Supervisor) struckWith(f Folder, own struck) int {
	s.mu.Lock()
	all := map[Folder]struck{}
	for g := range s.watched {
		all[g] = struck{}
	}
	for g, k := range s.struck {
		all[g] = k
	}
	for g := range s.ordered {
		delete(all, g)
	}
	s.mu.Unlock()
	delete(all, f)
	n := 0
	for g, k := range all {
		if k.blow.By == "" {
			k = g.struck(s.boot)
		}
		if k.outside() && nearBlows(k.blow, own.blow) {
			n++
		}
	}
	return n
}

// struck says what was done to the attendant of an attempt.
func (f Folder) struck(boot string) struck {
	state, err := f.State(boot)
	switch {
	case err != nil || state.Started.BootID != boot:
		return struck{}
	case state.Phase == Lost:
		return struck{agent.Blow{By: lost, At: time.Now()}, state.Started.Terminal}
	case state.Exit.Blow != nil:
		return struck{*state.Exit.Blow, state.Started.Terminal}
	case state.Started.Blow != nil:
		return struck{*state.Started.Blow, state.Started.Terminal}
	}
	return struck{}
}

// forgetStruck drops what nobody can end together with any more. An attempt is kept for
// as long as the judgement of another may look back at it.
func (s *Supervisor) forgetStruck(f Folder) {
	s.begin(func() {
		select {
		case <-s.ctx.Done():
		case <-time.After(lookBack):
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.struck, f)
	})
}

// wasOrdered says whether this supervisor ordered the end of the attempt.
func (s *Supervisor) wasOrdered(f Folder) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ordered[f]
}
