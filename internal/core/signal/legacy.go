package signal

import (
	"bytes"
	"fmt"
	"strings"
)

// maxDetail is the size limit of the reason of a halt, in bytes.
const maxDetail = 4 << 10

// legacyFinder finds the forms that were used before completion blocks.
type legacyFinder struct {
	options DetectOptions
	notes   *notes
	awaits  bool // the last line that was not empty is the heading "## Status"
	done    legacyForm
	halt    legacyForm
	mixed   int // a line with both a completion and a halt
}

type legacyForm struct {
	line         int // 0 for none
	code, detail string
}

func newLegacyFinder(l DetectOptions, n *notes) finder {
	return &legacyFinder{options: l, notes: n}
}

func (f *legacyFinder) takePiece(p *piece) {
	if !p.first || len(p.text) == 0 {
		return
	}
	if !f.awaits && !f.mayBeLegacy(p) {
		return
	}
	line := strings.TrimRight(string(p.text[:min(len(p.text), maxDetail)]), " \t")
	if line == "" {
		return
	}
	awaited := f.awaits
	f.awaits = isStatusHeading(p.text) && p.where.describeQuote() == ""
	code, detail := haltOf(line)
	halted := code != ""
	if !halted {
		code = f.completionOf(line, awaited)
	}
	switch why := p.where.describeQuote(); {
	case why != "" && code != "":
		f.notes.add(p.line, "the code "+quoteOddWord(code)+" "+why+" does not count")
	case why != "":
	case halted:
		f.halt = legacyForm{p.line, code, detail}
	case code != "":
		f.done = legacyForm{p.line, code, ""}
	case isMixed(line):
		f.mixed = p.line
	}
}

// mayBeLegacy is a cheap filter for lines that need a closer check.
func (f *legacyFinder) mayBeLegacy(p *piece) bool {
	line := p.text
	switch {
	case line[0] == '#':
		return isStatusHeading(line)
	case f.options.Codes != nil && len(line) <= 2*maxQuoted, beginsWithHalt(line):
		return true
	case p.has&seenUnderline == 0:
		return false
	}
	for {
		at := bytes.IndexByte(line, '_')
		if at < 0 || at+1 == len(line) {
			return false
		}
		line = line[at+1:]
		if line[0] == 'C' && bytes.HasPrefix(line, []byte("COMPLETE")) || line[0] == 'F' && bytes.HasPrefix(line, []byte("FOR_")) {
			return true
		}
	}
}

func beginsWithHalt(line []byte) bool {
	if c := line[0]; c != 'B' && c != 'N' && c != 'T' && c != '*' {
		return false
	}
	line = bytes.TrimLeft(line, "*")
	for _, code := range haltCodes {
		if bytes.HasPrefix(line, []byte(code)) {
			return true
		}
	}
	return false
}

func isStatusHeading(line []byte) bool {
	name, ok := bytes.CutPrefix(line, []byte("##"))
	return ok && string(bytes.TrimSpace(name)) == "Status"
}

// haltOf returns the halt code at the beginning of a line, and its reason.
func haltOf(line string) (code, detail string) {
	line = strings.TrimLeft(line, "*")
	for _, code := range haltCodes {
		rest, ok := strings.CutPrefix(line, code)
		if !ok {
			continue
		}
		rest, ok = strings.CutPrefix(strings.TrimLeft(rest, "*"), ":")
		if rest = strings.Trim(rest, "* \t"); ok && rest != "" {
			return code, rest
		}
	}
	return "", ""
}

// completionOf returns the completion code of a line, or "" if it has none. Below the heading
// "## Status" text may follow the code.
func (f *legacyFinder) completionOf(line string, awaited bool) string {
	text := strings.Trim(strings.TrimSpace(line), "*")
	if value, ok := strings.CutPrefix(text, "Status"); ok {
		value, ok = strings.CutPrefix(strings.TrimLeft(value, "*"), ":")
		if !ok {
			return ""
		}
		text = strings.Trim(value, "* \t")
	} else if awaited {
		n := strings.IndexFunc(text, func(r rune) bool { return !isWordRune(r) })
		if n >= 0 {
			text = text[:n]
		}
	}
	if isCompletion(text) || f.options.Codes[text] == Passed && isCode(text) {
		return text
	}
	return ""
}

// isMixed reports whether a line has both a completion and a halt.
func isMixed(line string) bool {
	halt, done := false, false
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return !isWordRune(r) && r != ':' }) {
		code := strings.TrimRight(word, ":")
		done = done || isCompletion(code)
		for _, h := range haltCodes {
			halt = halt || code == h && code != word
		}
	}
	return halt && done
}

func (f *legacyFinder) foundReport() (Report, bool) {
	last := max(f.halt.line, f.done.line, f.mixed)
	if last == 0 {
		return Report{}, false
	}
	if why := f.options.describeNonceRefusal(""); why != "" {
		f.notes.add(last, "a code "+why+", does not count")
		return Report{}, false
	}
	switch {
	case f.halt.line > 0:
		if f.done.line > 0 {
			f.notes.add(f.done.line, fmt.Sprintf("the code %s does not count beside line %d, which halts", quoteOddWord(f.done.code), f.halt.line))
		}
		return Report{Outcome: Halted, Code: f.halt.code, Detail: f.halt.detail}, true
	case f.mixed > 0:
		f.notes.add(f.mixed, "a completion and a halt in one line: end with a completion block")
		return Report{Outcome: Ambiguous}, true
	}
	r := Report{Outcome: f.options.resultOf(f.done.code), Code: f.done.code}
	if r.Outcome == Unknown {
		f.notes.add(f.done.line, f.options.unknownCode(r.Code))
	}
	return r, true
}
