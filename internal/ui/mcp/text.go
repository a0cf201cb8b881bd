package mcp

import (
	"strings"

	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// cutLine is text from elsewhere on one line, of at most n bytes.
func cutLine(s string, n int) string {
	if len(s) > 4*n { // what is cut away need not be cleaned
		s = s[:4*n]
	}
	return humanize.Cut(ansi.OneLine(s), n)
}

// cutText are text from elsewhere of at most n bytes, and whether there was more.
func cutText(s string, n int) (text string, cut bool) {
	long := len(s) > 4*n
	if long {
		s = s[:4*n]
	}
	s = ansi.SafeText(s)
	return humanize.Cut(s, n), long || len(s) > n
}

// quoteLines marks every line of a text as somebody else's. Whatever the text says, it cannot
// get out of that.
func quoteLines(s string) string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return ""
	}
	return "| " + strings.ReplaceAll(s, "\n", "\n| ") + "\n"
}

// boundText keeps the words of a result within their bounds.
func boundText(s string) string {
	if len(s) <= maxText {
		return s
	}
	const note = "\n(cut: there is more than is shown)"
	return humanize.Cut(s, maxText-len(note)) + note
}

// textBuilder collects lines of "name: value" for the words of a result.
type textBuilder struct{ strings.Builder }

func (b *textBuilder) putField(name, value string) {
	if value != "" {
		b.WriteString(name + ": " + value + "\n")
	}
}

func (b *textBuilder) putLine(s string) { b.WriteString(s + "\n") }
