package shim

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"orange/internal/wait"
)

// Orphans are reaped, and the children of os/exec are left to it.
func TestOrphansAreReaped(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	AdoptOrphans(ctx)
	defer unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) //nolint:errcheck // the tests beside it do not mind
	if err := exec.Command("sh", "-c", "(sleep 0.1 &)").Run(); err != nil {
		t.Fatal(err)
	}
	var children sync.WaitGroup
	for range 20 {
		children.Go(func() {
			cmd := exec.Command("sh", "-c", "exit 3")
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(2 * orphanDelay) // it has ended, and nobody waits for it yet
			if err := cmd.Wait(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 3 {
				t.Errorf("a child of os/exec was reaped: %v", err)
			}
		})
	}
	children.Wait()
	wait.Until(t, "every orphan is reaped", func() bool {
		rows, err := listProcesses()
		if err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(rows, func(r row) bool { return r.zombie && r.parent == os.Getpid() })
	})
}

// While no more files can be opened, the handles of os/exec cannot be seen: then nobody is
// reaped, and os/exec still finds its child.
func TestNobodyIsReapedWhoseHandleCannotBeSeen(t *testing.T) {
	cmd := exec.Command("sh", "-c", "exit 3")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 3
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	held, err := heldByGo()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err == nil {
		t.Errorf("handles %v, and no error", held)
	}
	if err := cmd.Wait(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 3 {
		t.Error(err)
	}
	if held, err := heldByGo(); err != nil || !held[os.Getpid()] {
		t.Errorf("%v, %v", held, err)
	}
}
