package attend

import (
	"errors"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"orange/internal/core/agent"
)

// A death is one process that this one has waited for.
type death struct {
	pid    int
	status unix.WaitStatus
}

// wait returns when the agent and everything it started have ended. As soon as the agent
// has ended by itself, or the attendant is told to end, what is left is asked to end and,
// after the grace, killed.
func (a *attendant) wait() agent.Exit {
	exit := agent.Exit{Code: -1}
	deaths := make(chan death)
	go a.reap(deaths)
	var kill, again <-chan time.Time
	pause := 10 * time.Millisecond
	gone := false // the agent has ended
	end := func() {
		if kill == nil {
			a.tellAll(unix.SIGTERM, unix.SIGCONT) // what is stopped must go on to end
			kill = time.After(a.claim.Grace)
		}
	}
	for {
		select {
		case d, more := <-deaths:
			switch {
			case !more && (a.adopts || a.empty()):
				return exit
			case !more: // what is left in the group has another parent
				deaths, again = nil, time.After(pause)
			case d.pid == a.claim.Child.PID:
				exit.Code, exit.Signal = meaning(d.status)
				gone = true
				if a.adopts && childless() {
					return exit
				}
				end()
			}
			if gone && a.onlyOthers() {
				return exit
			}
		case <-again:
			if a.empty() {
				return exit
			}
			again = time.After(pause)
		case s := <-a.signals:
			if exit.Reason == "" && exit.Code < 0 {
				exit.Reason = reasonFor(s)
			}
			a.struckBy(s)
			end()
		case <-kill:
			if gone && a.onlyOthers() {
				return exit
			}
			a.tellAll(unix.SIGKILL)
			pause = min(2*pause, time.Second)
			kill = time.After(pause)
		}
	}
}

// struckBy writes down that the attendant was told to end, at once: it may take a while
// until the agent has ended, and others want to know whom else it struck.
func (a *attendant) struckBy(s os.Signal) {
	if a.claim.Blow != nil {
		return
	}
	name := s.String()
	if sig, ok := s.(unix.Signal); ok {
		name = unix.SignalName(sig)
	}
	a.claim.Blow = &agent.Blow{By: name, At: time.Now()}
	if err := a.folder.replace(startedFile, a.claim); err != nil {
		say("cannot write down what ended the attempt: %v", err)
	}
}

// reap waits for children until there are none. An agent that was stopped from the
// keyboard goes on, because there is no shell to continue it with.
func (a *attendant) reap(deaths chan<- death) {
	defer close(deaths)
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return
		case status.Stopped():
			if pid == a.claim.Child.PID && status.StopSignal() == unix.SIGTSTP {
				_ = unix.Kill(-pid, unix.SIGCONT) // at worst it stays as it is
			}
		default:
			deaths <- death{pid, status}
		}
	}
}

// meaning is the exit code and the signal of an end.
func meaning(status unix.WaitStatus) (code int, sig string) {
	if status.Signaled() {
		return 128 + int(status.Signal()), unix.SignalName(status.Signal())
	}
	return status.ExitStatus(), ""
}

func reasonFor(s any) string {
	switch s {
	case unix.SIGHUP:
		return "the terminal is gone"
	case unix.SIGINT:
		return "it was interrupted"
	}
	return "it was told to end"
}

// left lists what descends from this process, is in the agent's group or is a tmux server
// that the agent started. Others says
// that there are descendants that are not the agent's.
func (a *attendant) left() (ours []Process, others bool) {
	rows, err := everyone()
	if err != nil {
		return []Process{a.claim.Child}, false // it cannot be told: ask again
	}
	self := a.claim.Attendant
	inGroup := a.claim.inGroup(rows)
	tmux := a.claim.tmuxServers()
	return below(rows, a.claim.spared(a.data), func(r row) bool {
		return r.Process != self && (r.parent == self.PID || inGroup && r.group == a.claim.PGID || slices.Contains(tmux, r.PID))
	})
}

// empty says whether nothing of the agent is seen.
func (a *attendant) empty() bool {
	ours, _ := a.left()
	return len(ours) == 0
}

// onlyOthers says whether the children that are left are not the agent's. Without such
// children the kernel says when there are none, and that is certain; a look is not. What
// forks and ends during a look is missed by it, but hardly by several in a row.
func (a *attendant) onlyOthers() bool {
	for range 3 {
		if ours, others := a.left(); len(ours) > 0 || !others {
			return false
		}
	}
	return true
}

func (a *attendant) tellAll(signals ...unix.Signal) {
	ours, _ := a.left()
	for _, p := range ours {
		_ = p.tell(signals...) // who cannot be told now is told again
	}
}
