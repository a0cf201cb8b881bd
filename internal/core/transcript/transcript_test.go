package transcript

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTurnsAsText(t *testing.T) {
	at := time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)
	p := Printer{Now: at}
	got := p.FormatTurns([]Turn{
		{At: at, Who: User, Text: "Make a button.\n"},
		{At: at, Who: Agent, Tool: "Read", Argument: "a.go"},
		{ID: "1", At: at, Who: Tool},
		{ID: "2", At: at, Who: Tool, Failed: true},
		{Who: Agent, Text: "# Done\n\n\tcode"},
	})
	got = append(got, p.FormatTurns([]Turn{{ID: "1", Who: Tool}, {ID: "2", Who: Tool, Text: "a\nb", More: 1, Failed: true}})...)
	want := "2026-01-02 08:00:00 user\nMake a button.\n\n2026-01-02 08:00:00 agent\n› Read: a.go\n  (no output)\n  (failed)\n\nagent\n# Done\n\n\tcode\n  a\n  b\n  ... 1 more line"
	if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestShorten(t *testing.T) {
	for name, tt := range map[string]struct {
		in, want string
		more     int
	}{
		"nothing":     {"", "", 0},
		"blank lines": {"\n\na  \n\n\nb\n\n", "a\nb", 0},
		"many":        {"1\n2\n3\n4\n5\n6\n\n7\n", "1\n2\n3\n4\n5", 2},
		"long":        {strings.Repeat("x", 400), strings.Repeat("x", 297) + "...", 0},
		"dangerous":   {"a\x1b[2Jb\u202e", "ab", 0},
	} {
		if got, more := ShortenAnswer(tt.in); got != tt.want || more != tt.more {
			t.Errorf("%s: %q and %d more", name, got, more)
		}
	}
}

func TestTheLatestVersionCounts(t *testing.T) {
	got := LatestTurns([]Turn{{Who: User, Text: "a"}, {ID: "x", Text: "old"}, {Who: User, Text: "b"}, {ID: "x", Text: "new"}, {Who: User, Text: "a"}})
	if diff := cmp.Diff([]Turn{{Who: User, Text: "a"}, {ID: "x", Text: "new"}, {Who: User, Text: "b"}, {Who: User, Text: "a"}}, got); diff != "" {
		t.Error(diff)
	}
}
