package linear

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/view/humanize"
)

// Limits for texts of others.
const (
	maxLine = 500     // characters of a name or a title
	maxText = 1 << 20 // bytes of a description or a comment
)

// oneLine returns a name or a title as one line.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return cutLine(s, maxLine)
}

// cutLine shortens a line to so many characters.
func cutLine(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "..."
}

// boundText returns a text that is not too long.
func boundText(s string) string {
	return humanize.Prefix(strings.ToValidUTF8(s, "\uFFFD"), maxText)
}
