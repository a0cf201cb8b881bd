package main

import (
	"os"
	"testing"

	"orange/internal/selftest"
	"orange/internal/testneeds"
)

// TestCrashAtEveryBoundaryOfACheck kills the server at every boundary of a task whose check fails once and then passes
// and counts how often the check ran.
func TestCrashAtEveryBoundaryOfACheck(t *testing.T) {
	testneeds.Server(t)
	t.Parallel()
	program, err := built()
	check(t, err)
	dir, err := os.MkdirTemp("", "s") // a socket's path may have 108 bytes
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // a temporary folder
	points, wrong, err := selftest.CrashDuringChecks(t.Context(), selftest.CrashOptions{Program: program, Dir: dir, Parallel: 4})
	check(t, err)
	t.Logf("%d crash points tried", points)
	for _, w := range wrong {
		t.Error(w)
	}
	if least := 8; points < least {
		t.Errorf("only %d crash points: the walk is too short to prove anything", points)
	}
}
