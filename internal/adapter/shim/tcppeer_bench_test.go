package shim

import (
	"net"
	"os/exec"
	"testing"
)

// BenchmarkTCPPeers is what the first request of a connection waits for while agents live.
func BenchmarkTCPPeers(b *testing.B) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		b.Skip("there is no bash, which speaks TCP")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Skip(err)
	}
	defer l.Close()
	host, port, _ := net.SplitHostPort(l.Addr().String())
	cmd := exec.Command(bash, "-c", "exec 3<>/dev/tcp/"+host+"/"+port+"; read x <&3")
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer cmd.Wait() //nolint:errcheck // it ends when the connection does
	conn, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	for b.Loop() {
		if _, err := TCPPeers(conn.RemoteAddr().String(), conn.LocalAddr()); err != nil {
			b.Fatal(err)
		}
	}
}
