package lock

import "path/filepath"

// HeldBy says whether a process is the one in server.lock: the kernel does not tell.
func HeldBy(path string, pid int) bool { return pid > 0 && HolderOf(path) == pid }

// HolderOf is the pid in server.lock, 0 if there is none: the kernel does not tell. It is
// a hint: the process may be gone.
func HolderOf(path string) int {
	if filepath.Base(path) == fileName {
		path = filepath.Dir(path)
	}
	return ReadHolder(path).PID
}
