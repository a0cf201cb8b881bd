package shim

import (
	"net"
	"net/http"
	"path/filepath"

	"orange/internal/core/signal"
)

// A Description is what the kernel reports about a process. It has no command line, because arguments may hold secrets.
// The process can choose its texts freely.
type Description struct {
	Program  string // name of the file it runs
	Path     string // of that file; "" if unknown
	Parent   string // name of the program that started it
	Terminal string // such as pts/3; "" without one
}

// DescribeProcess describes a process. It leaves out what is unknown because the process has ended or belongs to
// another user.
func DescribeProcess(pid int) Description {
	d := Description{Path: programOf(pid)}
	parent, name, terminal := processTraits(pid)
	d.Terminal = terminal
	d.Program = baseOr(d.Path, name)
	if parent > 0 {
		_, name, _ := processTraits(parent)
		d.Parent = baseOr(programOf(parent), name)
	}
	return d
}

// baseOr returns the last element of a path, or name if there is no path.
func baseOr(path, name string) string {
	if path == "" {
		return name
	}
	return filepath.Base(path)
}

// Origins says where requests come from.
type Origins struct{}

// PeerPID implements api.Origins.
func (Origins) PeerPID(c net.Conn) int {
	pid, _ := PeerPID(c)
	return pid
}

// DescribeProcess implements api.Origins.
func (Origins) DescribeProcess(pid int) *signal.Via {
	d := DescribeProcess(pid)
	return &signal.Via{PID: pid, Program: d.Program, Path: d.Path, Parent: d.Parent, Terminal: d.Terminal}
}

// DescribePeer describes the process at the other end of an HTTP connection over loopback. Of several that
// share it, or if it cannot be found, nothing is said.
func DescribePeer(r *http.Request) signal.Via {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	pids, err := TCPPeers(r.RemoteAddr, local)
	if err != nil || len(pids) != 1 {
		return signal.Via{}
	}
	return *Origins{}.DescribeProcess(pids[0])
}
