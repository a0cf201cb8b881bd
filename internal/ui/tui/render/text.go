package render

import (
	"strings"

	charm "github.com/charmbracelet/x/ansi"

	"orange/internal/view/ansi"
)

// FitWidth returns text in exactly width columns: cut with an ellipsis, or padded.
func FitWidth(text string, width int) string {
	if width < 1 {
		return ""
	}
	text, used := shortenText(oneLine(firstBytes(text, width)), width)
	return text + strings.Repeat(" ", width-used)
}

const ellipsis = "…"

// bytesPerColumn is more than a column takes, including marks and removed characters.
const bytesPerColumn = 64

// firstBytes returns the beginning of a text of which at most a line is shown, so that the rest need not be cleaned. It
// may end within a character.
func firstBytes(text string, width int) string {
	return text[:min(len(text), max(width, 1)*bytesPerColumn)]
}

// shortenText cuts clean text to at most width columns and returns how many it takes.
func shortenText(text string, width int) (string, int) {
	if width < 1 {
		return "", 0
	}
	head, used := clipText(text, width)
	if len(head) == len(text) {
		return text, used
	}
	head, used = clipText(text, width-1)
	return head + ellipsis, used + 1
}

// clipText returns the longest prefix of clean text that fits, and its columns.
func clipText(text string, width int) (string, int) {
	used := 0
	for at := 0; at < len(text); {
		cluster, n := firstCharacter(text[at:])
		if used+n > width {
			return text[:at], used
		}
		used += n
		at += len(cluster)
	}
	return text, used
}

// textColumns returns the width of clean text.
func textColumns(text string) int {
	used := 0
	for at := 0; at < len(text); {
		cluster, n := firstCharacter(text[at:])
		used += n
		at += len(cluster)
	}
	return used
}

// firstCharacter returns the first user-perceived character, with its columns on a terminal.
func firstCharacter(text string) (string, int) {
	switch {
	case text[0] < 0x80 && (len(text) == 1 || text[1] < 0x80):
		return text[:1], 1
	case strings.HasPrefix(text, "──"): // of a long line
		return text[:len("─")], 1
	}
	return charm.FirstGraphemeCluster(text, charm.GraphemeWidth)
}

// oneLine makes untrusted text safe and puts it on one line.
func oneLine(text string) string { return ansi.SteadyText(ansi.OneLine(text)) }

// cleanLine makes untrusted text safe and puts it on one line, with the spaces around it.
func cleanLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, ansi.SteadyText(ansi.SafeText(text)))
}

// tabWidth is the maximum width of a tab, in columns.
const tabWidth = 4

// cleanLines returns untrusted text as lines without tabs.
func cleanLines(text string) []string {
	lines := strings.Split(ansi.SteadyText(ansi.SafeText(text)), "\n")
	for i, s := range lines {
		lines[i] = expandTabs(s)
	}
	return lines
}

func expandTabs(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var out strings.Builder
	at := 0
	for i, part := range strings.Split(s, "\t") {
		if i > 0 {
			n := tabWidth - at%tabWidth
			out.WriteString(strings.Repeat(" ", n))
			at += n
		}
		out.WriteString(part)
		at += textColumns(part)
	}
	return out.String()
}
