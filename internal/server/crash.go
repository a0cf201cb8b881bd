package server

import (
	"os"
	"strings"
	"sync/atomic"
	"syscall"
)

// crashAt returns a fault that kills this process, at once and for real, when the
// n-th commit or effect boundary is reached, of those whose name begins with kind. 0
// never does. It exists to prove that nothing is lost.
func crashAt(n int, kind string) func(point string) {
	if n <= 0 {
		return nil
	}
	var passed atomic.Int64
	return func(point string) {
		if strings.HasPrefix(point, kind) && passed.Add(1) == int64(n) {
			syscall.Kill(os.Getpid(), syscall.SIGKILL) //nolint:errcheck // there is nobody left to tell
			select {}
		}
	}
}
