package signal

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// maxMarker is the size limit of a marker, including white space.
const maxMarker = 4 << 10

// markerFinder finds <!-- WORK_RESULT:passed --> and <!-- WORK_RESULT:failed -->.
type markerFinder struct {
	options DetectOptions
	notes   *notes

	begun      []byte // a marker that continues in the next piece
	startLine  int
	startPlace place
	startTicks []int // the code spans that are open before it
	startAlone bool  // only white space is before it in its line

	alone  bool   // the line so far is white space
	ending Result // of the marker, alone in its lines, with which the text ends so far

	seen map[markerKey]int // the line of the last one, of those that are not quoted
	last Report            // the last that counts; the first in parity mode
}

// markerKey distinguishes the markers that can contradict each other.
type markerKey struct {
	result Result
	marked bool // it has the nonce of the prompt
}

func newMarkerFinder(l DetectOptions, n *notes) finder {
	return &markerFinder{options: l, notes: n, seen: map[markerKey]int{}}
}

func (m *markerFinder) takePiece(p *piece) {
	text, from := p.text, 0
	if p.first && len(m.begun) == 0 {
		m.alone = true
	}
	if len(m.begun) > 0 {
		from = m.goOn(p)
	}
	if p.has&seenAngle == 0 {
		m.passOver(text[from:])
		return
	}
	for {
		at := bytes.Index(text[from:], commentStart)
		if at < 0 {
			m.passOver(text[from:])
			return
		}
		m.passOver(text[from : from+at])
		at += from
		mark, length, fit := readMarker(text[at:], m.options.Parity)
		switch fit {
		case fits:
			m.judgeMarker(mark, p.line, p.where, openTicks(text[:at]), text[at+length:])
			from = at + length
			continue
		case unfinished:
			m.begun = append(m.begun[:0], text[at:]...)
			m.startLine, m.startPlace, m.startTicks, m.startAlone = p.line, p.where, openTicks(text[:at]), m.alone
			return
		case misspelled:
			m.notes.add(p.line, "a marker that says neither passed nor failed does not count")
		}
		m.passOver(text[at : at+len(commentStart)])
		from = at + len(commentStart)
	}
}

// passOver handles text beside markers: text does not end with a marker that other text
// follows.
func (m *markerFinder) passOver(text []byte) {
	if (m.alone || m.ending != "") && len(bytes.TrimSpace(text)) > 0 {
		m.alone, m.ending = false, ""
	}
}

// goOn continues a marker that the last piece left unfinished, and returns how much of the
// piece belongs to it.
func (m *markerFinder) goOn(p *piece) int {
	before := len(m.begun)
	if p.first {
		m.begun = append(m.begun, '\n')
		before++
	}
	m.begun = append(m.begun, p.text[:min(len(p.text), maxMarker)]...)
	mark, length, fit := readMarker(m.begun, m.options.Parity)
	switch fit {
	case unfinished:
		if len(m.begun) <= maxMarker {
			return len(p.text)
		}
	case fits:
		m.alone = m.startAlone
		m.judgeMarker(mark, m.startLine, m.startPlace, m.startTicks, p.text[length-before:])
	case misspelled:
		m.notes.add(m.startLine, "a marker that says neither passed nor failed does not count")
	}
	if m.begun = m.begun[:0]; length == 0 {
		m.alone, m.ending = false, "" // the unfinished comment is not a marker
	}
	return max(0, length-before)
}

// judgeMarker decides whether a marker counts.
func (m *markerFinder) judgeMarker(mark marker, line int, where place, ticks []int, after []byte) {
	r := Report{Outcome: mark.result, Code: string(mark.result), Nonce: mark.nonce}
	if m.options.Parity {
		if m.last.Outcome == "" {
			m.last = r
		}
		return
	}
	marked := m.options.Nonce != "" && mark.nonce == m.options.Nonce
	why := where.describeDisplay()
	if marked {
		why = where.describeQuote()
	}
	if why == "" && inCode(ticks, after) {
		why = "in a code span"
	}
	alone := m.alone && len(bytes.TrimSpace(after)) == 0
	m.alone, m.ending = false, ""
	if why != "" {
		m.notes.addRefusal(line, "a marker", why)
		return
	}
	if why := m.options.describeNonceRefusal(mark.nonce); why != "" {
		m.notes.add(line, "a marker "+why)
		return
	}
	m.last = r
	m.seen[markerKey{mark.result, marked}] = line
	if alone {
		m.ending = mark.result
	}
}

