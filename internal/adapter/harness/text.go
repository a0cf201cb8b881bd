package harness

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/view/humanize"
)

const (
	maxDetail = 500     // bytes of the description of what an agent waits for
	maxFinal  = 1 << 20 // bytes of an agent's last message
)

// cutNote precedes a text whose beginning was left out.
const cutNote = "(cut: this is the last MiB of a longer text)\n"

// escapes matches the escape sequences of terminals.
var escapes = lazyPattern(`\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])?`)

// cleanLine returns a text as one line: no control characters, single spaces, at most limit
// bytes.
func cleanLine(text string, limit int) string {
	return cutText(strings.Join(strings.Fields(stripControls(text, false)), " "), limit)
}

// cleanProse keeps the lines of a text and removes control sequences. If a text is too long it
// keeps the end, with a note, because the end is where an agent reports its result.
func cleanProse(text string) string {
	const most = 4 * maxFinal // much of it may be control sequences
	short := len(text) > most
	if short {
		text = text[len(text)-most:]
	}
	text = strings.TrimSpace(stripControls(text, true))
	if len(text) > maxFinal {
		text, short = text[len(text)-maxFinal:], true
		for len(text) > 0 && !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
	}
	if short {
		return cutNote + text
	}
	return text
}

func stripControls(text string, lines bool) string {
	text = strings.ToValidUTF8(escapes().ReplaceAllLiteralString(text, ""), "")
	return strings.Map(func(r rune) rune {
		switch {
		case lines && (r == '\n' || r == '\t'):
			return r
		case lines && r == '\r':
			return -1
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, text)
}

func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.TrimSpace(humanize.Prefix(text, limit))
}

// straightenQuotes replaces typographic apostrophes with straight ones.
func straightenQuotes(text string) string {
	return strings.NewReplacer("’", "'", "‘", "'").Replace(text)
}
