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
)

// tcpPeers finds the inode of the other end's socket, then the processes that have it open.
func tcpPeers(far, near netip.AddrPort) ([]int, error) {
	inode, err := socketInode(far, near)
	if err != nil {
		return nil, err
	}
	holders, hidden, err := holdersOf("socket:[" + inode + "]")
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

// socketInode finds the socket whose own end is far in the kernel's tables. An IPv6 socket may carry IPv4.
func socketInode(far, near netip.AddrPort) (string, error) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("look at the connections: %w", err)
		}
		inode := inodeIn(bufio.NewScanner(f), far, near)
		f.Close() //nolint:errcheck // nothing was written to it
		if inode != "" && inode != "0" {
			return inode, nil
		}
	}
	return "", errNoPeer
}

// inodeIn reads lines "sl local remote st queues timer retrnsmt uid timeout inode ...".
func inodeIn(lines *bufio.Scanner, far, near netip.AddrPort) string {
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
			return f[9]
		}
	}
	return ""
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

// holdersOf lists the processes that have something open, and those that do not show what they have open. It leaves out
// this process.
func holdersOf(what string) (holders, hidden []int, err error) {
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
			hidden = append(hidden, pid)
		case slices.Contains(open, what):
			holders = append(holders, pid)
		}
	}
	return holders, hidden, nil
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
