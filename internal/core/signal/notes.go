package signal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/view/humanize"
)

const (
	maxFirstNotes = 4
	maxLastNotes  = 6
	maxDiagnosis  = 2 << 10
	maxQuoted     = 80 // characters of an agent's text that a note quotes
)

// notes are what was found and does not count: the first few and the last few.
type notes struct {
	first, last []note
	dropped     int
}

// A note is a text, or something that does not count and why.
type note struct {
	line      int // 0 for none
	text, why string
}

func (n *notes) add(line int, text string) { n.keepNote(note{line: line, text: text}) }

// addRefusal records that something does not count. It does not build the text, because a text
// may have millions of such things and most notes are dropped.
func (n *notes) addRefusal(line int, thing, why string) { n.keepNote(note{line, thing, why}) }

func (n *notes) keepNote(x note) {
	switch {
	case len(n.first) < maxFirstNotes:
		n.first = append(n.first, x)
	case len(n.last) < maxLastNotes:
		n.last = append(n.last, x)
	default:
		copy(n.last, n.last[1:])
		n.last[maxLastNotes-1] = x
		n.dropped++
	}
}

// joinNotes returns all notes as one text, in the order of their lines.
func (n *notes) joinNotes() string {
	all := slices.Concat(n.first, n.last)
	slices.SortStableFunc(all, func(a, b note) int { return a.sortLine() - b.sortLine() })
	var parts []string
	for _, x := range all {
		if x.why != "" {
			x.text += " " + x.why + " does not count"
		}
		if x.line > 0 {
			x.text = fmt.Sprintf("line %d: %s", x.line, x.text)
		}
		parts = append(parts, x.text)
	}
	if n.dropped > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n.dropped))
	}
	return humanize.Cut(strings.Join(parts, "; "), maxDiagnosis)
}

// sortLine sorts notes about the whole text after those about lines.
func (n note) sortLine() int {
	if n.line == 0 {
		return int(^uint(0) >> 1)
	}
	return n.line
}

// quoteOddWord returns a word of an agent in a form that a note can contain.
func quoteOddWord(s string) string {
	odd := func(r rune) bool {
		return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == utf8.RuneError || r == '"'
	}
	if s == "" || len(s) > maxQuoted || strings.ContainsFunc(s, odd) {
		return strconv.QuoteToGraphic(humanize.Cut(s, maxQuoted))
	}
	return s
}
