package shim

import (
	"bufio"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheProcessAtTheOtherEndIsFound(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash, which speaks TCP")
	}
	for _, network := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(network, func(t *testing.T) {
			l, err := net.Listen("tcp", network)
			if err != nil {
				t.Skip(err)
			}
			defer l.Close()
			host, port, _ := net.SplitHostPort(l.Addr().String())
			cmd := exec.Command(bash, "-c", "exec 3<>/dev/tcp/"+host+"/"+port+"; echo hello >&3; read x <&3")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait() //nolint:errcheck // it ends when the connection does
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			pids, err := TCPPeers(conn.RemoteAddr().String(), conn.LocalAddr())
			if err != nil || !slices.Contains(pids, cmd.Process.Pid) || slices.Contains(pids, os.Getpid()) {
				t.Errorf("%v, %v; want %d", pids, err, cmd.Process.Pid)
			}
		})
	}
}

func TestAConnectionOfNobody(t *testing.T) {
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9}
	for _, remote := range []string{"127.0.0.1:1", "nothing", "", "127.0.0.1"} {
		if pids, err := TCPPeers(remote, local); err == nil {
			t.Errorf("%q: %v", remote, pids)
		}
	}
	if pids, err := TCPPeers("127.0.0.1:1", nil); err == nil {
		t.Errorf("%v", pids)
	}
}

func TestLsofIsRead(t *testing.T) {
	far, near := netip.MustParseAddrPort("127.0.0.1:50000"), netip.MustParseAddrPort("127.0.0.1:4747")
	text := strings.Join([]string{"p10", "f5", "n127.0.0.1:4747->127.0.0.1:50000", "p20", "f7", "n127.0.0.1:50000->127.0.0.1:4747", "f8", "n127.0.0.1:50000->127.0.0.1:4747", "p30", "n127.0.0.1:50001->127.0.0.1:4747", "px", "n127.0.0.1:50000->127.0.0.1:4747", ""}, "\n")
	if diff := cmp.Diff([]int{20}, parseLsof(text, far, near)); diff != "" {
		t.Errorf("processes (-want +got):\n%s", diff)
	}
}
