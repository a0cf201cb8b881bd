package shim

import (
	"errors"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"orange/internal/core/agent"
)

// A childExit is one process that this one has waited for.
type childExit struct {
	pid    int
	status unix.WaitStatus
}

// waitForEnd returns when the agent and everything it started have ended. As soon as the agent
// has ended by itself, or the attendant is told to end, what is left is asked to end and,
// after the grace, killed.
func (a *shim) waitForEnd() agent.Exit {
	exit := agent.Exit{Code: -1}
	deaths := make(chan childExit)
	go a.reapChildren(deaths)
	var kill, again <-chan time.Time
	pause := 10 * time.Millisecond
	gone := false // the agent has ended
	end := func() {
		if kill == nil {
			a.signalAll(unix.SIGTERM, unix.SIGCONT) // what is stopped must go on to end
			kill = time.After(a.claim.Grace)
		}
	}
	for {
		select {
		case d, more := <-deaths:
			switch {
			case !more && (a.adopts || a.nothingLeft()):
				return exit
			case !more: // what is left in the group has another parent
				deaths, again = nil, time.After(pause)
			case d.pid == a.claim.Child.PID:
				exit.Code, exit.Signal = exitMeaning(d.status)
				gone = true
				if a.adopts && hasNoChildren() {
					return exit
				}
				end()
			}
			if gone && a.onlyOthers() {
				return exit
			}
		case <-again:
			if a.nothingLeft() {
				return exit
			}
			again = time.After(pause)
		case s := <-a.signals:
			if exit.Reason == "" && exit.Code < 0 {
				exit.Reason = reasonFor(s)
			}
			a.noteSignal(s)
			end()
		case <-kill:
			if gone && a.onlyOthers() {
				return exit
			}
			a.signalAll(unix.SIGKILL)
			pause = min(2*pause, time.Second)
			kill = time.After(pause)
		}
	}
}

// noteSignal writes down that the attendant was told to end, at once: it may take a while
// until the agent has ended, and others want to know whom else it struck.
func (a *shim) noteSignal(s os.Signal) {
	if a.claim.ExternalEnd != nil {
		return
	}
	name := s.String()
	if sig, ok := s.(unix.Signal); ok {
		name = unix.SignalName(sig)
	}
	a.claim.ExternalEnd = &agent.ExternalEnd{By: name, At: time.Now()}
	if err := a.folder.replaceRecord(startedFile, a.claim); err != nil {
		printNotice("cannot write down what ended the attempt: %v", err)
	}
}

// reapChildren waits for children until there are none. An agent that was stopped from the
// keyboard goes on, because there is no shell to continue it with.
func (a *shim) reapChildren(deaths chan<- childExit) {
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
			deaths <- childExit{pid, status}
		}
	}
}

// exitMeaning is the exit code and the signal of an end.
func exitMeaning(status unix.WaitStatus) (code int, sig string) {
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

// leftProcesses lists what descends from this process, is in the agent's group or is a tmux server
// that the agent started. Others says
// that there are descendants that are not the agent's.
func (a *shim) leftProcesses() (ours []Process, others bool) {
	rows, err := listProcesses()
	if err != nil {
		return []Process{a.claim.Child}, false // it cannot be told: ask again
	}
	self := a.claim.Shim
	inGroup := a.claim.inGroup(rows)
	tmux := a.claim.tmuxServers()
	return descendantsOf(rows, a.claim.spareFilter(a.data), func(r row) bool {
		return r.Process != self && (r.parent == self.PID || inGroup && r.group == a.claim.PGID || slices.Contains(tmux, r.PID))
	})
}

// nothingLeft says whether nothing of the agent is seen.
func (a *shim) nothingLeft() bool {
	ours, _ := a.leftProcesses()
	return len(ours) == 0
}

// onlyOthers says whether the children that are left are not the agent's. Without such
// children the kernel says when there are none, and that is certain; a look is not. What
// forks and ends during a look is missed by it, but hardly by several in a row.
func (a *shim) onlyOthers() bool {
	for range 3 {
		if ours, others := a.leftProcesses(); len(ours) > 0 || !others {
			return false
		}
	}
	return true
}

func (a *shim) signalAll(signals ...unix.Signal) {
	ours, _ := a.leftProcesses()
	for _, p := range ours {
		_ = p.sendSignals(signals...) // who cannot be told now is told again
	}
}
