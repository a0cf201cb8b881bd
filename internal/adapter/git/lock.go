package git

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"orange/internal/lazy"
)

// A LockError means that a lock is held: a lock file of git, or the landing lock.
type LockError struct {
	Path   string
	Since  time.Time // when the file was created; zero if it no longer exists
	Holder string    // the holder of the landing lock; "" for a lock of git
}

// Error implements error.
func (e *LockError) Error() string {
	if e.Holder != "" {
		return fmt.Sprintf("%s is held by %s: wait for it and try again", e.Path, e.Holder)
	}
	since := ""
	if !e.Since.IsZero() {
		since = " since " + e.Since.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%s exists%s: another git command is running; wait for it, or if none is running (ps shows no git) the lock is stale: remove the file and try again",
		e.Path, since)
}

var lockMessages = [...]*lazy.Regexp{
	lazy.NewRegexp(`Unable to create '(.+\.lock)': File exists`),
	lazy.NewRegexp(`could not lock config file (.+): File exists`),
}

// lockedBy returns a LockError for the lock file that git complains about, or nil if it
// complains about something else.
func lockedBy(dir, stderr string) error {
	for i, message := range lockMessages {
		found := message.FindStringSubmatch(stderr)
		if found == nil {
			continue
		}
		path := found[1]
		if i == 1 {
			path += ".lock"
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return lockAt(path)
	}
	return nil
}

func lockAt(path string) error {
	e := &LockError{Path: makePrintable(path)}
	if info, err := os.Lstat(path); err == nil {
		e.Since = info.ModTime()
	}
	return e
}

// isLeftLock reports whether path is the index.lock of a git that was killed while it wrote
// files of a landing that began at since. Such a file is empty, and no process has it open: git
// keeps it open until it writes the index into it.
func isLeftLock(path string, since time.Time) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 0 || info.ModTime().Before(since) {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Getuid() && !openSomewhere(path)
}

// openSomewhere reports whether a process may have a file open. It returns true where the
// system gives no answer.
func openSomewhere(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	links, bad := filepath.Glob("/proc/[0-9]*/fd/[0-9]*")
	if err != nil || bad != nil || len(links) == 0 {
		return true
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == real {
			return true
		}
	}
	return false
}

// checkIndexUnlocked returns an error if the index of a worktree is locked.
func checkIndexUnlocked(gitDir string) error {
	path := filepath.Join(gitDir, "index.lock")
	if _, err := os.Lstat(path); err == nil {
		return lockAt(path)
	}
	return nil
}
