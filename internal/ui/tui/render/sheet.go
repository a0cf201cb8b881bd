package render

import (
	"fmt"
	"strings"

	charm "github.com/charmbracelet/x/ansi"
)

// A pen is the escape sequence that sets the style of text, "" for none.
type pen string

// Pens that need no colour.
const (
	bold          pen = "\x1b[1m"
	italic        pen = "\x1b[3m"
	underline     pen = "\x1b[4m"
	reverse       pen = "\x1b[7m"
	strikethrough pen = "\x1b[9m"
	resetStyle        = "\x1b[m"
)

// penOf returns a style as a pen. A pen surrounds each piece of a line, so that lines can be cut and joined.
func penOf(s Style) pen { return pen(s.before) }

// pens are the pens of a theme, created once per rendering.
type pens struct {
	text, faint, strong, title    pen
	good, warn, bad, busy, accent pen
	selected, key, border         pen
	written                       pen // code
}

func (t Theme) newPens() pens {
	p := pens{
		text: penOf(t.Text), faint: penOf(t.Faint), strong: penOf(t.Strong), title: penOf(t.Title),
		good: penOf(t.Good), warn: penOf(t.Warn), bad: penOf(t.Bad), busy: penOf(t.Busy), accent: penOf(t.Accent),
		selected: penOf(t.Selected), key: penOf(t.Key), border: penOf(t.Border),
	}
	if t.color {
		p.written = p.accent
	}
	return p
}

// A piece is clean text on one line, and its style.
type piece struct {
	text string
	pen  pen
}

// A strip is a line in pieces.
type strip []piece

func (s strip) columnCount() int {
	n := 0
	for _, p := range s {
		n += textColumns(p.text)
	}
	return n
}

// addText appends untrusted text.
func (s *strip) addText(p pen, text string) {
	if text = cleanLine(text); text != "" {
		*s = append(*s, piece{text, p})
	}
}

func (s *strip) addTextf(p pen, format string, args ...any) {
	s.addText(p, fmt.Sprintf(format, args...))
}

// cutTo returns the strip in at most width columns, with an ellipsis if it was longer.
func (s strip) cutTo(width int) strip {
	if s.columnCount() <= width {
		return s
	}
	var out strip
	left := width - 1
	for _, p := range s {
		head, n := clipText(p.text, left)
		if head != "" {
			out = append(out, piece{head, p.pen})
		}
		left -= n
		if len(head) < len(p.text) {
			out = append(out, piece{ellipsis, p.pen})
			break
		}
	}
	return out
}

// String returns the strip with its style. Neighbours in the same style share a pen.
func (s strip) String() string {
	var out strings.Builder
	for i := 0; i < len(s); {
		p := s[i].pen
		out.WriteString(string(p))
		for ; i < len(s) && s[i].pen == p; i++ {
			out.WriteString(s[i].text)
		}
		if p != "" {
			out.WriteString(resetStyle)
		}
	}
	return out.String()
}

// A sheet is a list of lines.
type sheet struct {
	pens
	width int
	lines []string
}

func (t Theme) newSheet(width int) *sheet { return &sheet{pens: t.newPens(), width: width} }

// putLine adds a line, cut to the width.
func (s *sheet) putLine(l strip) {
	if s.width > 0 {
		s.lines = append(s.lines, boundWidth(l.cutTo(s.width).String(), s.width))
	}
}

// putSpread adds a line whose end is at the right edge, or left out if there is no room.
func (s *sheet) putSpread(left, right strip) {
	gap := s.width - left.columnCount() - right.columnCount()
	if gap < 1 {
		s.putLine(left)
		return
	}
	s.putLine(append(append(left[:len(left):len(left)], piece{strings.Repeat(" ", gap), ""}), right...))
}

// putBlank adds an empty line, but not at the top and not below another.
func (s *sheet) putBlank() {
	if n := len(s.lines); n > 0 && s.lines[n-1] != "" {
		s.lines = append(s.lines, "")
	}
}

// putWrapped adds a text in as many lines as it needs: the first after first, the others after rest.
func (s *sheet) putWrapped(first, rest, text strip) { s.putWrappedMost(0, first, rest, text) }

// putWrappedMost is like putWrapped with at most most lines, of which the last ends in an ellipsis if there was more. 0
// means no limit.
func (s *sheet) putWrappedMost(most int, first, rest, text strip) {
	first, rest = s.cutMargin(first), s.cutMargin(rest)
	lines := breakLines(text, s.width-first.columnCount(), s.width-rest.columnCount())
	if most > 0 && len(lines) > most {
		lines = lines[:most]
		lines[most-1] = joinStrips(lines[most-1], strip{{" " + ellipsis, s.faint}}).cutTo(s.width - rest.columnCount())
	}
	for i, l := range lines {
		lead := first
		if i > 0 {
			lead = rest
		}
		s.putLine(joinStrips(lead, l))
	}
}

// cutMargin leaves half of a line for text.
func (s *sheet) cutMargin(lead strip) strip {
	if lead.columnCount() <= s.width/2 {
		return lead
	}
	return lead.cutTo(s.width / 2)
}

// indentStrip returns n empty columns.
func indentStrip(n int) strip { return strip{{text: strings.Repeat(" ", n)}} }

// boundWidth enforces the width of a line: where two pieces meet, characters may combine into one that is wider than
// computed.
func boundWidth(line string, width int) string {
	if charm.StringWidth(line) <= width {
		return line
	}
	return charm.Truncate(line, width, "")
}
