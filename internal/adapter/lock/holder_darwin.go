package lock

import "path/filepath"

// HeldBy reports whether server.lock names a process, because the kernel does not report who
// holds a lock.
func HeldBy(path string, pid int) bool { return pid > 0 && HolderOf(path) == pid }

// HolderOf returns the pid in server.lock, or 0 if there is none, because the kernel does not
// report who holds a lock. It is a hint: the process may be gone.
func HolderOf(path string) int {
	if filepath.Base(path) == fileName {
		path = filepath.Dir(path)
	}
	return ReadHolder(path).PID
}
