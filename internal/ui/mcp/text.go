package mcp

import (
	"strings"

	"orange/internal/core/prose"
	"orange/internal/core/screen"
)

// line is text from elsewhere on one line, of at most n bytes.
func line(s string, n int) string {
	if len(s) > 4*n { // what is cut away need not be cleaned
		s = s[:4*n]
	}
	return prose.Cut(screen.OneLine(s), n)
}

// words are text from elsewhere of at most n bytes, and whether there was more.
func words(s string, n int) (text string, cut bool) {
	long := len(s) > 4*n
	if long {
		s = s[:4*n]
	}
	s = screen.Text(s)
	return prose.Cut(s, n), long || len(s) > n
}

// quoted marks every line of a text as somebody else's. Whatever the text says, it cannot
// get out of that.
func quoted(s string) string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return ""
	}
	return "| " + strings.ReplaceAll(s, "\n", "\n| ") + "\n"
}

// bounded keeps the words of a result within their bounds.
func bounded(s string) string {
	if len(s) <= maxText {
		return s
	}
	const note = "\n(cut: there is more than is shown)"
	return prose.Cut(s, maxText-len(note)) + note
}

// sheet collects lines of "name: value" for the words of a result.
type sheet struct{ strings.Builder }

func (b *sheet) put(name, value string) {
	if value != "" {
		b.WriteString(name + ": " + value + "\n")
	}
}

func (b *sheet) line(s string) { b.WriteString(s + "\n") }
