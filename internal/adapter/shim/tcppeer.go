package shim

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// errNoPeer means that no process of this machine is found at the other end.
var errNoPeer = errors.New("no process here holds that connection")

// TCPPeers returns the processes of this machine that hold the other end of a TCP connection over loopback: remote is
// that end as the server sees it, local the server's own. If the holder is not visible, it returns all processes that
// hide what they hold, because the holder is one of them.
func TCPPeers(remote string, local net.Addr) ([]int, error) {
	far, err := netip.ParseAddrPort(remote)
	if err != nil || local == nil {
		return nil, fmt.Errorf("%q is not a TCP address", remote)
	}
	near, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return nil, fmt.Errorf("%q is not a TCP address", local)
	}
	return tcpPeers(unmapAddr(far), unmapAddr(near))
}

// HasExited reports whether a process no longer exists.
func HasExited(pid int) bool {
	_, err := readProcess(pid)
	return errors.Is(err, errEnded)
}

func unmapAddr(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// parseLsof reads the processes from the output of lsof -F pn, for the connection whose own end is far and whose other
// end is near.
func parseLsof(text string, far, near netip.AddrPort) []int {
	want := "n" + far.String() + "->" + near.String()
	var out []int
	pid := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if rest, ok := strings.CutPrefix(line, "p"); ok {
			pid, _ = strconv.Atoi(rest)
		}
		if line == want && pid > 0 && pid != os.Getpid() && !slices.Contains(out, pid) {
			out = append(out, pid)
		}
	}
	return out
}
