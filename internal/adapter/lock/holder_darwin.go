package lock

import "path/filepath"

// HolderOf is the pid in server.lock, 0 if there is none: the kernel does not tell. It is
// a hint: the process may be gone.
func HolderOf(path string) int {
	if filepath.Base(path) == fileName {
		path = filepath.Dir(path)
	}
	return Read(path).PID
}
