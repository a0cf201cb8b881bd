package signal

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A sentence is a line of prose as the heuristics see it: without emphasis and code spans, with
// single spaces.
type sentence struct {
	text  string
	lower string // text in lower case, byte by byte
	level int    // level of the heading that the line is; 0 for none
}

func readSentence(line []byte) sentence {
	line = bytes.TrimSpace(line)
	var s sentence
	for s.level < len(line) && line[s.level] == '#' {
		s.level++
	}
	line = line[s.level:]
	if s.level > 6 {
		s.level = 0
	}
	var b strings.Builder
	for len(line) > 0 {
		c := line[0]
		switch {
		case c == '`':
			n := runLength(line)
			line = line[n:]
			line = line[closingTicks(line, n):]
			c = 0
		case c == '*':
			line = line[1:]
			continue
		case c == ' ' || c == '\t':
			line = bytes.TrimLeft(line, " \t")
			c = ' '
		default:
			line = line[1:]
		}
		b.WriteByte(c)
	}
	s.text = b.String()
	s.lower = lowerASCII(s.text)
	return s
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// firstWordIndex returns where the first word begins, after symbols such as a check mark.
func (s sentence) firstWordIndex() int {
	return max(0, strings.IndexFunc(s.text, isWordRune))
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// findWords returns the position of words as whole words.
func (s sentence) findWords(words string) int {
	for from := 0; ; {
		at := strings.Index(s.lower[from:], words)
		if at < 0 {
			return -1
		}
		at += from
		if s.hasWordBorders(at, at+len(words)) {
			return at
		}
		from = at + 1
	}
}

// hasWordBorders reports whether a range begins and ends at word boundaries.
func (s sentence) hasWordBorders(at, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s.text[:at])
	after, _ := utf8.DecodeRuneInString(s.text[end:])
	return (at == 0 || !isWordRune(before)) && (end == len(s.text) || !isWordRune(after))
}

// isStated reports whether a range that has the meaning of a result is a statement: nothing
// denies it, and nothing after a pass withdraws or doubts it.
func (s sentence) isStated(result Result, at, end int) bool {
	if result == Failed {
		return !s.isDenied(at, ".;!?,:–—-")
	}
	return !s.isDenied(at, ".;!?") && s.isConclusive(end)
}

// labelledVerdict returns the verdict after a label and a colon.
func (s sentence) labelledVerdict(at, end int) Result {
	rest := strings.TrimLeft(s.lower[end:], " ")
	if !strings.HasPrefix(rest, ":") {
		return ""
	}
	from := len(s.lower) - len(strings.TrimLeft(rest[1:], " "))
	word := s.wordAt(from)
	result := verdictWord(word)
	if result == "" || s.isDenied(at, ".;!?") || result == Passed && !s.isConclusive(from+len(word)) {
		return ""
	}
	return result
}

// wordAt returns the word of letters at a position, in lower case.
func (s sentence) wordAt(at int) string {
	rest := s.lower[at:]
	if n := strings.IndexFunc(rest, func(r rune) bool { return !isWordRune(r) }); n >= 0 {
		return rest[:n]
	}
	return rest
}

func verdictWord(word string) Result {
	switch word {
	case "pass", "passed":
		return Passed
	case "fail", "failed":
		return Failed
	}
	return ""
}

// statedVerdict returns the verdict of a report line after a position. Only a word in capitals,
// a single word and a word after a label are verdicts, because prose also mentions tests that
// pass and fail.
func (s sentence) statedVerdict(from int) Result {
	var result Result
	for at := from; at < len(s.text); {
		word := s.wordAt(at)
		if word == "" {
			_, n := utf8.DecodeRuneInString(s.text[at:])
			at += n
			continue
		}
		end := at + len(word)
		if r := verdictWord(word); r != "" && s.isUsedAsVerdict(from, at, end) && s.isStated(r, at, end) {
			if r == Failed {
				return Failed
			}
			result = r
		}
		at = end
	}
	return result
}

// isUsedAsVerdict reports whether the word of a verdict is used as one.
func (s sentence) isUsedAsVerdict(from, at, end int) bool {
	before := strings.TrimRight(s.text[from:at], " ")
	after := strings.TrimLeft(s.text[end:], " ")
	if strings.HasSuffix(before, "/") || strings.HasPrefix(after, "/") {
		return false // a choice
	}
	if n := len(before); n > 0 && isDigit(before[n-1]) || countFollows(after) {
		return false // a number of tests
	}
	capitals := s.text[at:end] == strings.ToUpper(s.text[at:end])
	alone := !strings.ContainsFunc(before, isWordRune) && !strings.ContainsFunc(after, isWordRune)
	return capitals || alone || strings.HasSuffix(before, ":") || from > 0 && !strings.ContainsFunc(before, isWordRune)
}

// countFollows reports whether text is ": 12" or "= 12".
func countFollows(text string) bool {
	if text == "" || text[0] != ':' && text[0] != '=' {
		return false
	}
	text = strings.TrimLeft(text[1:], " ")
	return text != "" && isDigit(text[0])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// hedges are words after which a phrase is not a statement.
var hedges = []string{
	"not", "no", "never", "cannot", "can't", "without", "neither", "nor", "none", "hardly", "barely",
	"if", "unless", "until", "once", "when", "whether", "before", "should", "must", "would", "could", "instead",
}

// isDenied reports whether the words before a position, back to one of the signs, deny or doubt
// what is there.
func (s sentence) isDenied(at int, signs string) bool {
	clause := s.lower[:at]
	if n := strings.LastIndexAny(clause, signs); n >= 0 {
		clause = clause[n+1:]
	}
	for word := range strings.FieldsFuncSeq(clause, func(r rune) bool { return !isWordRune(r) && r != '\'' && r != '’' }) {
		if slices.Contains(hedges, word) || strings.HasSuffix(word, "n't") || strings.HasSuffix(word, "n’t") {
			return true
		}
	}
	return false
}

// isConclusive reports whether a pass is the whole statement: the sentence ends after it, or
// continues with punctuation, and withdraws nothing.
func (s sentence) isConclusive(end int) bool {
	rest := strings.TrimLeft(s.lower[end:], " ")
	next, _ := utf8.DecodeRuneInString(rest)
	switch {
	case rest == "":
		return true
	case isWordRune(next) || strings.ContainsRune("?/|%&=\\\x00", next):
		return false
	case next == '-' && len(rest) > 1 && end < len(s.lower) && s.lower[end] == '-' && isWordRune(rune(rest[1])):
		return false // pass-through
	}
	return !takesBack(rest)
}

// takesBack reports whether a text after a pass mentions failures or exceptions.
func takesBack(text string) bool {
	before := ""
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWordRune(r) && r != '\'' }) {
		switch {
		case word == "but", word == "except", word == "however", word == "not", word == "if", word == "unless":
			return true
		case strings.HasPrefix(word, "fail"):
			if before != "no" && before != "0" && before != "zero" && before != "without" && before != "any" {
				return true
			}
		}
		before = word
	}
	return false
}
