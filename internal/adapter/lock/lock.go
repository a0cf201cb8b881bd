// Package lock makes sure that at most one server works on a data folder and on its store. The
// kernel holds the lock, on the folders themselves: no file has to stay in place, every name of
// a folder refers to the same lock, and the lock ends with the process. The file server.lock
// names the holder; if it is lost, it is written again.
package lock

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"orange/internal/atomicfile"
)

const (
	// fileName is the file that names the holder of a data folder.
	fileName = "server.lock"
	// storeName is the database. If it is a link to a file in another folder, that folder is
	// locked too.
	storeName = "orange.db"

	holderTimeout = time.Second // how long to wait for a holder that has not written its name yet
	poll          = 20 * time.Millisecond
)

// A Holder is a process that holds a data folder, as server.lock describes it.
type Holder struct {
	PID    int
	Socket string // where it listens
	Mark   string // distinguishes its process from others that had or will have the same pid
	Work   string // what it does if it is no server, such as "restore"
}

// HeldError means that another process holds a folder.
type HeldError struct {
	Folder string
	PID    int    // 0 if unknown
	Known  bool   // server.lock of the data folder names it
	Work   string // what it does, if it is known and no server
}

func (e *HeldError) Error() string {
	who := "another process"
	if e.PID > 0 {
		who = fmt.Sprintf("pid %d", e.PID)
	}
	return fmt.Sprintf("%s is in use by %s", e.Folder, who)
}

// A Lock is held until Release, or until the process dies.
type Lock struct {
	home    string
	self    Holder
	folders []*flock.Flock // the data folder, then that of the database
	file    *flock.Flock
}

// Take locks a data folder and the folder of its database for this process. alive reports
// whether a process that server.lock names still runs. The error is a *HeldError if another
// process holds one of the folders.
func Take(home string, self Holder, alive func(Holder) bool) (*Lock, error) {
	for end := time.Now().Add(holderTimeout); ; time.Sleep(poll) {
		l, err := takeOnce(home, self)
		var held *HeldError
		if !errors.As(err, &held) {
			return l, err
		}
		if h := ReadHolder(home); held.Folder == home && alive(h) {
			held.PID, held.Known, held.Work = h.PID, true, h.Work
			return nil, err
		}
		if time.Now().After(end) {
			return nil, err
		}
	}
}

func takeOnce(home string, self Holder) (_ *Lock, err error) {
	l := &Lock{home: home, self: self}
	defer func() {
		if err != nil {
			l.Release() //nolint:errcheck // the first error is the one to report
		}
	}()
	for _, folder := range lockedFolders(home) {
		f := flock.New(folder, flock.SetFlag(os.O_RDONLY))
		if err := tryLock(f, folder); err != nil {
			return nil, err
		}
		l.folders = append(l.folders, f)
	}
	if err := l.writeFile(); err != nil {
		return nil, err
	}
	return l, nil
}

// lockedFolders returns the data folder and, if its database is a link, the folder of the file.
func lockedFolders(home string) []string {
	file, err := atomicfile.FollowLinks(filepath.Join(home, storeName)) // the first server may make it later
	if err != nil {                                                     // no server can open it
		return []string{home}
	}
	real, err := filepath.EvalSymlinks(home)
	if err != nil || filepath.Dir(file) == real {
		return []string{home}
	}
	return []string{home, filepath.Dir(file)}
}

// tryLock takes one lock. folder is the folder to name in an error.
func tryLock(f *flock.Flock, folder string) error {
	ok, err := f.TryLock()
	if err != nil {
		return fmt.Errorf("lock %s: %w", f.Path(), err)
	}
	if !ok {
		return &HeldError{Folder: folder, PID: HolderOf(f.Path())}
	}
	return nil
}

// writeFile locks server.lock and writes the holder to it. It releases the file that was locked
// before, if any.
func (l *Lock) writeFile() error {
	f := flock.New(filepath.Join(l.home, fileName), flock.SetPermissions(0o600))
	if err := tryLock(f, l.home); err != nil {
		return err
	}
	if err := os.WriteFile(f.Path(), l.self.fileText(), 0o600); err != nil {
		f.Unlock() //nolint:errcheck // the write's error is the one to report
		return fmt.Errorf("lock %s: %w", f.Path(), err)
	}
	before := l.file
	l.file = f
	if before != nil {
		return before.Unlock()
	}
	return nil
}

// EnsureFile makes sure that server.lock belongs to this process and names the server's socket.
// It reports whether the file had been removed or replaced.
func (l *Lock) EnsureFile(socket string) (lost bool, err error) {
	l.self.Socket = socket
	path := filepath.Join(l.home, fileName)
	if !isSameFile(l.file, path) {
		return true, l.writeFile()
	}
	text, err := os.ReadFile(path)
	if err != nil || bytes.Equal(text, l.self.fileText()) {
		return false, err
	}
	return false, os.WriteFile(path, l.self.fileText(), 0o600)
}

// HasMoved reports whether the data folder is no longer in its place.
func (l *Lock) HasMoved() bool { return !isSameFile(l.folders[0], l.home) }

// isSameFile reports whether the locked file is still the one at path.
func isSameFile(f *flock.Flock, path string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(ours, there)
}

// Release releases the lock.
func (l *Lock) Release() error {
	var errs []error
	if l.file != nil {
		errs = append(errs, l.file.Unlock())
	}
	for _, f := range l.folders {
		errs = append(errs, f.Unlock())
	}
	return errors.Join(errs...)
}

// IsHeld reports whether a process holds the data folder. Call it only if that is likely: the
// check itself prevents a server from starting for a moment.
func IsHeld(home string) bool {
	f := flock.New(home, flock.SetFlag(os.O_RDONLY))
	ok, err := f.TryRLock()
	if err != nil {
		return false
	}
	if ok {
		f.Unlock() //nolint:errcheck // closing the file does it
	}
	return !ok
}

// fileText returns the content of server.lock. Earlier programs read its first three lines.
func (h Holder) fileText() []byte {
	text := fmt.Appendf(nil, "%d\n%s\n%s\n", h.PID, h.Socket, h.Mark)
	if h.Work != "" {
		text = fmt.Appendln(text, h.Work)
	}
	return text
}

// ReadHolder returns the content of server.lock. The process may be gone.
func ReadHolder(home string) Holder {
	text, err := os.ReadFile(filepath.Join(home, fileName))
	if err != nil {
		return Holder{}
	}
	lines := strings.Split(string(text), "\n")
	pid, err := strconv.Atoi(lines[0])
	if err != nil {
		return Holder{}
	}
	h := Holder{PID: pid}
	if len(lines) > 2 {
		h.Socket = lines[1]
	}
	if len(lines) > 3 {
		h.Mark = lines[2]
	}
	if len(lines) > 4 {
		h.Work = lines[3]
	}
	return h
}
