package lock

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// HolderOf asks the kernel which process locked a file or folder, 0 if none. It is a hint:
// two file systems can have the same number for a file.
func HolderOf(path string) int {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	file, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer file.Close() //nolint:errcheck // it was only read
	inode := ":" + strconv.FormatUint(sys.Ino, 10)
	for in := bufio.NewScanner(file); in.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
		f := strings.Fields(in.Text())
		if len(f) > 5 && f[1] == "FLOCK" && f[3] == "WRITE" && strings.HasSuffix(f[5], inode) {
			if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 {
				return pid
			}
		}
	}
	return 0
}
