package render

import "strings"

// breakLines breaks a text into lines between words; a word that is longer than a line is broken at the end of the
// line. It returns at least one line.
func breakLines(text strip, first, rest int) []strip {
	b := breaker{first: max(first, 1), rest: max(rest, 1), lines: []strip{nil}}
	for _, p := range text {
		for at := 0; at < len(p.text); {
			n := strings.IndexByte(p.text[at:], ' ')
			switch {
			case n < 0:
				b.word = append(b.word, piece{p.text[at:], p.pen})
				at = len(p.text)
			case n == 0:
				b.endWord()
				b.gap = append(b.gap, piece{" ", p.pen})
				at++
			default:
				b.word = append(b.word, piece{p.text[at : at+n], p.pen})
				at += n
			}
		}
	}
	b.endWord()
	return b.lines
}

type breaker struct {
	first, rest int // widths
	lines       []strip
	used        int   // columns of the last line
	gap         strip // spaces before the word
	word        strip
}

func (b *breaker) lineWidth() int {
	if len(b.lines) == 1 {
		return b.first
	}
	return b.rest
}

func (b *breaker) appendPiece(p piece, n int) {
	last := &b.lines[len(b.lines)-1]
	*last = append(*last, p)
	b.used += n
}

func (b *breaker) newLine() {
	b.lines = append(b.lines, nil)
	b.used = 0
}

func (b *breaker) endWord() {
	if len(b.word) == 0 {
		return
	}
	gap, n := b.gap.columnCount(), b.word.columnCount()
	switch {
	case b.used+gap+n <= b.lineWidth():
		for _, p := range b.gap {
			b.appendPiece(p, 1)
		}
	case b.used > 0:
		b.newLine()
	}
	for _, p := range b.word {
		b.putLongWord(p)
	}
	b.gap, b.word = nil, nil
}

// putLongWord puts a piece of a word where it fits.
func (b *breaker) putLongWord(p piece) {
	for p.text != "" {
		head, n := clipText(p.text, b.lineWidth()-b.used)
		if head == "" && b.used > 0 {
			b.newLine()
			continue
		}
		if head == "" { // wider than a line
			head, n = firstCharacter(p.text)
		}
		b.appendPiece(piece{head, p.pen}, n)
		p.text = p.text[len(head):]
	}
}
