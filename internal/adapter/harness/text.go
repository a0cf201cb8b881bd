package harness

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxDetail = 500     // bytes of what an agent waits for
	maxFinal  = 1 << 20 // bytes of what an agent said last
)

// cutNote stands in front of a text whose beginning was left out.
const cutNote = "(cut: this is the last MiB of a longer text)\n"

// escapes are the sequences by which a program steers a terminal.
var escapes = lazyPattern(`\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])?`)

// cleanLine makes one line of a text: no control characters, single spaces, at most limit
// bytes.
func cleanLine(text string, limit int) string {
	return cutText(strings.Join(strings.Fields(stripControls(text, false)), " "), limit)
}

// cleanProse keeps the lines of a text and nothing that steers a terminal. Of a text that
// is too long the end is kept, with a note: that is where an agent says how it went.
func cleanProse(text string) string {
	const most = 4 * maxFinal // of which much may steer a terminal
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
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return strings.TrimSpace(text[:limit])
}

// straightenQuotes writes the apostrophes that typesetting bends as the ones people type.
func straightenQuotes(text string) string {
	return strings.NewReplacer("’", "'", "‘", "'").Replace(text)
}
