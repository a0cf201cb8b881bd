package main

import (
	"os"
	"testing"

	"orange/internal/selftest"
	"orange/internal/testneeds"
)

// TestChaos damages workspaces and kills servers while agents work.
func TestChaos(t *testing.T) {
	t.Parallel()
	testneeds.Server(t)
	program, err := built()
	check(t, err)
	dir, err := os.MkdirTemp("", "s") // a socket's path may have 108 bytes
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // a temporary folder
	done, wrong, err := selftest.RunFaults(t.Context(), selftest.CrashOptions{Program: program, Dir: dir}, 1)
	t.Logf("%q", done)
	check(t, err)
	for _, w := range wrong {
		t.Error(w)
	}
}
