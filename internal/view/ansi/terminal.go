package ansi

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The size of the windows that agents get.
const (
	TerminalWidth  = 160
	TerminalHeight = 48
)

const (
	maxHistory  = 20_000   // maximum number of lines above the screen
	maxSequence = 64 << 10 // maximum size of an unterminated escape sequence, in bytes
)

// A Terminal replays what a program wrote to a terminal and keeps its display: the lines that scrolled off the top, and
// the screen itself. It ignores colours and drops overwritten text. The zero value is not usable; see NewTerminal.
type Terminal struct {
	width, height int
	main, alt     grid
	on            *grid // main or alt
	history       []string
	dropped       int // lines of the history that were dropped
	rest          []byte
}

// grid is one of the two screens of a terminal.
type grid struct {
	rows        [][]rune // 0 is a blank; wide is the second half of a wide character
	x, y        int
	wrap        bool // the next character begins a new line
	top, bottom int  // rows that scroll
	saved       [2]int
}

const wide = -1

// NewTerminal returns an empty terminal.
func NewTerminal(width, height int) *Terminal {
	t := &Terminal{width: max(width, 2), height: max(height, 2)}
	t.main, t.alt = t.blankGrid(), t.blankGrid()
	t.on = &t.main
	return t
}

func (t *Terminal) blankGrid() grid {
	g := grid{rows: make([][]rune, t.height), bottom: t.height - 1}
	for i := range g.rows {
		g.rows[i] = make([]rune, t.width)
	}
	return g
}

// Write implements io.Writer. It never fails.
func (t *Terminal) Write(p []byte) (int, error) {
	text := append(t.rest, p...)
	t.rest = nil
	for len(text) > 0 {
		n := t.consumeNext(text)
		if n == 0 { // the rest of a sequence or of a character is still to come
			if len(text) > maxSequence {
				n = 1
			} else {
				t.rest = append([]byte(nil), text...)
				break
			}
		}
		text = text[n:]
	}
	return len(p), nil
}

// consumeNext handles the beginning of text and returns its length, or 0 if its end is missing.
func (t *Terminal) consumeNext(text []byte) int {
	switch b := text[0]; {
	case b == 0x1b:
		return t.handleEscape(text)
	case b < 0x20 || b == 0x7f:
		t.handleControl(b)
		return 1
	case b < utf8.RuneSelf:
		t.putRune(rune(b))
		return 1
	}
	if !utf8.FullRune(text) {
		return 0
	}
	r, n := utf8.DecodeRune(text)
	if r == 0x9b {
		if used := t.handleCSI(text[n:]); used > 0 {
			return n + used
		}
		return 0
	}
	t.putRune(r)
	return n
}

func (t *Terminal) handleControl(b byte) {
	g := t.on
	switch b {
	case '\n', '\v', '\f':
		t.lineFeed()
	case '\r':
		g.x, g.wrap = 0, false
	case '\b':
		g.x, g.wrap = max(g.x-1, 0), false
	case '\t':
		g.x = min((g.x/8+1)*8, t.width-1)
	}
}

// putRune writes a character at the cursor.
func (t *Terminal) putRune(r rune) {
	if isDangerous(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
		return
	}
	g, cells := t.on, runeCells(r)
	if g.wrap || g.x+cells > t.width {
		g.x = 0
		t.lineFeed()
	}
	row := g.rows[g.y]
	row[g.x] = r
	if cells == 2 {
		row[g.x+1] = wide
	}
	if g.x += cells; g.x >= t.width {
		g.x, g.wrap = t.width-1, true
	}
}

// lineFeed moves the cursor down, or scrolls if it is at the bottom.
func (t *Terminal) lineFeed() {
	g := t.on
	g.wrap = false
	switch {
	case g.y == g.bottom:
		t.scrollUp(1)
	case g.y < t.height-1:
		g.y++
	}
}

// scrollUp moves the rows of the scroll region up. Rows that leave the main screen at its top become history.
func (t *Terminal) scrollUp(n int) {
	g := t.on
	for range min(n, g.bottom-g.top+1) {
		if g == &t.main && g.top == 0 {
			t.keepLine(rowText(g.rows[0]))
		}
		g.shiftRows(g.top, g.bottom, 1, t.width)
	}
}

