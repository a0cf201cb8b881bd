package ansi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestATerminalShowsWhatItLookedLike(t *testing.T) {
	tests := map[string]struct {
		in   string
		want []string
	}{
		"plain":                       {"a\r\nb\r\n", []string{"a", "b"}},
		"words between steps":         {"two\x1b[1Cwords\x1b[12Gat", []string{"two words  at"}},
		"a wheel that turns":          {"\x1b[?25l⠋ work\r⠙ work\r⠹ work\r\x1b[2Kdone\r\n", []string{"done"}},
		"a frame drawn again":         {"one\r\ntwo\r\n\x1b[2A\x1b[Jone\r\n2\r\n", []string{"one", "2"}},
		"erased below":                {"a\r\nb\r\nc\x1b[1;1H\x1b[J", nil},
		"erased before":               {"abc\x1b[1D\x1b[1K", nil},
		"what scrolled out stays":     {"1\r\n2\r\n3\r\n4\r\n5\r\n6", []string{"1", "2", "3", "4", "5", "6"}},
		"long lines wrap":             {strings.Repeat("x", 21), []string{strings.Repeat("x", 20), "x"}},
		"a line of the whole width":   {strings.Repeat("x", 20) + "\r\ny", []string{strings.Repeat("x", 20), "y"}},
		"wide characters":             {"日本語\x1b[1D|", []string{"日本語|"}},
		"another screen":              {"before\r\n\x1b[?1049hfull\x1b[3;1Hscreen", []string{"before", "full", "", "screen"}},
		"another screen, left":        {"before\r\n\x1b[?1049hfull\x1b[?1049lafter", []string{"full", "before", "after"}},
		"a scroll region":             {"1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\nx\x1b[r", []string{"1", "3", "x", "4"}},
		"lines in between":            {"1\r\n2\x1b[1;1H\x1b[L0", []string{"0", "1", "2"}},
		"lines taken out":             {"1\r\n2\r\n3\x1b[1;1H\x1b[M", []string{"2", "3"}},
		"characters in between":       {"ac\x1b[1G\x1b[C\x1b[@b", []string{"abc"}},
		"characters taken out":        {"abc\x1b[2G\x1b[P", []string{"ac"}},
		"titles, links and colours":   {"\x1b]0;evil\x07\x1b]8;;http://x\x1b\\link\x1b[1;31m!\x1b[0m", []string{"link!"}},
		"a string for another":        {"\x1bPtmux;\x1b\x1bP+q4d73\x1b\x1b\\\x1b\\ok", []string{"ok"}},
		"questions and modes":         {"\x1b[>4;1m\x1b[?u\x1b[c\x1b[6n\x1b[?2004h\x1b(Bok", []string{"ok"}},
		"a cursor that is kept":       {"a\x1b7bc\x1b8X", []string{"aXc"}},
		"hidden signs and other ends": {"a\u202eb\x00\x07\u2028c", []string{"abc"}},
		"a jump far away":             {"\x1b[999;999Hx\x1b[99999999999999999999Ay", []string{strings.Repeat(" ", 19) + "y", "", "", strings.Repeat(" ", 19) + "x"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, step := range []int{1, 3, len(tt.in)} { // however it is cut into pieces
				term := NewTerminal(20, 4)
				for text := tt.in; text != ""; {
					n := min(step, len(text))
					term.Write([]byte(text[:n])) //nolint:errcheck // it never fails
					text = text[n:]
				}
				if diff := cmp.Diff(tt.want, term.Lines()); diff != "" {
					t.Errorf("in steps of %d: %s", step, diff)
				}
			}
		})
	}
}

func TestATerminalForgetsTheOldest(t *testing.T) {
	term := NewTerminal(20, 4)
	for i := range 3 * maxHistory {
		fmt.Fprintf(term, "%d\r\n", i)
	}
	lines := term.Lines()
	if last := lines[len(lines)-1]; last != fmt.Sprint(3*maxHistory-1) {
		t.Errorf("the last is %q", last)
	}
	if len(lines) > 2*maxHistory+4 || term.DroppedLines()+len(lines) != 3*maxHistory || lines[0] != fmt.Sprint(term.DroppedLines()) {
		t.Errorf("%d lines from %q on, %d dropped", len(lines), lines[0], term.DroppedLines())
	}
}

func FuzzTerminal(f *testing.F) {
	for _, s := range []string{"a\r\nb", "\x1b[2;3r\x1b[5S\x1b[9T", "\x1b[?1049h\x1b[3L\x1b[4M\x1b[?1049l", "\x1bM\x1b[0;0H日\x1b[1P", "\x1b]8;;\x1b", "\xc2\x9b3A"} {
		f.Add([]byte(s), 5, 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, width, height int) {
		if width > 300 || height > 100 {
			return
		}
		term := NewTerminal(width, height)
		for i := 0; i < len(text); i += 5 {
			term.Write(text[i:min(i+5, len(text))]) //nolint:errcheck // it never fails
		}
		for _, line := range term.Lines() {
			if needsCleaning(line) || strings.ContainsAny(line, "\n\t") {
				t.Fatalf("unsafe line %q", line)
			}
		}
		if n := term.SettledLines(); n < 0 {
			t.Fatal(n)
		}
	})
}
