package mcpboard_test

import (
	"fmt"
	"os"
	"testing"

	"orange/internal/trackertest"
	"orange/internal/trackertest/fakejoan"
)

// pipeTo is the variable with which the test binary is the fake's program.
const pipeTo = "FAKEJOAN_SOCKET"

func TestMain(m *testing.M) {
	if socket := os.Getenv(pipeTo); socket != "" {
		if err := fakejoan.Pipe(socket, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func overHTTP(t testing.TB) *fakejoan.Fake { return fakejoan.New(t, fakejoan.FakeOptions{}) }

// overStdio opens a board whose program is this test. The program has no other environment, so it is told here that the race
// detector need not wait a second when it exits, for which every client would wait.
func overStdio(t testing.TB) *fakejoan.Fake {
	return fakejoan.New(t, fakejoan.FakeOptions{
		Command: []string{os.Args[0]}, Env: func(socket string) []string { return []string{pipeTo + "=" + socket, "GORACE=atexit_sleep_ms=0"} },
	})
}

func TestJoanOverHTTP(t *testing.T) {
	trackertest.RunTracker(t, func(t *testing.T) trackertest.World { return overHTTP(t) })
}

func TestJoanOverStdio(t *testing.T) {
	trackertest.RunTracker(t, func(t *testing.T) trackertest.World { return overStdio(t) })
}

func TestJoanOverHTTPWithSessions(t *testing.T) {
	trackertest.RunTracker(t, func(t *testing.T) trackertest.World {
		return fakejoan.New(t, fakejoan.FakeOptions{Sessions: true})
	})
}