func (t *Terminal) keepLine(line string) {
	if len(t.history) >= 2*maxHistory {
		t.dropped += maxHistory
		t.history = append([]string(nil), t.history[maxHistory:]...)
	}
	t.history = append(t.history, line)
}

// shiftRows moves the rows from top to bottom up by one, or down for -1.
func (g *grid) shiftRows(top, bottom, by, width int) {
	if by > 0 {
		copy(g.rows[top:bottom], g.rows[top+1:bottom+1])
		g.rows[bottom] = make([]rune, width)
		return
	}
	copy(g.rows[top+1:bottom+1], g.rows[top:bottom])
	g.rows[top] = make([]rune, width)
}

// handleEscape handles an escape sequence.
func (t *Terminal) handleEscape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '[':
		if used := t.handleCSI(text[2:]); used > 0 {
			return 2 + used
		}
		return 0
	case 0x1b:
		return 1
	case ']', 'P', 'X', '^', '_':
		return stringLength(text)
	case 'D':
		t.lineFeed()
	case 'E':
		t.on.x = 0
		t.lineFeed()
	case 'M':
		if g := t.on; g.y == g.top {
			g.shiftRows(g.top, g.bottom, -1, t.width)
		} else {
			g.y = max(g.y-1, 0)
		}
	case '7':
		t.on.saved = [2]int{t.on.x, t.on.y}
	case '8':
		t.on.x, t.on.y, t.on.wrap = t.on.saved[0], t.on.saved[1], false
	case 'c':
		t.main, t.alt = t.blankGrid(), t.blankGrid()
		t.on = &t.main
	default:
		if text[1] >= 0x20 && text[1] < 0x30 { // an intermediate byte, then one more
			if len(text) < 3 {
				return 0
			}
			return 3
		}
	}
	return 2
}

// stringLength returns the length of a control string, or 0 if its end is missing.
func stringLength(text []byte) int {
	for i := 2; i < len(text); i++ {
		switch {
		case text[i] == 0x07:
			return i + 1
		case text[i] == 0x1b && i+1 < len(text):
			switch text[i+1] {
			case '\\':
				return i + 2
			case 0x1b: // an escape within the string, written twice
				i++
			default:
				return i
			}
		}
	}
	return 0
}

// handleCSI handles a control sequence; text begins after its introducer.
func (t *Terminal) handleCSI(text []byte) int {
	for i, b := range text {
		switch {
		case b >= 0x40 && b <= 0x7e:
			t.handleSequence(string(text[:i]), b)
			return i + 1
		case b < 0x20 || b > 0x7e: // it is incomplete
			return max(i, 1)
		}
	}
	return 0
}

// handleSequence handles a control sequence.
func (t *Terminal) handleSequence(params string, final byte) {
	if strings.HasPrefix(params, "?") {
		t.handlePrivateMode(params[1:], final)
		return
	}
	if strings.ContainsAny(params, "<=> !\"$'*") {
		return // none of these changes what is shown
	}
	g := t.on
	at := func(i, otherwise int) int {
		part := strings.Split(params, ";")
		if i < len(part) {
			if n, err := strconv.Atoi(part[i]); n > 0 && (err == nil || errors.Is(err, strconv.ErrRange)) {
				return min(n, 10_000)
			}
		}
		return otherwise
	}
	n := at(0, 1)
	switch final {
	case 'A':
		g.y = max(g.y-n, 0)
	case 'B', 'e':
		g.y = min(g.y+n, t.height-1)
	case 'C', 'a':
		g.x = min(g.x+n, t.width-1)
	case 'D':
		g.x = max(g.x-n, 0)
	case 'E':
		g.x, g.y = 0, min(g.y+n, t.height-1)
	case 'F':
		g.x, g.y = 0, max(g.y-n, 0)
	case 'G', '`':
		g.x = min(n-1, t.width-1)
	case 'd':
		g.y = min(n-1, t.height-1)
	case 'H', 'f':
		g.x, g.y = min(at(1, 1)-1, t.width-1), min(n-1, t.height-1)
	case 'r':
		g.top, g.bottom = min(n-1, t.height-2), min(at(1, t.height)-1, t.height-1)
		if g.top >= g.bottom {
			g.top, g.bottom = 0, t.height-1
		}
		g.x, g.y = 0, 0
	case 's':
		g.saved = [2]int{g.x, g.y}
	case 'u':
		g.x, g.y = g.saved[0], g.saved[1]
	case 'm', 'h', 'l', 'n', 'c', 't', 'q':
		return // looks, modes and questions
	default:
		t.eraseOrMove(at(0, 0), n, final)
	}
	g.wrap = false
}

