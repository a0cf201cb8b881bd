package taskfile

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/lazy"
)

var timestamp = lazy.NewRegexp(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

// encodeScalar returns a value as YAML on one line.
func encodeScalar(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "null", nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case string:
		if !utf8.ValidString(v) {
			return "", fmt.Errorf("the text %q is not UTF-8; give it as UTF-8", v)
		}
		if isPlain(v) {
			return v, nil
		}
		return quoteScalar(v), nil
	}
	return "", fmt.Errorf("a value of type %T cannot be written; give a string, int, bool or nil", value)
}

// isPlain reports whether every YAML parser, including those of version 1.1, reads the bare
// text as this string.
func isPlain(text string) bool {
	if timestamp.MatchString(text) {
		return true
	}
	first, _ := utf8.DecodeRuneInString(text)
	if !unicode.IsLetter(first) && !strings.ContainsRune("_/(", first) {
		return false
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return false
	}
	if strings.HasSuffix(text, " ") || strings.HasSuffix(text, ":") || isReserved(text) {
		return false
	}
	entries, err := parseMeta(text + ": " + text + "\n")
	return err == nil && len(entries) == 1 && entries[0].key == text && entries[0].value == text
}

func isReserved(text string) bool {
	switch strings.ToLower(text) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf":
		return true
	}
	return false
}

func quoteScalar(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
