package als

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Quoting is a rule for writing texts on one line: it reports which texts must be quoted
// besides those that would not parse otherwise. Read is the inverse of Write for every valid
// text.
type Quoting func(text string) bool

// Write returns the text unchanged, or quoted if necessary.
func (q Quoting) Write(text string) string {
	if q.needsQuotes(text) {
		return Quote(text)
	}
	return text
}

// Read returns the text that was written. Quotes that Write would not have added are part of
// it.
func (q Quoting) Read(written string) string {
	if text, ok := Unquote(written); ok && q.needsQuotes(text) {
		return text
	}
	return written
}

func (q Quoting) needsQuotes(text string) bool {
	return text == "" || text != strings.TrimSpace(text) || !utf8.ValidString(text) ||
		strings.ContainsFunc(text, isUnsafe) || q(text) || q.Read(text) != text
}

// Quote returns a text as a JSON string without line breaks, control characters, invisible
// marks and the beginning of an HTML comment.
func Quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case isUnsafe(r) || strings.HasPrefix(text[i:], "<!--"):
			writeEscaped(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Unquote parses a text that consists of one JSON string.
func Unquote(written string) (string, bool) {
	if len(written) < 2 || written[0] != '"' || written[len(written)-1] != '"' {
		return "", false
	}
	var text string
	err := json.Unmarshal([]byte(written), &text)
	return text, err == nil
}

// EscapeJSON escapes what a line of text must not contain, in a JSON value without line breaks.
// The value stays the same.
func EscapeJSON(value string) string {
	var b strings.Builder
	for i, r := range value {
		if isUnsafe(r) || strings.HasPrefix(value[i:], "<!--") {
			writeEscaped(&b, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func writeEscaped(b *strings.Builder, r rune) {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

// isUnsafe reports whether a character could break a line, move a cursor, hide or reorder text.
func isUnsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}
