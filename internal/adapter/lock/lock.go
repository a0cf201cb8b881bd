// Package lock makes sure that one server at most works on a data folder.
package lock

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// ErrHeld says that another process holds the lock.
var ErrHeld = errors.New("held by another process")

// A Lock is held until Release, or until the process dies: it is the kernel's.
type Lock struct {
	file *flock.Flock
}

// Take takes the lock at path for this process, and leaves a note in it beside the pid.
func Take(path, note string) (*Lock, error) {
	f := flock.New(path, flock.SetPermissions(0o600))
	ok, err := f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !ok {
		if pid := Holder(path); pid > 0 {
			return nil, fmt.Errorf("lock %s: %w (pid %d)", path, ErrHeld, pid)
		}
		return nil, fmt.Errorf("lock %s: %w", path, ErrHeld)
	}
	if err := os.WriteFile(path, fmt.Appendf(nil, "%d\n%s\n", os.Getpid(), note), 0o600); err != nil {
		f.Unlock() //nolint:errcheck // the write's error is the one to report
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{file: f}, nil
}

// Release gives the lock back.
func (l *Lock) Release() error { return l.file.Unlock() }

// Holder is the pid written into the lock, 0 if there is none. It is a hint for
// messages: the process may be gone.
func Holder(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return pid
}
