package journal

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"
	"unicode/utf8"
)

// scanner parses JSON in the exact form that encoding/json writes: fields in order, no spaces, no nulls. Any other
// input sets lost, which is never reset: then encoding/json has to parse the text.
type scanner struct {
	text []byte
	at   int
	lost bool
}

func (s *scanner) readValue(x *shape, v reflect.Value) {
	switch {
	case s.lost:
	case x.moment:
		*v.Addr().Interface().(*time.Time) = s.readTime()
	case x.kind == reflect.String:
		v.SetString(s.readString())
	case x.kind == reflect.Int:
		v.SetInt(int64(s.readInt()))
	case x.kind == reflect.Bool:
		v.SetBool(s.readBool())
	case x.kind == reflect.Pointer:
		v.Set(reflect.New(x.of))
		s.readValue(x.elem, v.Elem())
	case x.kind == reflect.Slice:
		s.readList(x.elem, v)
	case x.kind == reflect.Struct:
		s.readObject(x.fields, v)
	default:
		s.lost = true
	}
}

// readObject reads the fields of a struct. It fails for a name that is not listed or out of order.
func (s *scanner) readObject(fields []shapeField, v reflect.Value) {
	s.readByte('{')
	if s.peekByte() == '}' {
		s.at++
		return
	}
	s.readFields(fields, v)
}

// readFields reads the rest of an object after its opening brace: at least one field, and its end.
func (s *scanner) readFields(fields []shapeField, v reflect.Value) {
	for !s.lost {
		name, _ := s.readQuoted()
		s.readByte(':')
		for len(fields) > 0 && fields[0].name != string(name) {
			fields = fields[1:]
		}
		if len(fields) == 0 {
			s.lost = true
			return
		}
		s.readValue(fields[0].shape, v.Field(fields[0].index))
		fields = fields[1:]
		if s.peekByte() == '}' {
			s.at++
			return
		}
		s.readByte(',')
	}
}

// readList reads an array that is not empty.
func (s *scanner) readList(elem *shape, v reflect.Value) {
	s.readByte('[')
	for n := 0; !s.lost; n++ {
		if n == v.Cap() {
			v.Grow(1)
		}
		v.SetLen(n + 1)
		v.Index(n).SetZero()
		s.readValue(elem, v.Index(n))
		if s.peekByte() == ']' {
			s.at++
			return
		}
		s.readByte(',')
	}
}

// readByte reads one required character.
func (s *scanner) readByte(c byte) {
	if s.peekByte() != c {
		s.lost = true
		return
	}
	s.at++
}

func (s *scanner) peekByte() byte {
	if s.lost || s.at >= len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// readQuoted reads a quoted text, and reports whether it contains no escapes.
func (s *scanner) readQuoted() (text []byte, plain bool) {
	s.readByte('"')
	for start := s.at; !s.lost; {
		end := bytes.IndexByte(s.text[s.at:], '"')
		if end < 0 {
			break
		}
		s.at += end + 1
		text = s.text[start : s.at-1]
		if escapes := len(text) - len(bytes.TrimRight(text, `\`)); escapes%2 == 0 {
			return text, isPlain(text)
		}
	}
	s.lost = true
	return nil, false
}

func isPlain(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (s *scanner) readString() string {
	start := s.at
	text, plain := s.readQuoted()
	if plain || s.lost {
		return string(text)
	}
	var out string
	if json.Unmarshal(s.text[start:s.at], &out) != nil {
		s.lost = true
	}
	return out
}

func (s *scanner) readTime() (t time.Time) {
	text, plain := s.readQuoted()
	if !plain || t.UnmarshalText(text) != nil {
		s.lost = true
	}
	return t
}

// readInt reads a number that fits into every int.
func (s *scanner) readInt() int {
	negative := s.peekByte() == '-'
	if negative {
		s.at++
	}
	start, n := s.at, 0
	for c := s.peekByte(); c >= '0' && c <= '9' && s.at-start < 10; c = s.peekByte() {
		n = 10*n + int(c-'0')
		s.at++
	}
	digits := s.at - start
	if digits == 0 || digits > 9 || digits > 1 && s.text[start] == '0' {
		s.lost = true
	}
	if negative {
		return -n
	}
	return n
}

func (s *scanner) readBool() bool {
	for _, word := range [...]string{"true", "false"} {
		if bytes.HasPrefix(s.text[s.at:], []byte(word)) {
			s.at += len(word)
			return word == "true"
		}
	}
	s.lost = true
	return false
}
