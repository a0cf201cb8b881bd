package shim

import (
	"net"
	"syscall"
	"time"
)

// ListenerPID returns the process that listens at a unix socket, 0 if none does.
func ListenerPID(socket string) int {
	c, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return 0
	}
	defer c.Close() //nolint:errcheck // nothing was sent
	pid, _ := PeerPID(c)
	return pid
}

// PeerPID returns the process at the other end of a unix socket.
func PeerPID(c net.Conn) (pid int, ok bool) {
	conn, isSocket := c.(syscall.Conn)
	if !isSocket {
		return 0, false
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, false
	}
	var asked error
	if err := raw.Control(func(fd uintptr) { pid, asked = peerOf(int(fd)) }); err != nil || asked != nil {
		return 0, false
	}
	return pid, pid > 0
}
