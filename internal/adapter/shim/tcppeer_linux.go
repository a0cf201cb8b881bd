package shim

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// tcpPeers finds the inode of the other end's socket, then the processes that have it open.
func tcpPeers(far, near netip.AddrPort) ([]int, error) {
	s, err := findSocket(far, near)
	if err != nil {
		return nil, err
	}
	holders, hidden, err := holdersOf("socket:["+s.inode+"]", s.user)
	switch {
	case err != nil:
		return nil, err
	case len(holders) > 0:
		return holders, nil
	case len(hidden) > 0:
		return hidden, nil
	}
	return nil, errNoPeer
}

// socket is a line of the kernel's tables.
type socket struct{ inode, user string }

// findSocket finds the socket whose own end is far in the kernel's tables. An IPv6 socket may carry IPv4.
func findSocket(far, near netip.AddrPort) (socket, error) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return socket{}, fmt.Errorf("look at the connections: %w", err)
		}
		s := socketIn(bufio.NewScanner(f), far, near)
		f.Close() //nolint:errcheck // nothing was written to it
		if s.inode != "" && s.inode != "0" {
			return s, nil
		}
	}
	return socket{}, errNoPeer
}

// socketIn reads lines "sl local remote st queues timer retrnsmt uid timeout inode ...".
func socketIn(lines *bufio.Scanner, far, near netip.AddrPort) socket {
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 10 {
			continue
		}
		own, ok := kernelAddr(f[1])
		if !ok || own != far {
			continue
		}
		if other, ok := kernelAddr(f[2]); ok && other == near {
			return socket{inode: f[9], user: f[7]}
		}
	}
	return socket{}
}

// kernelAddr parses an address as the kernel prints it: hexadecimal words in the machine's byte order.
func kernelAddr(text string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	n, also := strconv.ParseUint(port, 16, 16)
	if err != nil || also != nil || len(raw) != 4 && len(raw) != 16 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		word := binary.BigEndian.Uint32(raw[i:])
		binary.NativeEndian.PutUint32(raw[i:], word)
	}
	addr, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), true
}

// holdersOf lists the processes that have something open, and those of a user that do not show what they have open. It
// leaves out this process. Those of other users cannot have a connection that the user made, and on a machine with many
// users some start and end all the time.
func holdersOf(what, user string) (holders, hidden []int, err error) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return nil, nil, fmt.Errorf("list the processes: %w", err)
	}
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		switch open, err := linkTargets("/proc/" + e.Name() + "/fd"); {
		case errors.Is(err, fs.ErrPermission):
			if mayBeOf(e.Name(), user) {
				hidden = append(hidden, pid)
			}
		case slices.Contains(open, what):
			holders = append(holders, pid)
		}
	}
	return holders, hidden, nil
}

// mayBeOf reports whether a process runs as a user, by one of its four user ids. A process that does not show them may be
// anybody's.
func mayBeOf(pid, user string) bool {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) // it has ended
	}
	for line := range strings.Lines(string(text)) {
		if ids, ok := strings.CutPrefix(line, "Uid:"); ok {
			return slices.Contains(strings.Fields(ids), user)
		}
	}
	return true
}

// linkTargets returns the targets of the links in a folder.
func linkTargets(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written to it
	names, err := f.Readdirnames(-1)
	out := make([]string, 0, len(names))
	for _, name := range names {
		if to, err := os.Readlink(dir + "/" + name); err == nil {
			out = append(out, to)
		}
	}
	return out, err
}
