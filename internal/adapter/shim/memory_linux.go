package shim

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// dropCode returns the memory of code that ran only at start to the kernel; with many packages in the program that is
// most of it. Code that is needed again is read from the file. Only pages that are unchanged from the file are dropped.
func dropCode() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close() //nolint:errcheck // it was only read
	for _, m := range unchangedMappings(bufio.NewScanner(maps), program) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED) // if it fails, the memory is kept
	}
}

// A mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// unchangedMappings reads a list of mappings and returns the read-only mappings of the program that hold nothing but
// the file.
func unchangedMappings(lines *bufio.Scanner, program string) (found []mapping) {
	var current mapping
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 2 && !strings.HasSuffix(fields[0], ":"):
			current = mapping{}
			if len(fields) == 6 && fields[5] == program && !strings.Contains(fields[1], "w") {
				fmt.Sscanf(fields[0], "%x-%x", &current.start, &current.end) //nolint:errcheck // then it stays empty
			}
		case len(fields) == 3 && fields[0] == "Anonymous:" && fields[1] == "0" && current.end > current.start:
			found = append(found, current)
		}
	}
	return found
}
