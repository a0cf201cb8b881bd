package shim

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// orphanDelay is how long an orphan that has ended may wait to be reaped. By then os/exec has usually reaped its
// children, so that they need not be distinguished.
const orphanDelay = time.Second

// handles is where the kernel describes the open files of this process.
const handles = "/proc/self/fdinfo"

// AdoptOrphans makes this process the parent of every descendant whose own parent ends, so that its descendants can be
// found below it, and reaps those orphans until ctx ends. It leaves children of os/exec alone: Go holds a handle of
// each. On a kernel without such handles (before 5.4) they cannot be distinguished, and nothing is adopted.
func AdoptOrphans(ctx context.Context) {
	if _, err := heldByGo(); err == nil && becomeSubreaper() {
		go reapUntil(ctx)
	}
}

func reapUntil(ctx context.Context) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	defer signal.Stop(ended)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(orphanDelay):
			reapOrphans()
		}
	}
}

func reapOrphans() {
	if unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) != nil {
		return // there are no children at all
	}
	rows, err := listProcesses()
	if err != nil {
		return
	}
	held, err := heldByGo()
	if err != nil {
		return
	}
	for _, r := range rows {
		if r.zombie && r.parent == os.Getpid() && !held[r.PID] {
			unix.Wait4(r.PID, nil, unix.WNOHANG, nil) //nolint:errcheck // it stays until the next one ends
		}
	}
}

// heldByGo lists the processes of which this process holds a handle. An error means that the list is incomplete: a
// handle that cannot be read may be that of a child.
func heldByGo() (map[int]bool, error) {
	self, err := os.FindProcess(os.Getpid()) // its handle must be found as well
	if err != nil {
		return nil, err
	}
	defer self.Release() //nolint:errcheck // it is not used
	files, err := os.ReadDir(handles)
	if err != nil {
		return nil, err
	}
	held := map[int]bool{}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(handles, f.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // closed meanwhile
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			if number, ok := strings.CutPrefix(line, "Pid:"); ok {
				if pid, err := strconv.Atoi(strings.TrimSpace(number)); err == nil {
					held[pid] = true
				}
			}
		}
	}
	if !held[self.Pid] {
		return nil, errors.New("the handles of processes cannot be seen")
	}
	return held, nil
}
