package signal

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"orange/internal/view/humanize"
)

// maxBlock is the size limit of a completion block, in bytes.
const maxBlock = 64 << 10

// The keys that a completion block must have, as bits.
const (
	keyAgent uint8 = 1 << iota
	keyTask
	keyStatus
	allKeys = keyAgent | keyTask | keyStatus
)

// blockKeys are the names of the bits, in their order.
var blockKeys = [...]string{"agent", "task_id", "status"}

// blockFinder finds mappings with agent, task_id and status between two --- lines.
type blockFinder struct {
	options DetectOptions
	notes   *notes
	part    part
	last    Report
	line    int // of the last block that counts; 0 for none
}

// part is the text since the last --- line, or since a fence began.
type part struct {
	open    bool
	marked  bool // there is a --- line before it
	line    int  // at which it began
	indent  int  // of the --- line
	where   place
	keys    uint8
	text    []byte
	overrun bool // it was longer than a block may be
	prose   bool // it has a line that is not part of a mapping; the text is no longer kept
}

func newBlockFinder(l DetectOptions, n *notes) finder {
	return &blockFinder{options: l, notes: n}
}

func (f *blockFinder) takePiece(p *piece) {
	if !p.first {
		f.keepText(p.text)
		return
	}
	if p.where.edge {
		f.leavePart("the fence ends before its closing ---")
		f.beginPart(p, false, 0)
		return
	}
	line := p.text
	if p.where.quote {
		line = stripQuoteMarks(line)
	}
	if f.part.open && f.part.where != p.where {
		f.leavePart("the block quote begins or ends before its closing ---")
		f.part.open = false
	}
	if !f.part.open && (len(line) == 0 || line[0] >= 'A') || f.part.prose && len(line) > 0 && line[0] >= 'A' {
		return // most lines
	}
	_, at := lineIndent(line)
	if at < len(line) && line[at] == '-' && string(bytes.TrimSpace(line)) == "---" {
		if f.part.marked {
			f.judgePart()
		}
		f.beginPart(p, true, at)
		return
	}
	if !f.part.open || f.part.prose {
		return
	}
	f.part.keys |= keyOf(line[at:])
	f.part.prose = at <= f.part.indent && isProse(line[at:])
	f.keepText(line)
	f.keepText(newline)
}

// isProse reports whether a line at the left margin cannot be part of a mapping.
func isProse(line []byte) bool {
	return len(line) > 0 && (line[0]|0x20 >= 'a' && line[0]|0x20 <= 'z') && bytes.IndexByte(line, ':') < 0
}

var newline = []byte("\n")

func (f *blockFinder) beginPart(p *piece, marked bool, indent int) {
	where := p.where
	where.edge = false
	if p.where.edge && f.part.open && f.part.where.fence != noFence {
		where.fence = noFence // the edge closed the fence
	}
	f.part = part{open: true, marked: marked, line: p.line, indent: indent, where: where, text: f.part.text[:0]}
}

func (f *blockFinder) keepText(text []byte) {
	if f.part.open && !f.part.overrun && !f.part.prose {
		f.part.text = append(f.part.text, text...)
		f.part.overrun = len(f.part.text) > maxBlock
	}
}

// leavePart discards the part, because what follows is elsewhere.
func (f *blockFinder) leavePart(why string) {
	if f.part.open && f.part.keys == allKeys {
		if !f.part.marked {
			why = "there is no --- line before it"
		}
		f.notes.add(f.part.line, "a block does not count: "+why)
	}
	f.part.marked, f.part.keys = false, 0
}

// judgePart decides whether the part before a --- line is a block that counts.
func (f *blockFinder) judgePart() {
	if f.part.keys&(f.part.keys-1) == 0 {
		return // it was not meant as a block
	}
	r, why := f.readReport()
	switch {
	case why != "":
		f.notes.add(f.part.line, "a block "+why)
		return
	case f.line > 0 && r.Code != f.last.Code:
		f.notes.add(f.line, "a block says "+quoteOddWord(f.last.Code)+", and a later one counts")
	}
	f.last, f.line = r, f.part.line
}

