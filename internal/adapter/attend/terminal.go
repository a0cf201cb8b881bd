package attend

import (
	"bytes"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// drainWithin is how long a terminal may take to read what was written to it.
const drainWithin = time.Second

// drain waits until the terminal has read everything that was written to it. What it has
// not read when the last process lets go of it may be lost, and with it the end of what
// an agent said. A terminal answers this question after all that came before.
func drain() {
	old, err := unix.IoctlGetTermios(0, getTermios)
	if err != nil {
		return // there is none, or it is gone
	}
	signal.Ignore(unix.SIGTTOU) // the agent's group was in the foreground
	defer signal.Reset(unix.SIGTTOU)
	if err := unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, unix.Getpgrp()); err != nil {
		return
	}
	plain := *old
	plain.Lflag &^= unix.ICANON | unix.ECHO
	plain.Iflag &^= unix.IXON // output that was held from the keyboard goes on
	if err := unix.IoctlSetTermios(0, setTermios, &plain); err != nil {
		return
	}
	defer unix.IoctlSetTermios(0, setTermios, old) //nolint:errcheck // it may be gone
	until := time.Now().Add(drainWithin)
	if !ready(unix.POLLOUT, until) {
		return
	}
	if _, err := unix.Write(0, []byte("\x1b[5n")); err != nil {
		return
	}
	answer(until)
}

// answer reads until the terminal has said that all is well.
func answer(until time.Time) {
	var said []byte
	var part [64]byte
	for ready(unix.POLLIN, until) {
		n, err := unix.Read(0, part[:])
		if err != nil || n <= 0 {
			return
		}
		if said = append(said, part[:n]...); bytes.Contains(said, []byte("\x1b[0n")) {
			return
		}
	}
}

// ready waits until the terminal can be read or written.
func ready(event int16, until time.Time) bool {
	for {
		left := time.Until(until)
		if left <= 0 {
			return false
		}
		polled := []unix.PollFd{{Fd: 0, Events: event}}
		n, err := unix.Poll(polled, int(left.Milliseconds())+1)
		if err == nil {
			return n > 0
		}
		if err != unix.EINTR {
			return false
		}
	}
}
