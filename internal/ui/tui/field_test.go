package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestEditing(t *testing.T) {
	ctrl := func(r rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: r, Mod: tea.ModCtrl} }
	alt := func(r rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: r, Mod: tea.ModAlt} }
	for name, tt := range map[string]struct {
		text  string
		lines bool
		keys  []tea.KeyPressMsg
		want  string // with | where the cursor is
	}{
		"typed":                    {text: "ab", keys: []tea.KeyPressMsg{{Code: 'c', Text: "c"}}, want: "abc|"},
		"in the middle":            {text: "ab", keys: []tea.KeyPressMsg{named["left"], {Code: 'x', Text: "x"}}, want: "ax|b"},
		"at both ends":             {text: "ab", keys: []tea.KeyPressMsg{named["home"], {Code: 'x', Text: "x"}, named["end"], {Code: 'y', Text: "y"}}, want: "xaby|"},
		"taken back":               {text: "aü", keys: []tea.KeyPressMsg{named["backspace"]}, want: "a|"},
		"nothing to take back":     {text: "", keys: []tea.KeyPressMsg{named["backspace"], named["delete"], named["left"], named["right"]}, want: "|"},
		"deleted":                  {text: "ab", keys: []tea.KeyPressMsg{named["home"], named["delete"]}, want: "|b"},
		"a word":                   {text: "one two ", keys: []tea.KeyPressMsg{ctrl('w')}, want: "one |"},
		"words to and fro":         {text: "one two", keys: []tea.KeyPressMsg{alt('b'), alt('b'), alt('f')}, want: "one| two"},
		"the line before":          {text: "one\ntwo", lines: true, keys: []tea.KeyPressMsg{ctrl('u')}, want: "one\n|"},
		"the line behind":          {text: "one two", keys: []tea.KeyPressMsg{ctrl('a'), ctrl('k')}, want: "|"},
		"a new line":               {text: "a", lines: true, keys: []tea.KeyPressMsg{named["alt+enter"]}, want: "a\n|"},
		"no new line in a line":    {text: "a", keys: []tea.KeyPressMsg{named["alt+enter"]}, want: "a|"},
		"up and down":              {text: "abc\nd\nefg", lines: true, keys: []tea.KeyPressMsg{named["up"], named["up"], named["end"], named["down"], named["down"]}, want: "abc\nd\ne|fg"},
		"no further":               {text: "ab", lines: true, keys: []tea.KeyPressMsg{named["up"], named["down"]}, want: "ab|"},
		"what a terminal obeys":    {text: "a\x1b[31mb\x07\r\nc\td", lines: true, want: "ab\nc d|"},
		"lines pasted into a line": {text: "a\nb\r\nc", want: "a b c|"},
		"a key without a meaning":  {text: "a", keys: []tea.KeyPressMsg{ctrl('t')}, want: "a|"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(tt.text, tt.lines)
			for _, k := range tt.keys {
				f.editKey(k)
			}
			got := string(f.text[:f.at]) + "|" + string(f.text[f.at:])
			if got != tt.want || f.bytes != len(f.value()) {
				t.Errorf("%q (%d bytes), want %q", got, f.bytes, tt.want)
			}
		})
	}
}

func TestTooMuchIsCutBetweenCharacters(t *testing.T) {
	f := newField(strings.Repeat("ü", maxWords), true)
	f.insertText("x")
	if n := len(f.value()); n > maxWords || n < maxWords-4 || strings.ContainsRune(f.value(), '\ufffd') {
		t.Errorf("%d bytes", n)
	}
}

func TestTheCursorIsVisible(t *testing.T) {
	f := newField("one two three four five", false)
	lines, x, y := f.renderWindow(8, 1)
	if len(lines) != 1 || y != 0 || x >= 8 || !strings.HasSuffix("one two three four five", lines[0]) {
		t.Errorf("%q at %d, %d", lines, x, y)
	}
	f = newField("a\nb\nc\nd", true)
	lines, _, y = f.renderWindow(10, 2)
	if strings.Join(lines, " ") != "c d" || y != 1 {
		t.Errorf("%q at line %d", lines, y)
	}
	f = newField("", false)
	if lines, x, y = f.renderWindow(0, 0); len(lines) != 1 || x != 0 || y != 0 {
		t.Errorf("%q at %d, %d", lines, x, y)
	}
}