func (f *blockFinder) readReport() (Report, string) {
	switch p := &f.part; {
	case p.where.quote || p.where.fence == otherFence:
		return Report{}, p.where.describeQuote() + " does not count"
	case p.overrun:
		return Report{}, fmt.Sprintf("has more than %d bytes", maxBlock)
	case p.prose:
		return Report{}, "does not count: it is not YAML"
	case p.keys != allKeys:
		return Report{}, "without " + missingKeys(p.keys) + " does not count"
	}
	b, err := readBlock(&f.part)
	if err != nil {
		return Report{}, "does not count: " + err.Error()
	}
	l := f.options
	switch {
	case l.Task != "" && b.task != l.Task:
		return Report{}, "of task " + quoteOddWord(b.task) + ", and this is task " + quoteOddWord(l.Task)
	case l.Agent != "" && !strings.EqualFold(b.agent, l.Agent):
		return Report{}, "of agent " + quoteOddWord(b.agent) + ", and this is agent " + quoteOddWord(l.Agent)
	}
	if why := l.describeNonceRefusal(b.nonce); why != "" {
		return Report{}, why
	}
	return Report{Outcome: l.resultOf(b.code), Code: b.code, Detail: b.detail, Nonce: b.nonce}, ""
}

func (f *blockFinder) foundReport() (Report, bool) {
	f.leavePart("its closing --- is missing")
	if f.line == 0 {
		return Report{}, false
	}
	if f.last.Outcome == Unknown {
		f.notes.add(f.line, f.options.unknownCode(f.last.Code))
	}
	return f.last, true
}

// keyOf returns the bit of the key at the beginning of a line.
func keyOf(line []byte) uint8 {
	if len(line) == 0 || strings.IndexByte("ats\"'", line[0]) < 0 {
		return 0
	}
	quote := len(line) - len(bytes.TrimLeft(line, `"'`))
	for i, name := range blockKeys {
		rest, ok := bytes.CutPrefix(line[quote:], []byte(name))
		if ok && bytes.HasPrefix(bytes.TrimLeft(rest, "\"' \t"), []byte(":")) {
			return 1 << i
		}
	}
	return 0
}

func missingKeys(keys uint8) string {
	var names []string
	for i, name := range blockKeys {
		if keys&(1<<i) == 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " and ")
}

// haltCodes stop a step until a person helps. They come with a reason.
var haltCodes = [...]string{"BLOCKED", "NEEDS_CLARIFICATION", "TESTS_FAILED", "BUILD_FAILED", "NEEDS_RESEARCH"}

// resultOf returns the meaning of a completion code.
func (l DetectOptions) resultOf(code string) Result {
	if l.Codes != nil {
		if r, ok := l.Codes[code]; ok {
			return r
		}
		return Unknown
	}
	switch {
	case slices.Contains(haltCodes[:], code):
		return Halted
	case isCompletion(code):
		return Passed
	}
	return Unknown
}

// isCompletion reports whether a code ends a step successfully.
func isCompletion(code string) bool {
	name, ready := strings.CutPrefix(code, "READY_FOR_")
	if !ready {
		name, ready = strings.CutSuffix(code, "_COMPLETE")
	}
	return ready && name != "" && isCode(code)
}

// isCode reports whether a text is a code in capitals.
func isCode(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !isDigit(c) && c != '_' && c != '-' && c != '.') {
			return false
		}
	}
	return s != "" && len(s) <= maxQuoted
}

func (l DetectOptions) unknownCode(code string) string {
	if len(l.Codes) == 0 {
		return "code " + quoteOddWord(code) + " has no meaning here"
	}
	var known []string
	for c := range l.Codes {
		known = append(known, c)
	}
	slices.Sort(known)
	return "code " + quoteOddWord(code) + " is not one of " + humanize.Cut(strings.Join(known, ", "), 4*maxQuoted)
}
