// Package ansi makes text of programs and people safe to show: on a terminal, in a table, on a page. It removes
// whatever could move a cursor, colour, hide or reorder text; it parses what a terminal shows into lines of runs, whose
// colours are data. It knows nothing of tasks.
package ansi

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SafeText makes untrusted text safe for a terminal: it removes what could move the cursor, colour, hide or reorder
// text. Line breaks and tabs stay.
func SafeText(s string) string {
	if !needsCleaning(s) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		if n := escapeLength(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !isDangerous(r) {
			out.WriteRune(r)
		}
		i += n
	}
	return out.String()
}

// OneLine is like SafeText for text that must stay on one line.
func OneLine(s string) string {
	s = SafeText(s)
	if strings.ContainsAny(s, "\n\t") {
		s = strings.NewReplacer("\n", " ", "\t", " ").Replace(s)
	}
	return strings.TrimSpace(s)
}

// maxMarks is how many combining marks one character may have.
const maxMarks = 4

// SteadyText removes what terminals render differently, so that a table is aligned on all of them: characters that only
// select the appearance of another one, and excess combining marks.
func SteadyText(s string) string {
	marks := 0
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x300:
			marks = 0
			return r
		case unicode.Is(unicode.Variation_Selector, r), r >= 0x1f3fb && r <= 0x1f3ff: // the latter: tones of skin
			return -1
		case !unicode.Is(unicode.M, r):
			marks = 0
			return r
		}
		if marks++; marks > maxMarks {
			return -1
		}
		return r
	}, s)
}

func needsCleaning(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, isDangerous)
}

func isDangerous(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == '\u2028' || r == '\u2029': // line and paragraph separators
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) // Cf: bidi overrides, zero width
}

// escapeLength returns the length of the escape sequence at the beginning of s, or 0 if there is none.
func escapeLength(s string) int {
	intro, n := rune(0), 0
	switch r, size := utf8.DecodeRuneInString(s); {
	case r == 0x1b && len(s) > 1:
		intro, n = rune(s[1])+0x40, 2
	case r >= 0x80 && r <= 0x9f:
		intro, n = r, size
	default:
		return 0
	}
	switch intro {
	case 0x9b: // CSI: parameters, then one final byte
		for n < len(s) && s[n] >= 0x20 && s[n] <= 0x3f {
			n++
		}
		return min(n+1, len(s))
	case 0x9d, 0x90, 0x98, 0x9e, 0x9f: // OSC, DCS, SOS, PM, APC: up to their terminator
		return stringEnd(s, n)
	}
	if s[0] == 0x1b && intro >= 0x60 && intro < 0x70 { // ESC and intermediates, then one byte
		return min(n+1, len(s))
	}
	return n
}

// stringEnd returns the end of a control string: BEL or ST, else the end of the line.
func stringEnd(s string, from int) int {
	for i := from; i < len(s); i++ {
		switch {
		case s[i] == 0x07:
			return i + 1
		case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case strings.HasPrefix(s[i:], "\u009c"):
			return i + len("\u009c")
		case s[i] == '\n':
			return i
		}
	}
	return len(s)
}
