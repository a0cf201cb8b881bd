// Package socket listens on a unix socket whose file can be lost: a logout clears the runtime
// folder, a cleaner removes old files. When EnsureListening is called, the listener checks its
// file and listens again in the same place or, while that is impossible, in another.
package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	dialTimeout = time.Second // for another process that may listen at the path
	drain       = time.Second // for callers that connected just before the socket was lost
)

// ErrTaken means that another process listens at a path.
var ErrTaken = errors.New("another process listens there")

// A Listener is a net.Listener that stays open while its socket is replaced.
type Listener struct {
	paths  []string // in order of preference
	calls  chan call
	done   chan struct{}
	accept sync.WaitGroup

	mu     sync.Mutex
	open   *net.UnixListener
	path   string      // of open
	file   fs.FileInfo // of open
	closed bool
}

// call is the result of an Accept.
type call struct {
	conn net.Conn
	err  error
}

// Listen listens at the first of the paths where that is possible. It removes files at which
// nobody listens.
func Listen(paths ...string) (*Listener, error) {
	l := &Listener{paths: slices.Compact(paths), calls: make(chan call), done: make(chan struct{})}
	if _, err := l.EnsureListening(); l.open == nil {
		return nil, err
	}
	return l, nil
}

// Paths returns all paths.
func (l *Listener) Paths() []string { return l.paths }

// Path returns the path at which it listens.
func (l *Listener) Path() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.path
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: l.Path(), Net: "unix"} }

// EnsureListening listens again if the socket is lost, or if a better path is available again.
// It reports whether it did. The error is the reason why it does not listen at the best path;
// it may listen at another one.
func (l *Listener) EnsureListening() (again bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false, nil
	}
	var errs []error
	for _, path := range l.paths {
		if path == l.path && l.isOurs() {
			return false, errors.Join(errs...)
		}
		if err := l.listenAt(path); err != nil {
			errs = append(errs, err)
			continue
		}
		return true, errors.Join(errs...)
	}
	return false, errors.Join(errs...)
}

// IsLost reports whether callers cannot reach the listener.
func (l *Listener) IsLost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.isOurs()
}

// isOurs reports whether the file at the path is the socket that this listener created. Once
// the socket is closed, another file can have its number, but not its time.
func (l *Listener) isOurs() bool {
	if l.file == nil {
		return false
	}
	there, err := os.Lstat(l.path)
	return err == nil && os.SameFile(l.file, there) && there.ModTime().Equal(l.file.ModTime())
}

// listenAt listens at another path and stops listening at the present one.
func (l *Listener) listenAt(path string) error {
	open, err := openSocket(path)
	if err != nil {
		return fmt.Errorf("listen at %s: %w", path, err)
	}
	file, err := os.Lstat(path)
	if err != nil {
		return errors.Join(fmt.Errorf("listen at %s: %w", path, err), open.Close())
	}
	if before := l.open; before != nil {
		if l.isOurs() {
			os.Remove(l.path) //nolint:errcheck // nobody is misled: it leads to nobody
		}
		before.SetDeadline(time.Now().Add(drain)) //nolint:errcheck // then it is closed when all is
	}
	l.open, l.path, l.file = open, path, file
	l.accept.Go(func() { l.acceptFrom(open) })
	return nil
}

// acceptFrom passes on connections until its socket is no longer the open one.
func (l *Listener) acceptFrom(open *net.UnixListener) {
	defer open.Close() //nolint:errcheck // it may be closed
	for {
		conn, err := open.Accept()
		if err != nil && !l.isCurrent(open) {
			return
		}
		select {
		case l.calls <- call{conn, err}:
		case <-l.done:
			if conn != nil {
				conn.Close() //nolint:errcheck // nobody will answer it
			}
			return
		}
	}
}

func (l *Listener) isCurrent(open *net.UnixListener) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open == open && !l.closed
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.calls:
		return c.conn, c.err
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. The file stays until Remove.
func (l *Listener) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	err := l.open.Close() // before done is closed, because acceptFrom then closes it too
	close(l.done)
	l.mu.Unlock()
	l.accept.Wait()
	return err
}

// Remove closes the listener and removes its socket, if it still exists.
func (l *Listener) Remove() error {
	err := l.Close()
	if l.IsLost() {
		return err
	}
	return errors.Join(err, os.Remove(l.path))
}

// openSocket opens a socket for the owner only, in a folder of the owner.
func openSocket(path string) (*net.UnixListener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Getuid() || info.Mode().Perm()&0o002 != 0 {
		return nil, fmt.Errorf("the folder %s is open to others: make it yours alone (chmod 700), or set XDG_RUNTIME_DIR", dir)
	}
	if err := clearAway(path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("keep the socket private: %w", err), l.Close())
	}
	return l, nil
}

// clearAway removes the file in the place of the socket, unless a process listens there.
func clearAway(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket != 0 {
		conn, err := net.DialTimeout("unix", path, dialTimeout)
		if err == nil {
			return errors.Join(ErrTaken, conn.Close())
		}
		if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("check who listens there: %w", err)
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the file in its place: %w", err)
	}
	return nil
}
