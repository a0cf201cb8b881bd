package api_test

import (
	"net"
	"net/http"
	"testing"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// lobby says of every connection that it comes from one process.
type lobby struct{ pid int }

func (l *lobby) PeerPID(net.Conn) int { return l.pid }

func (l *lobby) DescribeProcess(int) *signal.Via {
	return &signal.Via{Program: "orange", Path: "/usr/bin/orange", Parent: "ba\x1bsh", Terminal: "pts/3"}
}

func TestTheJournalSaysWhereAnActionCameFrom(t *testing.T) {
	found := signal.Via{Kind: signal.ViaSocket, PID: 4711, Program: "orange", Path: "/usr/bin/orange", Parent: "bash", Terminal: "pts/3"}
	overMCP := found
	overMCP.Kind = signal.ViaMCP
	page := signal.Via{Kind: signal.ViaPage, PID: 9, Program: "firefox", Session: "1a2b3c4d"}
	const said = `{"kind":"page","pid":9,"program":"firefox","session":"1a2b3c4d"}`
	const own = 42 // pid of the server in these tests
	for _, tt := range []struct {
		name   string
		pid    int
		header string
		want   *signal.Via
	}{
		{"a client of the socket", 4711, "", &found},
		{"a client that says it is the page", 4711, said, &found},
		{"a client that speaks MCP", 4711, `{"kind":"mcp","program":"vim","pid":1}`, &overMCP},
		{"the page itself", own, said, &page},
		{"the page with nonsense", own, "{", nil},
		{"nobody knows who", 0, said, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := open(t)
			must(t, r.stop())
			r.server.Origins = &lobby{tt.pid}
			r.listen(r.server.Home + "/t")
			headers := []string{}
			if tt.header != "" {
				headers = []string{wire.HeaderVia, tt.header}
			}
			got := r.ask("POST", "/v1/tasks", `{"id":"A0000000000000000000a","project":"p","branch":"a","summary":"s","via":{"kind":"page","session":"forged"}}`, headers...)
			if got.status != http.StatusOK {
				t.Fatalf("%d %s", got.status, got.text)
			}
			const id = "A0000000000000000000a"
			r.ask("POST", "/v1/tasks/"+id+"/signals", `{"kind":"pause","via":{"kind":"page","session":"forged"}}`, headers...)
			r.ask("POST", "/v1/tasks/"+id+"/signals", `{"kind":"request","verb":"nonsense"}`, headers...)
			x, err := r.runtime.Explain(t.Context(), id)
			must(t, err)
			if len(x.Refusals) != 1 || !sameVia(x.Refusals[0].Via, tt.want) {
				t.Errorf("refusals: %+v", x.Refusals)
			}
			entries, err := r.store.Journal(id, 0)
			must(t, err)
			last := entries[len(entries)-1]
			if !sameVia(entries[0].Via, tt.want) || last.Type != "task.paused" || !sameVia(last.Via, tt.want) {
				t.Errorf("created via %v, %s via %v, want %v", entries[0].Via, last.Type, last.Via, tt.want)
			}
		})
	}
}

func sameVia(a, b *signal.Via) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func TestAnAttemptLeavesNoVia(t *testing.T) {
	r, _ := guarded(t)
	id := r.create("mine")
	r.ask("POST", "/v1/tasks/"+id+"/signals", `{"kind":"request","verb":"cancel"}`, wire.HeaderToken, id)
	got := r.ask("GET", "/v1/tasks/"+id+"/explain", "")
	if got.status != http.StatusOK {
		t.Fatal(got.text)
	}
	x, err := r.runtime.Explain(t.Context(), task.ID(id))
	must(t, err)
	if len(x.Refusals) != 1 || x.Refusals[0].Via != nil {
		t.Errorf("%+v", x.Refusals)
	}
}
