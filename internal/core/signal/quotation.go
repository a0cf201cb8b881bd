package signal

import "bytes"

// fenceKind is the kind of code fence that a line is in.
type fenceKind uint8

const (
	noFence    fenceKind = iota
	plainFence           // ``` and nothing more
	yamlFence            // ```yaml
	otherFence           // ```json and the like
)

// place is the position of a line in a Markdown text.
type place struct {
	fence fenceKind
	edge  bool // the line opens or closes the fence
	quote bool // a line of a block quote
	raw   rawKind
}

// describeQuote returns why a statement here is only quoted, or "" if it is not.
func (w place) describeQuote() string {
	switch {
	case w.fence != noFence:
		return "in a code fence"
	case w.quote:
		return "in a block quote"
	}
	return ""
}

// describeDisplay returns why a statement here is only displayed, or "" if it is not: it is
// quoted, indented like code, or part of an HTML block.
func (w place) describeDisplay() string {
	if why := w.describeQuote(); why != "" {
		return why
	}
	return w.raw.describeRaw()
}

// maxLists limits how deep nested lists are tracked.
const maxLists = 8

// quotation tracks the fences, block quotes and lists of a text, by the rules of CommonMark as
// far as single lines allow.
type quotation struct {
	fence struct {
		kind   fenceKind
		mark   byte
		length int
		column int // column of the text of the list item that contains the fence
	}
	lists [maxLists]int // columns of the texts of the open list items
	depth int
	html  htmlBlock
}

// placeOf returns the place of a line, and updates the state.
func (q *quotation) placeOf(line []byte) place {
	if q.fence.kind == noFence && q.depth == 0 && q.html.kind == noHTML && (len(line) == 0 || line[0] >= 'A' && line[0] != '`' && line[0] != '~') {
		return place{} // most lines
	}
	column, at := lineIndent(line)
	if q.fence.kind != noFence {
		if at == len(line) || column >= q.fence.column {
			return q.inFence(line[at:], column)
		}
		q.fence.kind = noFence // its list item has ended
	}
	if q.html.kind != noHTML {
		return q.html.followLine(line[at:])
	}
	if at == len(line) {
		return place{}
	}
	for q.depth > 0 && column < q.lists[q.depth-1] {
		q.depth--
	}
	return q.placeOutside(line[at:], column)
}

// itemColumn returns the column of the text of the innermost open list item.
func (q *quotation) itemColumn() int {
	if q.depth == 0 {
		return 0
	}
	return q.lists[q.depth-1]
}

func (q *quotation) placeOutside(text []byte, column int) place {
	if column > q.itemColumn()+3 {
		return place{raw: indented}
	}
	for len(text) > 0 && column <= q.itemColumn()+3 {
		switch text[0] {
		case '`', '~':
			return q.openFence(text)
		case '>':
			return place{quote: true}
		case '<':
			return q.html.openBlock(text)
		case '-', '*', '+', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		default:
			return place{}
		}
		width := bulletWidth(text)
		if width == 0 || q.depth == maxLists {
			return place{}
		}
		space, at := lineIndent(text[width:])
		if at == len(text[width:]) || space > 4 {
			space, at = 1, min(1, len(text)-width)
		}
		column += width + space
		q.lists[q.depth] = column
		q.depth++
		text = text[width+at:]
	}
	return place{}
}

// openFence begins a fence if text opens one.
func (q *quotation) openFence(text []byte) place {
	length := runLength(text)
	info := bytes.TrimSpace(text[length:])
	if length < 3 || text[0] == '`' && bytes.IndexByte(info, '`') >= 0 {
		return place{}
	}
	q.fence.kind, q.fence.mark, q.fence.length, q.fence.column = fenceOf(info), text[0], length, q.itemColumn()
	return place{fence: q.fence.kind, edge: true}
}

// inFence returns the place of a line in the open fence, which it may close.
func (q *quotation) inFence(text []byte, column int) place {
	w := place{fence: q.fence.kind}
	if len(text) == 0 || text[0] != q.fence.mark || column > q.fence.column+3 {
		return w
	}
	if length := runLength(text); length >= q.fence.length && len(bytes.TrimSpace(text[length:])) == 0 {
		w.edge = true
		q.fence.kind = noFence
	}
	return w
}

func fenceOf(info []byte) fenceKind {
	word, _, _ := bytes.Cut(info, []byte(" "))
	switch {
	case len(word) == 0:
		return plainFence
	case bytes.EqualFold(word, []byte("yaml")), bytes.EqualFold(word, []byte("yml")):
		return yamlFence
	}
	return otherFence
}

// lineIndent returns the column at which a line's text begins, and its index.
func lineIndent(line []byte) (column, at int) {
	for at < len(line) {
		switch line[at] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		case '\r', '\v', '\f':
		default:
			return column, at
		}
		at++
	}
	return column, at
}

// runLength returns how often the first byte of text is repeated.
func runLength(text []byte) int {
	n := 1
	for n < len(text) && text[n] == text[0] {
		n++
	}
	return n
}

// bulletWidth returns the width of the list marker at the beginning of text, or 0 if there is
// none.
func bulletWidth(text []byte) int {
	n := 0
	for n < len(text) && n < 9 && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n == len(text) {
		return 0
	}
	ends := text[n] == '.' || text[n] == ')'
	if n == 0 {
		ends = text[0] == '-' || text[0] == '*' || text[0] == '+'
	}
	if n++; ends && (n == len(text) || text[n] == ' ' || text[n] == '\t') {
		return n
	}
	return 0
}

// stripQuoteMarks returns a line of a block quote without its markers.
func stripQuoteMarks(line []byte) []byte {
	for {
		_, at := lineIndent(line)
		if at == len(line) || line[at] != '>' {
			return line
		}
		line = bytes.TrimPrefix(line[at+1:], []byte(" "))
	}
}

// Limits for searching code spans around a position in a line.
const (
	spanReach    = 4 << 10 // bytes before and after it
	maxOpenTicks = 8
)

// openTicks returns the lengths of the runs of backticks before a position in a line that are
// still open there.
func openTicks(before []byte) []int {
	text := before[max(0, len(before)-spanReach):]
	var open []int
	for {
		length, behind := nextTicks(text)
		if length == 0 || len(open) == maxOpenTicks {
			return open
		}
		text = text[behind:]
		if end := closingTicks(text, length); end > 0 {
			text = text[end:]
		} else {
			open = append(open, length)
		}
	}
}

// nextTicks returns the length of the next run of backticks, and the position after it.
func nextTicks(text []byte) (length, behind int) {
	at := bytes.IndexByte(text, '`')
	if at < 0 {
		return 0, len(text)
	}
	length = runLength(text[at:])
	return length, at + length
}

// closingTicks returns the position after the next run of exactly length backticks, or 0 if
// there is none.
func closingTicks(text []byte, length int) int {
	for at := 0; ; {
		n, behind := nextTicks(text[at:])
		at += behind
		if n == 0 {
			return 0
		}
		if n == length {
			return at
		}
	}
}

// inCode reports whether a position with these open runs before it is in a code span.
func inCode(open []int, after []byte) bool {
	after = after[:min(len(after), spanReach)]
	for _, length := range open {
		if closingTicks(after, length) > 0 {
			return true
		}
	}
	return false
}
