//go:build linux || darwin || freebsd || netbsd || openbsd

package harness

import "golang.org/x/sys/unix"

// everyKey makes a terminal pass on every key unchanged, without echo. Signals still work. It
// returns a function that restores the terminal, and false if fd is not a terminal.
func everyKey(fd int) (restore func(), ok bool) {
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, false
	}
	raw := *before
	raw.Iflag &^= unix.ICRNL | unix.INLCR | unix.IGNCR | unix.IXON | unix.ISTRIP
	raw.Lflag &^= unix.ICANON | unix.ECHO | unix.IEXTEN
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, setTermios, &raw); err != nil {
		return nil, false
	}
	return func() { _ = unix.IoctlSetTermios(fd, setTermios, before) }, true
}
