package server

import (
	"os"
	"strings"
	"sync/atomic"
	"syscall"
)

// crashAt returns a fault that kills this process with SIGKILL at the n-th commit or effect boundary whose name begins
// with kind. It returns nil if n is 0. Tests use it to prove that nothing is lost.
func crashAt(n int, kind string) func(point string) {
	if n <= 0 {
		return nil
	}
	var passed atomic.Int64
	return func(point string) {
		if strings.HasPrefix(point, kind) && passed.Add(1) == int64(n) {
			syscall.Kill(os.Getpid(), syscall.SIGKILL) //nolint:errcheck // the process ends here
			select {}
		}
	}
}
