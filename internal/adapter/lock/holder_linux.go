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

// HolderOf asks the kernel which process locked a file or folder, 0 if none. It is a hint:
// two file systems can have the same number for a file.
func HolderOf(path string) int {
	pids, _ := findHolders(path)
	if len(pids) == 0 {
		return 0
	}
	return pids[0]
}

// HeldBy asks the kernel whether a process locked a file or folder. It says yes if the kernel
// does not list locks.
func HeldBy(path string, pid int) bool {
	pids, err := findHolders(path)
	return err != nil || slices.Contains(pids, pid)
}

// findHolders lists the processes that locked the file at path, or one with the same number on
// another file system. The error says that the kernel does not tell.
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
