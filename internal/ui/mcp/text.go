package mcp

import (
	"strings"

	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// cutLine returns an untrusted text on one line of at most n bytes.
func cutLine(s string, n int) string {
	if len(s) > 4*n { // the rest need not be cleaned
		s = s[:4*n]
	}
	return humanize.Cut(ansi.OneLine(s), n)
}

// cutText returns at most n bytes of an untrusted text, and reports whether it left something out.
func cutText(s string, n int) (text string, cut bool) {
	long := len(s) > 4*n
	if long {
		s = s[:4*n]
	}
	s = ansi.SafeText(s)
	return humanize.Cut(s, n), long || len(s) > n
}

// quoteLines marks every line of a text as quoted. No text can escape the quotation.
func quoteLines(s string) string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return ""
	}
	return "| " + strings.ReplaceAll(s, "\n", "\n| ") + "\n"
}

// boundText limits the length of the words of a result.
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
