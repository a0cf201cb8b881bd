package signal

import (
	"bytes"
	"slices"
)

// rawKind is why a line is displayed verbatim instead of being interpreted as Markdown.
type rawKind uint8

const (
	noRaw    rawKind = iota
	indented         // by four columns or more
	inHTML           // a line of an HTML block
)

func (k rawKind) describeRaw() string {
	switch k {
	case indented:
		return "in indented code"
	case inHTML:
		return "in an HTML block"
	}
	return ""
}

// htmlKind is what ends an HTML block.
type htmlKind uint8

const (
	noHTML      htmlKind = iota
	htmlComment          // -->
	htmlQuote            // the closing tag of an element that quotes
	htmlOther            // a blank line
)

// htmlBlock tracks the HTML block that a text is in.
type htmlBlock struct {
	kind  htmlKind
	tag   string
	depth int // how many elements of the tag are open
}

// quotingElements contain quoted text, even across blank lines.
var quotingElements = []string{"blockquote", "code", "details", "kbd", "pre", "q", "samp", "script", "style", "table", "template", "textarea"}

// openBlock begins an HTML block if text opens one.
func (b *htmlBlock) openBlock(text []byte) place {
	if bytes.HasPrefix(text, commentStart) {
		if !bytes.Contains(text[len(commentStart):], commentEnd) {
			b.kind = htmlComment
		}
		return place{} // a marker may begin here
	}
	tag := tagName(text)
	switch {
	case tag == "":
		return place{}
	case slices.Contains(quotingElements, tag):
		b.tag = tag
		if b.depth = b.tagBalance(text); b.depth > 0 {
			b.kind = htmlQuote
			break
		}
		fallthrough
	default:
		b.kind = htmlOther
	}
	return place{raw: inHTML}
}

// followLine returns the place of a line in the open block, which it may end.
func (b *htmlBlock) followLine(text []byte) place {
	switch b.kind {
	case htmlComment:
		if bytes.Contains(text, commentEnd) {
			b.kind = noHTML
		}
	case htmlQuote:
		if b.depth += b.tagBalance(text); b.depth <= 0 {
			b.kind = htmlOther
		}
	default:
		if len(text) == 0 {
			b.kind = noHTML
			return place{}
		}
	}
	return place{raw: inHTML}
}

// tagBalance returns how many more elements of the block's tag text opens than it closes.
func (b *htmlBlock) tagBalance(text []byte) int {
	n := 0
	for {
		at := bytes.IndexByte(text, '<')
		if at < 0 {
			return n
		}
		text = text[at:]
		if tagName(text) == b.tag {
			if n++; text[1] == '/' {
				n -= 2
			}
		}
		text = text[1:]
	}
}

// tagName returns the name of the HTML tag at the beginning of text, in lower case, or "" if
// there is none.
func tagName(text []byte) string {
	const longest = 32
	rest := bytes.TrimPrefix(text[1:], []byte("/"))
	n := 0
	for n < len(rest) && n < longest && (rest[n]|0x20 >= 'a' && rest[n]|0x20 <= 'z' || n > 0 && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '-')) {
		n++
	}
	if n == 0 || n < len(rest) && bytes.IndexByte([]byte(" \t\r/>"), rest[n]) < 0 {
		return ""
	}
	return string(bytes.ToLower(rest[:n]))
}
