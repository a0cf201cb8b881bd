package shim

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxLeave is how long a shim waits for tmux to read what was written to its terminal. tmux may hang, and another process
// may keep the terminal open.
const maxLeave = time.Second

// lostTerminal reports whether the terminal of this process was closed from outside, as when tmux is killed.
func lostTerminal() bool {
	_, err := unix.IoctlGetTermios(0, unix.TCGETS)
	return err == unix.EIO
}

// leaveTerminal closes the terminal of this process, and waits until tmux has read all that was written there. tmux closes
// its side as soon as it knows that the process of a window has ended, and on a busy machine the kernel may not have handed
// over the last output by then. It also closes its side after it has read everything from a terminal that nobody has open,
// and then the kernel removes the terminal's name.
func leaveTerminal() {
	name, err := os.Readlink("/proc/self/fd/1")
	if err != nil || !strings.HasPrefix(name, "/dev/pts/") {
		return
	}
	var opened, now unix.Stat_t
	if unix.Stat(name, &opened) != nil {
		return // it is gone already
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		_ = unix.Dup3(null, fd, 0) // a terminal that stays open is left at the end
	}
	for end := time.Now().Add(maxLeave); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if unix.Stat(name, &now) != nil || now.Ctim != opened.Ctim { // a new terminal may have the name
			return
		}
	}
}
