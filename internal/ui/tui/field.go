package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	charm "github.com/charmbracelet/x/ansi"

	"orange/internal/view/ansi"
)

// maxWords is the maximum size of typed text, in bytes, the same as on the command line.
const maxWords = 64 << 10

// field is a text that a person edits.
type field struct {
	text  []rune
	at    int  // where the cursor is
	lines bool // it may have several lines
	bytes int
}

func newField(text string, lines bool) field {
	f := field{lines: lines}
	f.insertText(text)
	return f
}

func (f *field) value() string { return string(f.text) }

// insertText inserts text at the cursor. It leaves out control characters and what exceeds the limit.
func (f *field) insertText(text string) {
	if room := maxWords - f.bytes; len(text) > room {
		text = text[:max(0, room)]
		for len(text) > 0 && !utf8.ValidString(text[max(0, len(text)-utf8.UTFMax):]) {
			text = text[:len(text)-1]
		}
	}
	text = ansi.SafeText(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
	text = strings.ReplaceAll(text, "\t", " ")
	if !f.lines {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	in := []rune(text)
	f.text = append(f.text[:f.at], append(in, f.text[f.at:]...)...)
	f.at += len(in)
	f.bytes += len(text)
}

// cutRange removes the text between two positions.
func (f *field) cutRange(from, to int) {
	from, to = max(0, min(from, to)), min(len(f.text), max(from, to))
	f.bytes -= len(string(f.text[from:to]))
	f.text = append(f.text[:from], f.text[to:]...)
	f.at = from
}

// editKey edits the text. It reports whether it handled the key.
func (f *field) editKey(k tea.KeyPressMsg) bool {
	switch k.String() {
	case "left", "ctrl+b":
		f.at = max(0, f.at-1)
	case "right", "ctrl+f":
		f.at = min(len(f.text), f.at+1)
	case "home", "ctrl+a":
		f.at = f.lineStart()
	case "end", "ctrl+e":
		f.at = f.lineEnd()
	case "alt+left", "ctrl+left", "alt+b":
		f.at = f.wordBack()
	case "alt+right", "ctrl+right", "alt+f":
		f.at = f.wordForward()
	case "backspace", "ctrl+h":
		f.cutRange(f.at-1, f.at)
	case "delete", "ctrl+d":
		f.cutRange(f.at, f.at+1)
	case "ctrl+w", "alt+backspace":
		f.cutRange(f.wordBack(), f.at)
	case "ctrl+u":
		f.cutRange(f.lineStart(), f.at)
	case "ctrl+k":
		f.cutRange(f.at, f.lineEnd())
	case "alt+enter", "ctrl+j", "shift+enter":
		if !f.lines {
			return false
		}
		f.insertText("\n")
	case "up":
		return f.lines && f.moveVertical(-1)
	case "down":
		return f.lines && f.moveVertical(1)
	default:
		if k.Text == "" {
			return false
		}
		f.insertText(k.Text)
	}
	return true
}

func (f *field) lineStart() int {
	at := f.at
	for at > 0 && f.text[at-1] != '\n' {
		at--
	}
	return at
}

func (f *field) lineEnd() int {
	at := f.at
	for at < len(f.text) && f.text[at] != '\n' {
		at++
	}
	return at
}

func (f *field) wordBack() int {
	at := f.at
	for at > 0 && unicode.IsSpace(f.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(f.text[at-1]) {
		at--
	}
	return at
}

func (f *field) wordForward() int {
	at := f.at
	for at < len(f.text) && unicode.IsSpace(f.text[at]) {
		at++
	}
	for at < len(f.text) && !unicode.IsSpace(f.text[at]) {
		at++
	}
	return at
}

// moveVertical moves the cursor to the line above or below, in the same column if possible.
func (f *field) moveVertical(by int) bool {
	start := f.lineStart()
	column := f.at - start
	switch {
	case by < 0 && start > 0:
		f.at = start - 1
		f.at = min(f.lineStart()+column, f.at)
	case by > 0 && f.lineEnd() < len(f.text):
		f.at = f.lineEnd() + 1
		f.at = min(f.at+column, f.lineEnd())
	default:
		return false
	}
	return true
}

// renderWindow renders the text in a window of the given size around the cursor, and returns the position of the cursor
// in it.
func (f *field) renderWindow(width, height int) (out []string, x, y int) {
	width, height = max(1, width), max(1, height)
	row, column, line := 0, 0, strings.Builder{}
	end := func() { out = append(out, line.String()); line.Reset(); row++; column = 0 }
	for i, r := range f.text {
		w := charm.StringWidth(string(r))
		if column+w > width-1 && r != '\n' { // the last column is for the cursor
			end()
		}
		if i == f.at {
			x, y = column, row
		}
		if r == '\n' {
			end()
			continue
		}
		line.WriteRune(r)
		column += w
	}
	if f.at == len(f.text) {
		x, y = column, row
	}
	end()
	if top := max(0, y-height+1); top > 0 {
		out, y = out[top:], y-top
	}
	return out[:min(len(out), height)], x, y
}
