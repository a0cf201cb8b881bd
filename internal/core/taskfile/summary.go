package taskfile

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/lazy"
)

// maxSummary is the length limit of a summary that is taken from a task's requirements, in
// characters.
const maxSummary = 72

// lineMarks matches the Markdown marks at the beginning of a line: of a heading, a list, a
// quotation or a check box.
var lineMarks = lazy.NewRegexp(`^(?:\s|#{1,6}\s|[-*+>]\s|\d{1,9}[.)]\s|\[[ xX]\]\s)+`)

// SummaryFrom returns the first line of a text with content, without Markdown marks before it,
// cut at the end of a word. It returns "" if there is none.
func SummaryFrom(text string) string {
	for line := range strings.Lines(plainText(text)) {
		line = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, line)
		line = strings.TrimSpace(lineMarks.ReplaceAllString(line, ""))
		if !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			continue // a rule, a fence, or nothing
		}
		return cutAtWord(line, maxSummary)
	}
	return ""
}

func cutAtWord(line string, most int) string {
	if utf8.RuneCountInString(line) <= most {
		return line
	}
	const more = "..."
	cut := []rune(line)[:most-len(more)+1] // one more: a word may end here
	at := len(cut) - 1
	for at > 0 && !unicode.IsSpace(cut[at]) {
		at--
	}
	if at == 0 {
		at = most - len(more) // a single word
	}
	return strings.TrimRight(string(cut[:at]), " ,;:") + more
}
