package shim

import (
	"errors"
	"os"
	"sync"
	"time"
)

// A processWatch waits for the end of one process. If the kernel reports it, waiting takes neither a thread nor a
// timer; otherwise the process is polled once a second.
type processWatch struct {
	process Process
	file    *os.File // nil if the kernel does not report the end
	closed  chan struct{}
	once    sync.Once
}

// newProcessWatch begins to watch a process. It returns errEnded if the process has ended.
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

// waitFor returns nil when the process has ended, os.ErrDeadlineExceeded when that takes longer than the limit, and
// os.ErrClosed after stop. A limit of zero means no limit.
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

// pollProcess polls the process until it has ended.
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

// stop ends the watch. It may be called more than once and concurrently.
func (w *processWatch) stop() {
	w.once.Do(func() {
		close(w.closed)
		if w.file != nil {
			w.file.Close() //nolint:errcheck // nothing was written to it
		}
	})
}
