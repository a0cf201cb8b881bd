package shim

import (
	"errors"
	"os"
	"sync"
	"time"
)

// A processWatch waits for the end of one process. Where the kernel can tell, waiting takes
// neither a thread nor a timer; elsewhere the process is looked at once a second.
type processWatch struct {
	process Process
	file    *os.File // nil where the kernel cannot tell
	closed  chan struct{}
	once    sync.Once
}

// newProcessWatch begins a vigil. The error is errEnded if there is nothing to wait for.
func newProcessWatch(p Process) (*processWatch, error) {
	v := &processWatch{process: p, closed: make(chan struct{})}
	file, err := openHandle(p)
	switch {
	case err == nil:
		v.file = file
	case errors.Is(err, errEnded) || !p.Alive():
		return nil, errEnded
	}
	return v, nil
}

// waitFor returns nil when the process has ended, os.ErrDeadlineExceeded when that takes
// longer than the limit, and os.ErrClosed after stop. No limit is no limit.
func (w *processWatch) waitFor(limit time.Duration) error {
	if w.file == nil {
		return w.pollProcess(limit)
	}
	var until time.Time
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	if err := w.file.SetReadDeadline(until); err != nil {
		return w.pollProcess(limit)
	}
	raw, err := w.file.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(handleEnded)
}

// pollProcess looks at the process until it has ended.
func (w *processWatch) pollProcess(limit time.Duration) error {
	var over <-chan time.Time
	if limit > 0 {
		over = time.After(limit)
	}
	for pause := 5 * time.Millisecond; w.process.Alive(); pause = min(2*pause, time.Second) {
		select {
		case <-w.closed:
			return os.ErrClosed
		case <-over:
			return os.ErrDeadlineExceeded
		case <-time.After(pause):
		}
	}
	return nil
}

// stop ends the vigil. It may be called more than once and from anywhere.
func (w *processWatch) stop() {
	w.once.Do(func() {
		close(w.closed)
		if w.file != nil {
			w.file.Close() //nolint:errcheck // nothing was written to it
		}
	})
}
