package pathwatch

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	itself = unix.NOTE_DELETE | unix.NOTE_RENAME | unix.NOTE_REVOKE
	wakeID = 1 // of the event that ends Wait
)

// A Watch notices changes after Open.
type Watch struct {
	queue   int
	folders []int // open, for the kernel to watch
}

// Open starts to watch paths, which need not exist. A change of any entry of a folder counts,
// because the kernel does not report which one.
func Open(paths ...string) (*Watch, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	unix.CloseOnExec(queue)
	w := &Watch{queue: queue}
	var wake unix.Kevent_t
	unix.SetKevent(&wake, wakeID, unix.EVFILT_USER, unix.EV_ADD|unix.EV_CLEAR)
	changes := []unix.Kevent_t{wake}
	for _, f := range foldersToWatch(paths) {
		fd, err := unix.Open(f.path, unix.O_EVTONLY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EACCES) && len(f.names) == 0 {
			continue // no permission to read it
		}
		if err != nil {
			w.Close()
			return nil, fmt.Errorf("watch %s: %w", f.path, err)
		}
		w.folders = append(w.folders, fd)
		var change unix.Kevent_t
		unix.SetKevent(&change, fd, unix.EVFILT_VNODE, unix.EV_ADD|unix.EV_CLEAR)
		change.Fflags = itself
		if len(f.names) > 0 {
			change.Fflags |= unix.NOTE_WRITE
		}
		changes = append(changes, change)
	}
	if _, err := unix.Kevent(queue, changes, nil, nil); err != nil {
		w.Close()
		return nil, fmt.Errorf("watch files: %w", err)
	}
	return w, nil
}

// Wait returns when one of the paths may have changed, or when ctx ends, with the error of ctx.
func (w *Watch) Wait(ctx context.Context) error {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		var wake unix.Kevent_t
		unix.SetKevent(&wake, wakeID, unix.EVFILT_USER, 0)
		wake.Fflags = unix.NOTE_TRIGGER
		_, _ = unix.Kevent(w.queue, []unix.Kevent_t{wake}, nil, nil)
	})
	defer func() {
		if !stop() {
			<-done // before the queue is closed
		}
	}()
	for {
		_, err := unix.Kevent(w.queue, nil, make([]unix.Kevent_t, 1), nil)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			return nil
		case !errors.Is(err, unix.EINTR):
			return fmt.Errorf("watch files: %w", err)
		}
	}
}

// Close ends the watch. No Wait may be running.
func (w *Watch) Close() {
	unix.Close(w.queue) //nolint:errcheck // nothing was written
	for _, fd := range w.folders {
		unix.Close(fd) //nolint:errcheck // nothing was written
	}
}
