package signal

import (
	"bytes"
	"fmt"
	"strings"

	"orange/internal/view/humanize"
)

// phraseKind is where in a line a phrase must be.
type phraseKind int

const (
	heading phraseKind = iota // "## QA Passed": the heading begins with it
	report                    // "## QA Complete": the verdict is after it or in its section
	label                     // "QA Result: Pass": a colon and a verdict follow it
	phrase                    // anywhere in a line
)

// A resultPhrase is a phrase that usually means a result.
type resultPhrase struct {
	kind   phraseKind
	words  string // lower case
	result Result // label: the only verdict that counts; "" for both
}

// phrasesOf returns the phrases for a work type. Other work types have none.
func phrasesOf(workType string) []resultPhrase {
	switch strings.TrimSuffix(strings.ToLower(workType), "-coordination") {
	case "qa":
		return []resultPhrase{
			{heading, "qa passed", Passed},
			{heading, "qa failed", Failed},
			{report, "qa complete", ""},
			{label, "qa result", ""},
			{label, "qa status", ""},
		}
	case "acceptance":
		return []resultPhrase{
			{heading, "acceptance complete", Passed},
			{heading, "acceptance failed", Failed},
			{label, "acceptance result", Passed},
			{phrase, "pr has been merged successfully", Passed},
			{phrase, "acceptance processing blocked", Failed},
			{phrase, "cannot merge pr", Failed},
		}
	}
	return nil
}

// hints are what every line with a phrase contains: a significant byte, and a word of each
// list.
type hints struct {
	present seenBytes
	words   [2][]hint
}

// A hint is a word of lower-case letters, and the index of its rarest letter.
type hint struct {
	word   string
	rarest int
}

func hintsOf(phrases []resultPhrase) hints {
	switch {
	case len(phrases) == 0:
		return hints{}
	case strings.HasPrefix(phrases[0].words, "qa"):
		return hints{seenQ, [2][]hint{{{"qa", 0}}, {{"pass", 0}, {"fail", 0}, {"complete", 3}}}}
	}
	return hints{0, [2][]hint{
		{{"acceptance", 4}, {"merge", 3}},
		{{"pass", 0}, {"fail", 0}, {"complete", 3}, {"success", 1}, {"blocked", 0}, {"cannot", 0}},
	}}
}

// heuristicFinder finds phrases, for agents whose prompt names no better form.
type heuristicFinder struct {
	options DetectOptions
	notes   *notes
	phrases []resultPhrase
	hints   hints
	section int // level of the heading of the report that this section belongs to; 0 for none
	passed  said
	failed  said
	vetoed  int // a line that denies a pass in words that are not a phrase
}

// said is where a result was found, and in which form.
type said struct {
	line int
	text string
}

func newHeuristicFinder(l DetectOptions, n *notes) finder {
	if l.Parity {
		return newParityFinder(l, n)
	}
	f := &heuristicFinder{options: l, notes: n, phrases: phrasesOf(l.WorkType)}
	f.hints = hintsOf(f.phrases)
	return f
}

func (f *heuristicFinder) takePiece(p *piece) {
	if len(f.phrases) == 0 || len(p.text) == 0 {
		return
	}
	if f.section == 0 && !f.hints.matchesPiece(p) {
		return
	}
	s := readSentence(p.text)
	if p.first && s.level > 0 && p.where.describeQuote() == "" && s.level <= f.section {
		f.section = 0
	}
	result := Result("")
	for _, x := range f.phrases {
		if r := f.resultOfPhrase(x, s, p); r == Failed || result == "" {
			result = r
		}
	}
	if result == "" && f.section > 0 {
		result = s.statedVerdict(0)
	}
	f.noteResult(result, p)
}

func (f *heuristicFinder) noteResult(result Result, p *piece) {
	if result == "" {
		return
	}
	if why := p.where.describeQuote(); why != "" {
		f.notes.add(p.line, "words that mean "+string(result)+" "+why+" do not count")
		return
	}
	text := humanize.Cut(strings.TrimSpace(string(p.text[:min(len(p.text), 2*maxQuoted)])), maxQuoted)
	switch {
	case result == Passed && f.passed.line == 0:
		f.passed = said{p.line, text}
	case result == Failed && f.failed.line == 0:
		f.failed = said{p.line, text}
	}
}

// resultOfPhrase returns the result of a line with a phrase, or "" for none.
func (f *heuristicFinder) resultOfPhrase(x resultPhrase, s sentence, p *piece) Result {
	at := s.findWords(x.words)
	if at < 0 {
		return ""
	}
	end := at + len(x.words)
	switch x.kind {
	case heading:
		if s.level >= 2 && at == s.firstWordIndex() && s.isStated(x.result, at, end) {
			return x.result
		}
	case phrase:
		if s.isStated(x.result, at, end) {
			return x.result
		}
	case report:
		if s.level >= 2 && at == s.firstWordIndex() && p.where.describeQuote() == "" {
			f.section = s.level
			return s.statedVerdict(end)
		}
	case label:
		r := s.labelledVerdict(at, end)
		if r == "" || x.result == "" || r == x.result {
			return r
		}
		if p.where.describeQuote() == "" {
			f.vetoed = p.line
		}
	}
	return ""
}

func (f *heuristicFinder) foundReport() (Report, bool) {
	if f.passed.line == 0 && f.failed.line == 0 {
		return Report{}, false
	}
	if why := f.options.describeNonceRefusal(""); why != "" {
		f.notes.add(max(f.passed.line, f.failed.line), "words "+why+", do not count")
		return Report{}, false
	}
	if f.failed.line > 0 {
		if f.passed.line > 0 {
			f.notes.add(f.passed.line, fmt.Sprintf("words that mean passed do not count beside line %d, which means failed", f.failed.line))
		}
		return Report{Outcome: Failed, Code: string(Failed), Detail: f.failed.text}, true
	}
	if f.vetoed > 0 {
		f.notes.add(f.passed.line, fmt.Sprintf("words that mean passed do not count beside line %d, which denies it", f.vetoed))
		return Report{}, false
	}
	return Report{Outcome: Passed, Code: string(Passed), Detail: f.passed.text}, true
}

func (h *hints) matchesPiece(p *piece) bool {
	return p.has&h.present == h.present && hasHintedWord(p.text, h.words[0]) && hasHintedWord(p.text, h.words[1])
}

// hasHintedWord reports whether a line contains one of the words, ignoring case.
func hasHintedWord(line []byte, words []hint) bool {
	for _, h := range words {
		if h.matchesLine(line, h.word[h.rarest]) || h.matchesLine(line, h.word[h.rarest]-'a'+'A') {
			return true
		}
	}
	return false
}

// matchesLine reports whether a line contains the word, where rarest is its rarest letter.
func (h hint) matchesLine(line []byte, rarest byte) bool {
	for at := h.rarest; at < len(line); at++ {
		n := bytes.IndexByte(line[at:], rarest)
		if n < 0 {
			return false
		}
		at += n
		if start := at - h.rarest; start+len(h.word) <= len(line) && equalFoldASCII(line[start:], h.word) {
			return true
		}
	}
	return false
}

// equalFoldASCII reports whether text begins with a word of lower-case letters, ignoring case.
func equalFoldASCII(text []byte, word string) bool {
	for i := range len(word) {
		if text[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}
