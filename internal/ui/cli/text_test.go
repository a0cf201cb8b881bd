package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCleanLine(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "a b", "a b"},
		{"umlauts and signs", "für 日本 🍊", "für 日本 🍊"},
		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"colour of one byte", "\u009b31mred", "red"},
		{"title", "\x1b]0;evil\x07ok", "ok"},
		{"title with another end", "\x1b]8;;http://x\x1b\\link", "link"},
		{"title without an end", "\x1b]0;evil\nnext", "next"},
		{"device string", "\x1bPq#0\x1b\\ok", "ok"},
		{"character set", "\x1b(0ok", "ok"},
		{"reset", "\x1bcok", "ok"},
		{"lone escape", "ok\x1b", "ok"},
		{"cursor", "a\rb\bc\x7f", "abc"},
		{"line breaks and tabs", "a\r\nb\nc\td", "a b c d"},
		{"order of writing", "a\u202eb\u2066c\u200fd", "abcd"},
		{"no width", "a\u200bb\ufeffc", "abc"},
		{"no text", "a\xffb", "a\ufffdb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := cleanLine(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCleanTextKeepsLines(t *testing.T) {
	if got := cleanText("a\n\tb\x1b[2J\r\n"); got != "a\n\tb\n" {
		t.Errorf("got %q", got)
	}
}

func FuzzCleanTextLeavesNothingDangerous(f *testing.F) {
	for _, s := range []string{"\x1b[31m", "\x1b\x1b[", "\xc2\x9b", "\x1b]\x1b\\", "\xff\x1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := cleanText(s); needsCleaning(got) {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func TestAge(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 3 * time.Minute: "3m", 47 * time.Hour: "47h", 72 * time.Hour: "3d",
	} {
		if got := age(now, now.Add(-ago)); got != want {
			t.Errorf("%s ago: got %s, want %s", ago, got, want)
		}
	}
	if got := age(now, time.Time{}); got != "-" {
		t.Errorf("never: got %s", got)
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	if err := printTable(&out, 16, [][]string{{"A", "LONG"}, {"über", "x and much more"}}); err != nil {
		t.Fatal(err)
	}
	const want = "A     LONG\nüber  x and m...\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestJoinBranch(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"with a name", "task update x --branch b --note n", "task update x --branch=b --note n"},
		{"alone at the end", "task update x --branch", "task update x --branch"},
		{"before a flag", "task update --branch --note n", "task update --branch --note n"},
		{"after the end of flags", "task create -- --branch b", "task create -- --branch b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Fields(tt.want), joinBranch(strings.Fields(tt.in))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
