package signal

import (
	"bytes"
	"strings"
)

// maxResultDepth limits how deep a worker result may nest.
const maxResultDepth = 64

// maxOpen limits how deep any object is followed.
const maxOpen = 1 << 17

// The keys that a worker result must have, as bits.
const (
	keySuccess uint8 = 1 << iota
	keySummary
	keyActions
	keyWorker
	keyTaskID
)

// resultKeys are the names of the bits, in their order.
var resultKeys = [...]string{"success", "summary", "joan_actions", "worker_type", "task_id"}

func missingFields(keys uint8) string {
	var names []string
	for i, name := range resultKeys {
		if keys&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// objectState is the state of an object after a part of its text.
type objectState int

const (
	objectOpen objectState = iota
	objectWhole
	objectBroken
)

// expecting is what may come next in JSON.
type expecting uint8

const (
	aKeyOrEnd expecting = iota
	aKey
	inKey
	aColon
	aValue
	aValueOrEnd
	inText
	inWord
	aCommaOrEnd
)

// objectScan scans the text of one JSON object, in parts of any size. It checks the structure
// of the object, which distinguishes JSON from other text with braces; a decoder does the rest.
type objectScan struct {
	next    expecting
	escaped bool
	open    []opened
	deepest int
	at      int    // bytes read so far
	word    []byte // the first bytes of the key, number or literal so far
	keys    uint8  // of a worker result that the object has
	why     string // why it is broken
}

// opened is an object or a list that has not ended yet.
type opened struct {
	at     int
	object bool
}

// maxWord limits how much of a key or literal is kept.
const maxWord = 32

func (s *objectScan) beginScan() {
	*s = objectScan{open: s.open[:0], word: s.word[:0], next: aValue}
}

// feedData continues the scan, and returns how much of data belongs to the object. A byte that
// breaks the object does not belong to it.
func (s *objectScan) feedData(data []byte) (int, objectState) {
	for i := 0; i < len(data); {
		if s.next == inKey || s.next == inText {
			n, sound := s.scanText(data[i:])
			i += n
			if !sound {
				s.at += i
				return i, s.failScan("a line break or control character within quotes")
			}
			continue
		}
		state, again := s.scanByte(data[i], s.at+i)
		switch {
		case state == objectBroken:
			s.at += i
			return i, state
		case state == objectWhole:
			s.at += i + 1
			return i + 1, state
		case !again:
			i++
		}
	}
	s.at += len(data)
	return len(data), objectOpen
}

func (s *objectScan) failScan(why string) objectState {
	s.why = why
	return objectBroken
}

// scanText skips text in quotes, up to its end or that of data, and returns how far it got and
// whether the text is valid.
func (s *objectScan) scanText(data []byte) (int, bool) {
	for i, c := range data {
		switch {
		case c < ' ':
			return i, false
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped = true
		case c == '"':
			s.rememberKey(data[:i])
			s.endText()
			return i + 1, true
		}
	}
	s.rememberKey(data)
	return len(data), true
}

func (s *objectScan) rememberKey(part []byte) {
	if s.next == inKey && len(s.open) == 1 {
		s.word = append(s.word, part[:min(len(part), maxWord+1-min(len(s.word), maxWord+1))]...)
	}
}

func (s *objectScan) endText() {
	if s.next == inText {
		s.next = aCommaOrEnd
		return
	}
	s.next = aColon
	if len(s.open) == 1 {
		for i, name := range resultKeys {
			if string(s.word) == name {
				s.keys |= 1 << i
			}
		}
	}
}

// scanByte handles one byte outside of quotes. again requests the same byte once more.
func (s *objectScan) scanByte(c byte, at int) (state objectState, again bool) {
	if s.next == inWord {
		if isWordByte(c) {
			s.word = append(s.word, c)[:min(len(s.word)+1, maxWord+1)]
			return objectOpen, false
		}
		s.next = aCommaOrEnd
		if why := wrongWord(s.word); why != "" {
			return s.failScan(why), false
		}
		return objectOpen, true
	}
	if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
		return objectOpen, false
	}
	switch s.next {
	case aKeyOrEnd, aKey:
		return s.scanKey(c), false
	case aColon:
		if c != ':' {
			return s.failScan("no colon behind a key"), false
		}
		s.next = aValue
		return objectOpen, false
	case aValue, aValueOrEnd:
		return s.scanValue(c, at), false
	}
	return s.scanAfterValue(c), false
}

func (s *objectScan) scanKey(c byte) objectState {
	switch {
	case c == '"':
		s.next, s.word = inKey, s.word[:0]
		return objectOpen
	case c == '}' && s.next == aKeyOrEnd:
		return s.closeScope()
	case c == '}':
		return s.failScan("a comma before }")
	}
	return s.failScan("a key without quotes")
}

func (s *objectScan) scanValue(c byte, at int) objectState {
	switch {
	case c == '"':
		s.next = inText
	case c == '{' || c == '[':
		if len(s.open) == maxOpen {
			return s.failScan("too deep")
		}
		s.open = append(s.open, opened{at, c == '{'})
		s.deepest = max(s.deepest, len(s.open))
		s.next = aKeyOrEnd
		if c == '[' {
			s.next = aValueOrEnd
		}
	case c == ']' && s.next == aValueOrEnd:
		return s.closeScope()
	case c == ']':
		return s.failScan("a comma before ]")
	case isWordByte(c):
		s.next, s.word = inWord, append(s.word[:0], c)
	default:
		return s.failScan("no value behind a colon or comma")
	}
	return objectOpen
}

// scanAfterValue handles what follows a value.
func (s *objectScan) scanAfterValue(c byte) objectState {
	object := s.open[len(s.open)-1].object
	switch {
	case c == ',' && object:
		s.next = aKey
	case c == ',':
		s.next = aValue
	case c == '}' && object, c == ']' && !object:
		return s.closeScope()
	default:
		return s.failScan("no comma between two values")
	}
	return objectOpen
}

func (s *objectScan) closeScope() objectState {
	s.open = s.open[:len(s.open)-1]
	s.next = aCommaOrEnd
	if len(s.open) == 0 {
		return objectWhole
	}
	return objectOpen
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.' || c == '_'
}

// wrongWord returns why a word is neither a number nor a literal, or "" if it may be one.
func wrongWord(word []byte) string {
	if string(word) == "true" || string(word) == "false" || string(word) == "null" {
		return ""
	}
	if digits := bytes.TrimPrefix(word, []byte("-")); len(digits) > 0 && isDigit(digits[0]) && isNumeric(digits) {
		return ""
	}
	return quoteOddWord(string(word)) + " is no value of JSON"
}

func isNumeric(word []byte) bool {
	for _, c := range word {
		if !isDigit(c) && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' {
			return false
		}
	}
	return true
}
