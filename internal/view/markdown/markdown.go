// Package markdown reads texts in Markdown for those who show them. The texts are
// untrusted: HTML in them is text, and links lead nowhere but to the web and to mail.
// Nothing that is written is hidden: what Markdown keeps from readers, such as comments
// and definitions of links, is text too. The one exception is a mark by which Orange finds
// a section again that it wrote: it says nothing to anybody.
package markdown

import (
	"strings"
	"unicode/utf8"

	"orange/internal/view/ansi"
)

// BlockKind says what a block is.
type BlockKind string

// The kinds of blocks.
const (
	Heading   BlockKind = "heading"
	Paragraph BlockKind = "paragraph"
	List      BlockKind = "list"
	Quote     BlockKind = "quote"
	Code      BlockKind = "code"
	Rule      BlockKind = "rule"
	Table     BlockKind = "table"
)

// A Block is a part of a text that stands by itself. All words in it are safe to show.
type Block struct {
	Kind   BlockKind
	Level  int    // of a heading, from 1 to 6
	Text   []Span // of a heading or a paragraph
	Code   string // its lines
	Lang   string // of code, [A-Za-z0-9_+#.-]
	Blocks []Block
	Items  []Item
	Number int // of a list: its first number, 0 if it is not numbered
	Tight  bool
	Rows   [][]Cell // of a table, its head first
}

// An Item is a point of a list.
type Item struct {
	Tick   Tick
	Blocks []Block
}

// Tick says whether a point is done.
type Tick string

// The ticks of a list of things to do.
const (
	NoTick Tick = ""
	Open   Tick = "open"
	Done   Tick = "done"
)

// A Cell is a cell of a table.
type Cell struct {
	Text  []Span
	Align string // left, center, right or ""
}

// A Span is a stretch of text that looks alike. A line break in it is meant.
type Span struct {
	Text                          string
	Strong, Emphasis, Struck, Raw bool   // Raw: code
	Link                          string // where it leads: http, https or mailto
}

// maxSize is how much of a text is read, in bytes.
const maxSize = 512 << 10

// tooLong is said below a text of which not everything is shown.
const tooLong = "The text is longer than 512 KB: the rest is not shown."

// ParseBlocks reads a text. It never fails: what is not Markdown is a paragraph.
func ParseBlocks(text string) []Block {
	text, whole := boundText(text)
	out := parseClean(text)
	if !whole {
		out = append(out, Block{Kind: Rule}, Block{Kind: Paragraph, Text: []Span{{Text: tooLong, Emphasis: true}}})
	}
	return out
}

// boundText is the beginning of a text that is read, cleaned, and whether that is all.
func boundText(text string) (string, bool) {
	whole := len(text) <= maxSize
	if !whole {
		text = text[:maxSize]
		if at := strings.LastIndexByte(text, '\n'); at > maxSize/2 {
			text = text[:at+1]
		}
		for len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) {
			text = text[:len(text)-1]
		}
		if r, n := utf8.DecodeLastRuneInString(text); r == utf8.RuneError && n == 1 {
			text = text[:len(text)-1]
		}
	}
	return ansi.SafeText(text), whole
}
