package shim

import (
	"os"
	"strconv"
	"testing"
)

// A process that hides what it has open can have a connection only if it runs as the user who made it.
func TestMayBeOf(t *testing.T) {
	self, user := strconv.Itoa(os.Getpid()), strconv.Itoa(os.Getuid())
	for _, tt := range []struct {
		pid, user string
		want      bool
	}{{self, user, true}, {self, "4242424", false}, {"4194305", user, false}} { // no process has a number above 2^22
		if got := mayBeOf(tt.pid, tt.user); got != tt.want {
			t.Errorf("process %s of user %s: %v", tt.pid, tt.user, got)
		}
	}
}
