package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"orange/internal/atomicfile"
)

// Files in the common git folder: the lock of landings, and the record of the landing in
// progress.
const (
	landingName = "orange-land.lock"
	recordName  = "orange-land.json"
)

// landingTimeout is how long one landing waits for another.
const landingTimeout = 2 * time.Minute

// landRecord is what LandCommit writes down before it changes anything.
type landRecord struct {
	Landing
	Staged []string `json:"staged,omitempty"` // files that already had the content of New in the user's index
	Boot   string   `json:"boot,omitempty"`   // the start of the machine at which the record was written; "" if unknown
	Index  string   `json:"index,omitempty"`  // the version of the checkout's index at that time

	written time.Time    // when the record was written
	held    *landingLock // the lock under which the record was read or written
	ran     bool         // this process has just run git for the landing
}

// landingLock is the lock of all landings of a repository.
type landingLock struct {
	dir  string
	file *os.File
}

// takeLanding takes the lock. While it waits it polls, because the kernel gives no notice when
// a lock becomes free.
func (g *Git) takeLanding(ctx context.Context, root string, l Landing) (*landingLock, error) {
	dir, err := g.commonDir(ctx, root)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, landingName)
	file, err := openShared(path)
	if err != nil {
		return nil, fmt.Errorf("take the landing lock: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, landingTimeout)
	defer cancel()
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(landingHeld(path), file.Close())
		case <-time.After(wait):
		}
	}
	who := fmt.Sprintf("%d %s\n", os.Getpid(), l.What)
	if err := file.Truncate(0); err == nil {
		file.WriteAt([]byte(who), 0) //nolint:errcheck // it is only said to those who wait
	}
	return &landingLock{dir: dir, file: file}, nil
}

// openShared opens the file at path, or creates it. All who may write in its folder may write it: the users of a repository
// that is shared (core.sharedRepository) take the lock in turn.
func openShared(path string) (*os.File, error) {
	mode, err := sharedMode(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, mode)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err == nil && info.Mode().Perm()&mode != mode { // the umask took it, or an older version
		file.Chmod(mode) //nolint:errcheck // another user's file stays as it is, and it could be opened
	}
	return file, nil
}

// sharedMode returns the mode of a file that all may write who may write in its folder.
func sharedMode(dir string) (fs.FileMode, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, err
	}
	return 0o644 | info.Mode().Perm()&0o022, nil
}

// release releases the lock, even if a process that git started still has the file open.
func (h *landingLock) release() {
	syscall.Flock(int(h.file.Fd()), syscall.LOCK_UN) //nolint:errcheck // closing it does the same
	h.file.Close()                                   //nolint:errcheck // nothing in it matters
}

// landingHeld returns an error that names the holder of the lock.
func landingHeld(path string) error {
	e := &LockError{Path: makePrintable(path), Holder: "another landing"}
	text, err := os.ReadFile(path)
	number, what, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	pid, notNumber := strconv.Atoi(number)
	if err != nil || notNumber != nil {
		return e
	}
	e.Holder = fmt.Sprintf("the landing of %s by process %d", makePrintable(what), pid)
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		e.Holder += ", which has ended while its git still runs"
	}
	return e
}

// writeRecord writes the record and syncs it.
func (h *landingLock) writeRecord(rec *landRecord) error {
	text, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	mode, err := sharedMode(h.dir)
	if err != nil {
		return err
	}
	path := filepath.Join(h.dir, recordName)
	if err := atomicfile.Write(path, append(text, '\n'), mode); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil {
		rec.written, rec.held = info.ModTime(), h
	}
	return err
}

// readRecord reads the record that a landing left. A file that is not a record counts as
// missing.
func (h *landingLock) readRecord() (rec landRecord, found bool, err error) {
	path := filepath.Join(h.dir, recordName)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return rec, false, nil
	}
	if err != nil {
		return rec, false, err
	}
	if json.Unmarshal(text, &rec) != nil || !isHash(rec.Old) || !isHash(rec.New) || !validBranch(rec.Target) {
		return rec, false, h.removeRecord()
	}
	info, err := os.Stat(path)
	if err == nil {
		rec.written, rec.held = info.ModTime(), h
	}
	return rec, true, err
}

func (h *landingLock) removeRecord() error {
	return os.Remove(filepath.Join(h.dir, recordName))
}
