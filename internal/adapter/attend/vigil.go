package attend

import (
	"errors"
	"os"
	"sync"
	"time"
)

// A vigil waits for the end of one process. Where the kernel can tell, waiting takes
// neither a thread nor a timer; elsewhere the process is looked at once a second.
type vigil struct {
	process Process
	file    *os.File // nil where the kernel cannot tell
	closed  chan struct{}
	once    sync.Once
}

// watch begins a vigil. The error is errEnded if there is nothing to wait for.
func watch(p Process) (*vigil, error) {
	v := &vigil{process: p, closed: make(chan struct{})}
	file, err := handle(p)
	switch {
	case err == nil:
		v.file = file
	case errors.Is(err, errEnded) || !p.Alive():
		return nil, errEnded
	}
	return v, nil
}

// wait returns nil when the process has ended, os.ErrDeadlineExceeded when that takes
// longer than the limit, and os.ErrClosed after stop. No limit is no limit.
func (v *vigil) wait(limit time.Duration) error {
	if v.file == nil {
		return v.look(limit)
	}
	var until time.Time
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	if err := v.file.SetReadDeadline(until); err != nil {
		return v.look(limit)
	}
	raw, err := v.file.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(ended)
}

// look looks at the process until it has ended.
func (v *vigil) look(limit time.Duration) error {
	var over <-chan time.Time
	if limit > 0 {
		over = time.After(limit)
	}
	for pause := 5 * time.Millisecond; v.process.Alive(); pause = min(2*pause, time.Second) {
		select {
		case <-v.closed:
			return os.ErrClosed
		case <-over:
			return os.ErrDeadlineExceeded
		case <-time.After(pause):
		}
	}
	return nil
}

// stop ends the vigil. It may be called more than once and from anywhere.
func (v *vigil) stop() {
	v.once.Do(func() {
		close(v.closed)
		if v.file != nil {
			v.file.Close() //nolint:errcheck // nothing was written to it
		}
	})
}
