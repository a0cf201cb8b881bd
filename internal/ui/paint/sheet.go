package paint

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A pen is the escape sequence that makes text look as it should, "" for none.
type pen string

// Pens that need no colour.
const (
	bold      pen = "\x1b[1m"
	italic    pen = "\x1b[3m"
	underline pen = "\x1b[4m"
	reverse   pen = "\x1b[7m"
	struck    pen = "\x1b[9m"
	laidDown      = "\x1b[m"
)

// penOf is a style as a pen. A pen is put around each stretch of a line: lines can be
// cut and joined.
func penOf(s Style) pen { return pen(s.before) }

// pens are a theme's, made once for each thing that is painted.
type pens struct {
	text, faint, strong, title    pen
	good, warn, bad, busy, accent pen
	selected, key, border         pen
	written                       pen // code
}

func (t Theme) pens() pens {
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

// A piece is clean text on one line, and how it looks.
type piece struct {
	text string
	pen  pen
}

// A strip is a line in pieces.
type strip []piece

func (s strip) columns() int {
	n := 0
	for _, p := range s {
		n += columns(p.text)
	}
	return n
}

// add appends text from elsewhere.
func (s *strip) add(p pen, text string) {
	if text = kept(text); text != "" {
		*s = append(*s, piece{text, p})
	}
}

func (s *strip) addf(p pen, format string, args ...any) { s.add(p, fmt.Sprintf(format, args...)) }

// cut is the strip in at most width columns, with an ellipsis if it was longer.
func (s strip) cut(width int) strip {
	if s.columns() <= width {
		return s
	}
	var out strip
	left := width - 1
	for _, p := range s {
		head, n := clip(p.text, left)
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

// String is the strip with its looks. Neighbours that look alike share a pen.
func (s strip) String() string {
	var out strings.Builder
	for i := 0; i < len(s); {
		p := s[i].pen
		out.WriteString(string(p))
		for ; i < len(s) && s[i].pen == p; i++ {
			out.WriteString(s[i].text)
		}
		if p != "" {
			out.WriteString(laidDown)
		}
	}
	return out.String()
}

// A sheet is what lines are put on, one below the other.
type sheet struct {
	pens
	width int
	lines []string
}

func (t Theme) sheet(width int) *sheet { return &sheet{pens: t.pens(), width: width} }

// put adds a line, cut to the width.
func (s *sheet) put(l strip) {
	if s.width > 0 {
		s.lines = append(s.lines, bounded(l.cut(s.width).String(), s.width))
	}
}

// spread adds a line whose end is at the right edge, or left out if there is no room.
func (s *sheet) spread(left, right strip) {
	gap := s.width - left.columns() - right.columns()
	if gap < 1 {
		s.put(left)
		return
	}
	s.put(append(append(left[:len(left):len(left)], piece{strings.Repeat(" ", gap), ""}), right...))
}

// blank adds an empty line, but not at the top and not below another.
func (s *sheet) blank() {
	if n := len(s.lines); n > 0 && s.lines[n-1] != "" {
		s.lines = append(s.lines, "")
	}
}

// wrap adds a text in as many lines as it takes: the first behind first, the others
// behind rest.
func (s *sheet) wrap(first, rest, text strip) { s.wrapMost(0, first, rest, text) }

// wrapMost is wrap in so many lines at most, of which the last ends in an ellipsis if
// there was more. 0 is for no bound.
func (s *sheet) wrapMost(most int, first, rest, text strip) {
	first, rest = s.margin(first), s.margin(rest)
	lines := broken(text, s.width-first.columns(), s.width-rest.columns())
	if most > 0 && len(lines) > most {
		lines = lines[:most]
		lines[most-1] = joined(lines[most-1], strip{{" " + ellipsis, s.faint}}).cut(s.width - rest.columns())
	}
	for i, l := range lines {
		lead := first
		if i > 0 {
			lead = rest
		}
		s.put(joined(lead, l))
	}
}

// margin leaves half of a line for text.
func (s *sheet) margin(lead strip) strip {
	if lead.columns() <= s.width/2 {
		return lead
	}
	return lead.cut(s.width / 2)
}

// indent is so many empty columns.
func indent(n int) strip { return strip{{text: strings.Repeat(" ", n)}} }

// bounded makes sure of the width of a line: where two pieces meet, characters may form
// one that is wider than both were thought to be.
func bounded(line string, width int) string {
	if ansi.StringWidth(line) <= width {
		return line
	}
	return ansi.Truncate(line, width, "")
}
