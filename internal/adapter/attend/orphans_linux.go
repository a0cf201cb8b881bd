package attend

import (
	"bufio"
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// orphanDelay is how long an orphan that has ended may wait to be reaped. Children that
// os/exec waits for are usually reaped by then, so that they need not be told apart.
const orphanDelay = time.Second

// AdoptOrphans makes this process the parent of every descendant whose own parent ends, so
// that whatever it starts can be found below it, and reaps those orphans until ctx ends.
// Children of os/exec are left to it: Go holds a handle of each.
func AdoptOrphans(ctx context.Context) {
	if adopt() {
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
	rows, err := everyone()
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

// heldByGo lists the processes of which this process holds a handle.
func heldByGo() (map[int]bool, error) {
	files, err := filepath.Glob("/proc/self/fdinfo/*")
	if err != nil {
		return nil, err
	}
	held := map[int]bool{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			continue // closed meanwhile
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "Pid:"); ok {
				if pid, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
					held[pid] = true
				}
			}
		}
		f.Close() //nolint:errcheck // it was only read
	}
	return held, nil
}
