package ansi

import (
	"strings"
	"testing"
)

func TestOneLine(t *testing.T) {
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
			if got := OneLine(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSteady(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"plain":             {"a b", "a b"},
		"a choice of looks": {"❤\ufe0f love", "❤ love"},
		"a tone of skin":    {"👍🏽!", "👍!"},
		"piled up marks":    {"e" + strings.Repeat("\u0301", 50), "e" + strings.Repeat("\u0301", maxMarks)},
		"marks here, there": {"e\u0301e\u0301", "e\u0301e\u0301"},
		"lines":             {"a\n\tb", "a\n\tb"},
	} {
		if got := SteadyText(tt.in); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestTextKeepsLines(t *testing.T) {
	if got := SafeText("a\n\tb\x1b[2J\r\n"); got != "a\n\tb\n" {
		t.Errorf("got %q", got)
	}
}

func FuzzTextLeavesNothingDangerous(f *testing.F) {
	for _, s := range []string{"\x1b[31m", "\x1b\x1b[", "\xc2\x9b", "\x1b]\x1b\\", "\xff\x1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := SafeText(s); needsCleaning(got) {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func TestOutput(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "a\tb", "a\tb"},
		{"end of line of a terminal", "a\r", "a"},
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"written over", "10%\r50%\rdone", "done"},
		{"written over and erased", "10%\r\x1b[2Kdone", "done"},
		{"steps to the right", "two\x1b[1Cwords\x1b[Cand\x1b[3Cmore", "two words and   more"},
		{"a step of any length", "a\x1b[999999999999999999999Cb\x1b[1000Cc", "a b" + strings.Repeat(" ", 40) + "c"},
		{"jumps", "\x1b[H\x1b[2Jtop\x1b[5;1Hbelow\x1b[1B\r", "top\nbelow\n"},
		{"a jump of one byte", "a\u009b5;1Hb", "a\nb"},
		{"title", "\x1b]0;evil\x07ok", "ok"},
		{"hidden", "a\u202eb\x00\x07", "ab"},
		{"no text", "a\xff", "a\ufffd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := OutputText(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzOutputLeavesNothingDangerous(f *testing.F) {
	for _, s := range []string{"\x1b[31m", "\x1b[9C", "a\rb", "\x1b[H\r\x1b", "\xc2\x9b1C\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := OutputText(s); needsCleaning(got) {
			t.Errorf("%q became %q", s, got)
		}
	})
}
