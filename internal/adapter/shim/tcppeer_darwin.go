package shim

import (
	"fmt"
	"net/netip"
	"os/exec"
	"strconv"
)

// tcpPeers runs lsof, which comes with the system.
func tcpPeers(far, near netip.AddrPort) ([]int, error) {
	out, err := exec.Command("/usr/sbin/lsof", "-nP", "-iTCP:"+strconv.Itoa(int(far.Port())), "-sTCP:ESTABLISHED", "-Fpn").Output()
	if err != nil && len(out) == 0 {
		return nil, fmt.Errorf("ask lsof: %w", err)
	}
	pids := parseLsof(string(out), far, near)
	if len(pids) == 0 {
		return nil, errNoPeer
	}
	return pids, nil
}
