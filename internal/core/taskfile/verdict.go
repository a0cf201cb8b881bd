package taskfile

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/lazy"
)

const maxQuoted = 60 // characters of a line that a message quotes

var (
	verdictLine = lazy.NewRegexp(`(?i)^[ \t]*(?:#{1,6}[ \t]+)?(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?(?:#{1,6}[ \t]+)?` +
		`[*_]{0,3}Verdict[*_]{0,3}[ \t]*:[*_]{0,3}[ \t]*[*_]{0,3}(PASS|FAIL)(.*)$`)
	// otherVerdict is a second verdict beside the first: "or FAIL", "| FAIL", or only "FAIL".
	otherVerdict = lazy.NewRegexp(`(?i)^[^\pL\pN]*(?:` +
		`(?:\b(?:or|vs|versus)\b|[/|])[^\pL\pN]*(?:verdict[^\pL\pN]*)?(PASS|FAIL)\b|` +
		`(?:verdict[^\pL\pN]*)?(PASS|FAIL)[^\pL\pN]*$)`)
	wordVerdict = lazy.NewRegexp(`(?i)\b(PASS|FAIL)\b`)
)

// A Ruling is the verdict of a section.
type Ruling struct {
	Verdict string `json:"verdict,omitempty"` // PASS, FAIL, or none
	Line    int    `json:"line,omitempty"`    // line of the file with the verdict
	Why     string `json:"why,omitempty"`     // why there is none
}

// Verdict returns PASS or FAIL if the first line of the section is `Verdict: PASS` or `Verdict:
// FAIL` and no other line contradicts it, and the line in the file. Otherwise why is the
// reason.
func (s *Section) Verdict() (verdict string, line int, why string) {
	return s.Ruling.Verdict, s.Ruling.Line, s.Ruling.Why
}

// WordVerdict returns the first word PASS or FAIL of the section, in any case, as PASS or FAIL.
func (s *Section) WordVerdict() (verdict string, line int, why string) {
	return s.Word.Verdict, s.Word.Line, s.Word.Why
}

// readRulings computes the verdicts of the section once, so that decisions do not have to.
func (s *Section) readRulings() {
	s.Ruling.Verdict, s.Ruling.Line, s.Ruling.Why = s.readVerdict()
	s.Word.Verdict, s.Word.Line, s.Word.Why = s.readWord()
}

func (s *Section) readVerdict() (verdict string, line int, why string) {
	o := readHidden(s.Text)
	for i := range o.lineCount() {
		text := o.lineText(i)
		if o.hidden[i] || strings.TrimSpace(text) == "" {
			continue
		}
		found, at := verdictOf(text), s.TextLine+i
		switch {
		case verdict == "" && found == "":
			return "", at, fmt.Sprintf(`line %d is %q, not "Verdict: PASS" or "Verdict: FAIL"`, at, shortenQuote(text))
		case verdict == "":
			verdict, line = found, at
		case found != "" && found != verdict:
			return "", at, fmt.Sprintf("line %d says %s but line %d says %s; keep one verdict", line, verdict, at, found)
		}
	}
	if verdict == "" {
		return "", s.Line, `the section is empty; start it with "Verdict: PASS" or "Verdict: FAIL"`
	}
	return verdict, line, ""
}

func (s *Section) readWord() (verdict string, line int, why string) {
	for i, text := range strings.Split(s.Text, "\n") {
		if word := wordVerdict.FindString(text); word != "" {
			return strings.ToUpper(word), s.TextLine + i, ""
		}
	}
	return "", s.Line, "no line has the word PASS or FAIL; write one"
}

// verdictOf returns the verdict of a line, or "".
func verdictOf(line string) string {
	m := verdictLine.FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	verdict, rest := strings.ToUpper(m[1]), strings.TrimLeft(m[2], "*_")
	if !endsWord(rest) {
		return ""
	}
	if other := otherVerdict.FindStringSubmatch(rest); other != nil && !strings.EqualFold(other[1]+other[2], verdict) {
		return ""
	}
	return verdict
}

// endsWord reports whether a verdict is a whole word if rest follows it.
func endsWord(rest string) bool {
	first, size := utf8.DecodeRuneInString(rest)
	if rest == "" || unicode.IsSpace(first) {
		return true
	}
	if first == '-' {
		next, _ := utf8.DecodeRuneInString(rest[size:])
		return !unicode.IsLetter(next) && !unicode.IsNumber(next)
	}
	return strings.ContainsRune(".,;:!([–—<", first)
}

func shortenQuote(text string) string {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) <= maxQuoted {
		return text
	}
	return string([]rune(text)[:maxQuoted-1]) + "…"
}
