package signal_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"orange/internal/core/signal"
)

func TestViaAsText(t *testing.T) {
	for want, v := range map[string]signal.Via{
		"orange from bash, pts/3, pid 4711":     {Kind: signal.ViaSocket, PID: 4711, Program: "orange", Path: "/bin/orange", Parent: "bash", Terminal: "pts/3"},
		"curl, pid 7":                           {Kind: signal.ViaSocket, PID: 7, Program: "curl"},
		"unknown process":                       {Kind: signal.ViaSocket, Parent: "bash"},
		"page session 1a2b3c4d, firefox, pid 9": {Kind: signal.ViaPage, Session: "1a2b3c4d", Program: "firefox", PID: 9},
		"page token, curl from sh, pid 9":       {Kind: signal.ViaToken, Program: "curl", Parent: "sh", PID: 9},
		"MCP, orange from claude, pid 9":        {Kind: signal.ViaMCP, Program: "orange", Parent: "claude", PID: 9},
		"ada in lin":                            {Kind: signal.ViaTracker, Tracker: "lin", Account: "ada"},
		"unnamed account in github":             {Kind: signal.ViaTracker, Tracker: "github"},
	} {
		if got := v.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestViaIsCleanedAndBounded(t *testing.T) {
	long := strings.Repeat("ü", 5000)
	got := signal.Via{
		Kind: "root", PID: -3, Program: "or\x1b[31mange\n", Path: long, Parent: "b\u202eash", Terminal: "pts/3\r", Session: long, Tracker: "l\x00in", Account: "a\xffda",
	}.SanitizedCopy()
	want := signal.Via{Kind: signal.ViaSocket, Program: "or[31mange", Path: got.Path, Parent: "bash", Terminal: "pts/3", Session: got.Session, Tracker: "lin", Account: "ada"}
	if got != want {
		t.Errorf("%+v", got)
	}
	if len(got.Path) > 400 || len(got.Session) > 80 || got.Session == "" || !utf8.ValidString(got.Path+got.Session) {
		t.Errorf("%d and %d bytes", len(got.Path), len(got.Session))
	}
}