func (m *markerFinder) foundReport() (Report, bool) {
	if len(m.begun) > 0 && namesMarker(m.begun) {
		m.notes.add(m.startLine, "a marker without its --> does not count")
	}
	if m.options.Parity {
		return m.last, m.last.Outcome != ""
	}
	for _, marked := range []bool{true, false} {
		passed, failed := m.seen[markerKey{Passed, marked}], m.seen[markerKey{Failed, marked}]
		switch {
		case passed > 0 && failed > 0:
			m.notes.add(0, fmt.Sprintf("line %d says passed and line %d says failed: keep one marker", passed, failed))
			return Report{Outcome: Ambiguous, Nonce: m.last.Nonce}, true
		case passed == 0 && failed == 0:
			continue
		case !marked && m.ending == "":
			m.notes.add(max(passed, failed), "a marker without the nonce of the prompt counts only alone at the end of the text")
			return Report{}, false
		case passed > 0:
			return m.newReport(Passed, marked), true
		}
		return m.newReport(Failed, marked), true
	}
	return Report{}, false
}

func (m *markerFinder) newReport(result Result, marked bool) Report {
	r := Report{Outcome: result, Code: string(result), Nonce: m.last.Nonce}
	if marked {
		r.Nonce = m.options.Nonce
	}
	return r
}

type marker struct {
	result Result
	nonce  string
}

// fit is how well a text matches a marker.
type fit int

const (
	unfit      fit = iota
	fits           // a whole marker
	unfinished     // more text may make it one
	misspelled     // a marker except for its value
)

var markerName = []byte("work_result")

// readMarker parses the marker at the beginning of text and returns its length. strict allows
// no white space around the colon and no nonce.
func readMarker(text []byte, strict bool) (marker, int, fit) {
	c := cursor{text: text, at: len(commentStart)}
	c.skipSpace()
	if f := c.skipWord(markerName); f != fits {
		return marker{}, 0, f
	}
	if !strict {
		c.skipSpace()
	}
	if f := c.skipWord([]byte(":")); f != fits {
		return marker{}, 0, f.behindName()
	}
	if !strict {
		c.skipSpace()
	}
	var mark marker
	switch f := c.skipWord([]byte("passed")); {
	case f == fits:
		mark.result = Passed
	case f == unfinished:
		return marker{}, 0, unfinished
	default:
		if f := c.skipWord([]byte("failed")); f != fits {
			return marker{}, 0, f.behindName()
		}
		mark.result = Failed
	}
	if c.skipSpace() && !strict {
		f := c.skipWord([]byte("nonce="))
		if f == unfinished {
			return marker{}, 0, unfinished
		}
		if f == fits {
			mark.nonce = c.readNonce()
			c.skipSpace()
		}
	}
	f := c.skipWord(commentEnd)
	return mark, c.at, f.behindName()
}

// behindName converts a mismatch after the marker's name.
func (f fit) behindName() fit {
	if f == unfit {
		return misspelled
	}
	return f
}

// namesMarker reports whether an unfinished marker includes its name.
func namesMarker(text []byte) bool {
	c := cursor{text: text, at: len(commentStart)}
	c.skipSpace()
	return c.skipWord(markerName) == fits
}

// cursor parses a marker from left to right.
type cursor struct {
	text []byte
	at   int
}

// skipSpace skips white space, and reports whether there was any.
func (c *cursor) skipSpace() bool {
	from := c.at
	for c.at < len(c.text) {
		r, n := utf8.DecodeRune(c.text[c.at:])
		if !unicode.IsSpace(r) {
			break
		}
		c.at += n
	}
	return c.at > from
}

// skipWord skips a word, ignoring case.
func (c *cursor) skipWord(w []byte) fit {
	rest := c.text[c.at:]
	n := min(len(rest), len(w))
	if !bytes.EqualFold(rest[:n], w[:n]) {
		return unfit
	}
	if n < len(w) {
		return unfinished
	}
	c.at += n
	return fits
}

// readNonce reads a nonce, with or without quotes.
func (c *cursor) readNonce() string {
	rest := c.text[c.at:]
	n := bytes.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || r == '>' || r == '<' })
	if n < 0 {
		n = len(rest)
	}
	value := rest[:n]
	if n < len(rest) && rest[n] == '>' {
		value = bytes.TrimSuffix(value, []byte("--"))
	}
	c.at += len(value)
	return string(bytes.Trim(value, `"'`))
}
