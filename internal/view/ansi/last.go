package ansi

import (
	"strings"
	"unicode"
)

// LastLines returns the last n lines of text that contain a letter or a digit, without the frames that programs draw
// around them.
func LastLines(text string, n int) []string {
	var out []string
	for line := range strings.Lines(SafeText(text)) {
		line = strings.TrimFunc(line, isFrame)
		if strings.IndexFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0 {
			out = append(out, line)
		}
	}
	return out[max(0, len(out)-n):]
}

// isFrame reports whether a character only draws a line, a block or nothing.
func isFrame(r rune) bool { return unicode.IsSpace(r) || r >= 0x2500 && r <= 0x259f }
