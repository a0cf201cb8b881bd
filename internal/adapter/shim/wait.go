package shim

import (
	"errors"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"orange/internal/core/agent"
)

// A childExit is the end of a child process that was waited for.
type childExit struct {
	pid    int
	status unix.WaitStatus
}

// waitForEnd returns when the agent and everything it started have ended. As soon as the agent has ended by itself, or
// the shim is told to end, waitForEnd signals what is left to end and, after the grace, kills it.
func (a *shim) waitForEnd() agent.Exit {
	exit := agent.Exit{Code: -1}
	deaths := make(chan childExit)
	go a.reapChildren(deaths)
	var kill, again <-chan time.Time
	pause := 10 * time.Millisecond
	gone := false // the agent has ended
	end := func() {
		if kill == nil {
			a.signalAll(unix.SIGTERM, unix.SIGCONT) // a stopped process must continue to be able to end
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

// noteSignal records immediately that the shim was told to end, because the agent may take a while to end and the
// judgement of other attempts needs it.
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

// reapChildren waits for children until there are none. It continues an agent that was stopped from the keyboard,
// because there is no shell to continue it with.
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
				_ = unix.Kill(-pid, unix.SIGCONT) // if it fails, the agent stays stopped
			}
		default:
			deaths <- childExit{pid, status}
		}
	}
}

// exitMeaning returns the exit code and the signal of an end.
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

// leftProcesses lists the descendants of this process, the processes in the agent's group and the tmux servers that the
// agent started. Others reports whether there are descendants that are not the agent's.
func (a *shim) leftProcesses() (ours []Process, others bool) {
	rows, err := listProcesses()
	if err != nil {
		return []Process{a.claim.Child}, false // unknown: check again
	}
	self := a.claim.Shim
	inGroup := a.claim.inGroup(rows)
	tmux := a.claim.tmuxServers()
	return descendantsOf(rows, a.claim.protectedFilter(a.data), func(r row) bool {
		return r.Process != self && (r.parent == self.PID || inGroup && r.group == a.claim.PGID || slices.Contains(tmux, r.PID))
	})
}

// nothingLeft reports whether no process of the agent is found.
func (a *shim) nothingLeft() bool {
	ours, _ := a.leftProcesses()
	return len(ours) == 0
}

// onlyOthers reports whether the remaining children are not the agent's. Without such children the kernel reports when
// there are none, which is certain; a list of processes is not. A process that forks and ends while the list is read is
// missed, but hardly by several reads in a row.
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
		_ = p.sendSignals(signals...) // a signal that fails is sent again
	}
}