// eraseOrMove erases or moves text.
func (t *Terminal) eraseOrMove(mode, n int, final byte) {
	g := t.on
	row := g.rows[g.y]
	switch final {
	case 'J':
		switch mode {
		case 0:
			clear(row[g.x:])
			g.eraseRows(g.y+1, t.height)
		case 1:
			g.eraseRows(0, g.y)
			clear(row[:g.x+1])
		default:
			g.eraseRows(0, t.height)
		}
	case 'K':
		switch mode {
		case 0:
			clear(row[g.x:])
		case 1:
			clear(row[:g.x+1])
		default:
			clear(row)
		}
	case 'X':
		clear(row[g.x:min(g.x+n, t.width)])
	case 'P':
		n = min(n, t.width-g.x)
		copy(row[g.x:], row[g.x+n:])
		clear(row[t.width-n:])
	case '@':
		n = min(n, t.width-g.x)
		copy(row[g.x+n:], row[g.x:])
		clear(row[g.x : g.x+n])
	case 'L', 'M':
		if g.y < g.top || g.y > g.bottom {
			return
		}
		for range min(n, g.bottom-g.y+1) {
			g.shiftRows(g.y, g.bottom, map[byte]int{'L': -1, 'M': 1}[final], t.width)
		}
	case 'S':
		t.scrollUp(n)
	case 'T':
		for range min(n, g.bottom-g.top+1) {
			g.shiftRows(g.top, g.bottom, -1, t.width)
		}
	}
}

func (g *grid) eraseRows(from, to int) {
	for y := from; y < to; y++ {
		clear(g.rows[y])
	}
}

// handlePrivateMode acts on the modes that programs of the whole screen set: another screen, which
// has no history. What it showed last becomes part of the history, because nothing else
// would tell of it.
func (t *Terminal) handlePrivateMode(params string, final byte) {
	for mode := range strings.SplitSeq(params, ";") {
		if mode != "1049" && mode != "1047" && mode != "47" {
			continue
		}
		switch {
		case final == 'h' && t.on == &t.main:
			t.alt = t.blankGrid()
			t.on = &t.alt
		case final == 'l' && t.on == &t.alt:
			for _, line := range t.alt.textLines() {
				t.keepLine(line)
			}
			t.on = &t.main
		}
	}
}

// Lines is everything the terminal showed that is not gone, oldest first, without blank
// lines at the end.
func (t *Terminal) Lines() []string {
	out := append(append([]string(nil), t.history...), t.main.textLines()...)
	if t.on == &t.alt {
		out = append(out, t.alt.textLines()...)
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// DroppedLines is how many of the oldest lines are not kept any more.
func (t *Terminal) DroppedLines() int { return t.dropped }

// SettledLines is how many of Lines are unlikely to change: those that left the screen, and
// those above the cursor.
func (t *Terminal) SettledLines() int {
	if t.on == &t.alt {
		return len(t.history)
	}
	return len(t.history) + t.main.y
}

// CurrentLine is the line that the cursor is in, "" on a screen without history.
func (t *Terminal) CurrentLine() string {
	if t.on == &t.alt {
		return ""
	}
	return rowText(t.main.rows[t.main.y])
}

// textLines are the rows of a screen as text, without blank ones at the end.
func (g *grid) textLines() []string {
	var out []string
	for _, row := range g.rows {
		out = append(out, rowText(row))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func rowText(row []rune) string {
	var out strings.Builder
	for _, r := range row {
		switch r {
		case wide:
		case 0:
			out.WriteByte(' ')
		default:
			out.WriteRune(r)
		}
	}
	return strings.TrimRight(out.String(), " ")
}

// runeCells is how many columns a character takes.
func runeCells(r rune) int {
	switch {
	case r < 0x1100:
		return 1
	case r <= 0x115f, r >= 0x2e80 && r <= 0x303e, r >= 0x3041 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1f64f,
		r >= 0x1f680 && r <= 0x1f6ff, r >= 0x1f900 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}
