// Package markdown parses Markdown for rendering. The texts are untrusted: HTML in them is text, and links lead only to
// the web and to mail. Nothing is hidden: comments and link definitions, which Markdown does not show, are text too.
// The one exception is the mark by which Orange recognizes a section that it wrote.
package markdown

import (
	"strings"
	"unicode/utf8"

	"orange/internal/view/ansi"
)

// BlockKind is the kind of a block.
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

// A Block is a block element. All text in it is safe to show.
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

// An Item is an item of a list.
type Item struct {
	Tick   Tick
	Blocks []Block
}

// Tick is the state of a task list item.
type Tick string

// The values of Tick.
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

// A Span is a stretch of text in one style. A line break in it is intended.
type Span struct {
	Text                                 string
	Strong, Emphasis, Strikethrough, Raw bool   // Raw: code
	Link                                 string // its address: http, https or mailto
}

// maxSize is how much of a text is parsed, in bytes.
const maxSize = 512 << 10

// tooLong is the notice below a truncated text.
const tooLong = "The text is longer than 512 KB: the rest is not shown."

// ParseBlocks parses a text. It never fails: what is not Markdown is a paragraph.
func ParseBlocks(text string) []Block {
	text, whole := boundText(text)
	out := parseClean(text)
	if !whole {
		out = append(out, Block{Kind: Rule}, Block{Kind: Paragraph, Text: []Span{{Text: tooLong, Emphasis: true}}})
	}
	return out
}

// boundText returns the part of a text that is parsed, cleaned, and whether that is all of it.
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
