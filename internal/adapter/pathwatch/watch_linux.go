package pathwatch

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

const (
	itself  = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF
	entries = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO
	// always matters, for every entry.
	always = itself | unix.IN_IGNORED | unix.IN_UNMOUNT | unix.IN_Q_OVERFLOW

	headSize = 16 // of an event, before the name
)

// A Watch notices changes after Open.
type Watch struct {
	events int // of inotify
	mounts int // a mount can hide a folder, which inotify does not report; -1 if unknown
	names  map[int32][]string
}

// Open starts to watch paths, which need not exist.
func Open(paths ...string) (*Watch, error) {
	events, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	w := &Watch{events: events, mounts: -1, names: map[int32][]string{}}
	if fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		w.mounts = fd
	}
	for _, f := range foldersToWatch(paths) {
		mask := uint32(itself | unix.IN_MASK_ADD) // a folder may have two names
		if len(f.names) > 0 {
			mask |= entries
		}
		id, err := unix.InotifyAddWatch(events, f.path, mask)
		if errors.Is(err, unix.EACCES) && len(f.names) == 0 {
			continue // no permission to read it
		}
		if err != nil {
			w.Close()
			return nil, fmt.Errorf("watch %s: %w", f.path, err)
		}
		w.names[int32(id)] = append(w.names[int32(id)], f.names...)
	}
	return w, nil
}

// Wait returns when one of the paths may have changed, or when ctx ends, with the error of ctx.
func (w *Watch) Wait(ctx context.Context) error {
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	defer unix.Close(wake) //nolint:errcheck // nothing is lost with it
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		_, _ = unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	})
	defer func() {
		if !stop() {
			<-done // before wake is closed
		}
	}()
	for {
		fds := []unix.PollFd{{Fd: int32(w.events), Events: unix.POLLIN}, {Fd: int32(w.mounts), Events: unix.POLLPRI}, {Fd: int32(wake), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("watch files: %w", err)
		case fds[1].Revents != 0 || w.concernsPaths():
			return nil
		}
	}
}

// concernsPaths reads the events and reports whether one of them can concern the paths.
func (w *Watch) concernsPaths() bool {
	buf := make([]byte, 4096)
	n, err := unix.Read(w.events, buf)
	if err != nil {
		return !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR)
	}
	for rest := buf[:n]; len(rest) >= headSize; {
		id, mask := int32(binary.NativeEndian.Uint32(rest)), binary.NativeEndian.Uint32(rest[4:])
		end := headSize + int(binary.NativeEndian.Uint32(rest[12:]))
		name := string(bytes.TrimRight(rest[headSize:end], "\x00"))
		if mask&always != 0 || slices.Contains(w.names[id], name) {
			return true
		}
		rest = rest[end:]
	}
	return false
}

// Close ends the watch. No Wait may be running.
func (w *Watch) Close() {
	unix.Close(w.events) //nolint:errcheck // nothing was written
	if w.mounts >= 0 {
		unix.Close(w.mounts) //nolint:errcheck // nothing was written
	}
}
