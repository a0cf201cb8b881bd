package harness

import (
	"errors"
	"strings"
)

// splitWords splits a command line like a shell: at white space, with single quotes, double
// quotes and backslashes. It expands nothing.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	open, quote, escaped := false, byte(0), false
	for i := range len(line) {
		c := line[i]
		switch {
		case escaped:
			if quote == '"' && c != '"' && c != '\\' {
				word.WriteByte('\\')
			}
			word.WriteByte(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, open = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteByte(c)
			open = true
		}
	}
	switch {
	case quote != 0:
		return nil, errors.New("a quote is not closed: close it")
	case escaped:
		return nil, errors.New("the line ends in a backslash: add the character that it escapes")
	case open:
		words = append(words, word.String())
	}
	return words, nil
}
