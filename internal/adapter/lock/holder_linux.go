package lock

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// locksFile is where the kernel lists all locks.
const locksFile = "/proc/locks"

// HolderOf returns the process that, according to the kernel, locked a file or folder, or 0 if
// there is none. It is a hint: two file systems can use the same number for a file.
func HolderOf(path string) int {
	pids, _ := findHolders(path)
	if len(pids) == 0 {
		return 0
	}
	return pids[0]
}

// HeldBy reports whether, according to the kernel, a process locked a file or folder. It
// returns true if the kernel does not list locks.
func HeldBy(path string, pid int) bool {
	pids, err := findHolders(path)
	return err != nil || slices.Contains(pids, pid)
}

// findHolders returns the processes that locked the file at path, or a file with the same
// number on another file system. It returns an error if the kernel does not list locks.
func findHolders(path string) (pids []int, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, nil
	}
	file, err := os.Open(locksFile)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	inode := ":" + strconv.FormatUint(sys.Ino, 10)
	for in := bufio.NewScanner(file); in.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
		f := strings.Fields(in.Text())
		if len(f) > 5 && f[1] == "FLOCK" && f[3] == "WRITE" && strings.HasSuffix(f[5], inode) {
			if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
	}
	return pids, nil
}
