package shim

import (
	"bufio"
	"net/netip"
	"strings"
	"testing"
)

// FuzzPeerTables reads tables of connections as the kernel and lsof print them.
func FuzzPeerTables(f *testing.F) {
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	const v4 = "   0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0000000000000000\n"
	const v6 = "   0: 00000000000000000000000001000000:1F90 0000000000000000FFFF00000100007F:C350 01 0:0 0:0 0 0 0 7 1\n"
	far, near := netip.MustParseAddrPort("127.0.0.1:8080"), netip.MustParseAddrPort("127.0.0.1:50000")
	for _, seed := range []string{"", head, head + v4, head + v4 + v4, v6, "p12\nn127.0.0.1:8080->127.0.0.1:50000\n", "p\nn\n", ": : : : : : : : : :", "0 0100007F:1F90 :"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, table string) {
		found := socketIn(bufio.NewScanner(strings.NewReader(table)), far, near)
		inode := found.inode
		if inode != "" && (!strings.Contains(table, inode) || strings.ContainsAny(inode, " \t\n")) {
			t.Errorf("inode %q", inode)
		}
		if strings.Contains(table, "\n"+v4) && strings.HasPrefix(table, head) && strings.Count(table, "\n") == 2 && found != (socket{inode: "4242", user: "1000"}) {
			t.Errorf("%+v of a genuine table", found)
		}
		for _, pid := range parseLsof(table, far, near) {
			if pid <= 0 {
				t.Errorf("process %d", pid)
			}
		}
		for field := range strings.FieldsSeq(table) {
			if a, ok := kernelAddr(field); ok && !a.IsValid() {
				t.Errorf("%q is read as %v", field, a)
			}
		}
	})
}
