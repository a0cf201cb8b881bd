package ansi

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Run is a stretch of text in one style. Its colours are names: "" for the default, "0" to "255" of the usual
// palette, or "#rrggbb".
type Run struct {
	Text string `json:"text"`
	Style
}

// Style is how a run looks.
type Style struct {
	FG        string `json:"fg,omitempty"`
	BG        string `json:"bg,omitempty"`
	Bold      bool   `json:"bold,omitempty"`
	Faint     bool   `json:"faint,omitempty"`
	Italic    bool   `json:"italic,omitempty"`
	Underline bool   `json:"underline,omitempty"`
	Reverse   bool   `json:"reverse,omitempty"`
}

// A Line is one row of a terminal.
type Line []Run

// String returns the line without its style.
func (l Line) String() string {
	var out strings.Builder
	for _, r := range l {
		out.WriteString(r.Text)
	}
	return out.String()
}

// ParseLines parses what a terminal shows: text with escape sequences for its style. It removes all other sequences and
// control characters. Runs never contain a line break.
func ParseLines(s string) []Line {
	var out []Line
	var style Style
	for _, text := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		var line Line
		line, style = parseLine(text, style)
		out = append(out, line)
	}
	return out
}

func parseLine(s string, style Style) (Line, Style) {
	line := Line{}
	var text strings.Builder
	end := func() {
		if text.Len() > 0 {
			line = append(line, Run{Text: text.String(), Style: style})
			text.Reset()
		}
	}
	for i := 0; i < len(s); {
		if n := escapeLength(s[i:]); n > 0 {
			if params, ok := styleParams(s[i : i+n]); ok {
				next := style.applyParams(params)
				if next != style {
					end()
				}
				style = next
			}
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\t':
			text.WriteByte(' ')
		case !isDangerous(r):
			text.WriteRune(r)
		}
		i += n
	}
	end()
	return line, style
}

// styleParams returns the parameters of a sequence that sets the style, and false for any other.
func styleParams(sequence string) ([]int, bool) {
	body, ok := strings.CutPrefix(sequence, "\x1b[")
	if !ok {
		if body, ok = strings.CutPrefix(sequence, "\u009b"); !ok {
			return nil, false
		}
	}
	body, ok = strings.CutSuffix(body, "m")
	if !ok {
		return nil, false
	}
	var out []int
	for _, part := range strings.Split(strings.ReplaceAll(body, ":", ";"), ";") {
		n := 0
		if part != "" { // empty means zero
			var err error
			if n, err = strconv.Atoi(part); err != nil {
				return nil, false
			}
		}
		out = append(out, n)
	}
	return out, true
}

// applyParams returns the style after the parameters of one sequence.
func (s Style) applyParams(params []int) Style {
	for i := 0; i < len(params); i++ {
		switch p := params[i]; {
		case p == 38 || p == 48:
			color, used := extendedColor(params[i+1:])
			i += used
			if p == 38 {
				s.FG = color
			} else {
				s.BG = color
			}
		case p >= 30 && p <= 37:
			s.FG = strconv.Itoa(p - 30)
		case p >= 90 && p <= 97:
			s.FG = strconv.Itoa(p - 90 + 8)
		case p >= 40 && p <= 47:
			s.BG = strconv.Itoa(p - 40)
		case p >= 100 && p <= 107:
			s.BG = strconv.Itoa(p - 100 + 8)
		default:
			s = s.applyAttribute(p)
		}
	}
	return s
}

func (s Style) applyAttribute(p int) Style {
	switch p {
	case 0:
		return Style{}
	case 1:
		s.Bold = true
	case 2:
		s.Faint = true
	case 3:
		s.Italic = true
	case 4:
		s.Underline = true
	case 7:
		s.Reverse = true
	case 22:
		s.Bold, s.Faint = false, false
	case 23:
		s.Italic = false
	case 24:
		s.Underline = false
	case 27:
		s.Reverse = false
	case 39:
		s.FG = ""
	case 49:
		s.BG = ""
	}
	return s
}

// extendedColor parses a colour of 256, or of red, green and blue.
func extendedColor(params []int) (color string, used int) {
	switch {
	case len(params) >= 2 && params[0] == 5:
		if params[1] < 0 || params[1] > 255 {
			return "", 2
		}
		return strconv.Itoa(params[1]), 2
	case len(params) >= 4 && params[0] == 2:
		const digits = "0123456789abcdef"
		out := []byte{'#'}
		for _, v := range params[1:4] {
			v = min(max(v, 0), 255)
			out = append(out, digits[v>>4], digits[v&15])
		}
		return string(out), 4
	}
	return "", len(params)
}
