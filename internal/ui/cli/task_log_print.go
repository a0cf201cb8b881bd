package cli

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxPart is how much of a line without an end is kept before it is shown.
const maxPart = 64 << 10

// logPrinter takes output in pieces and gives it out in lines, cleaned unless they are
// wanted raw.
type logPrinter struct {
	emit  func(line string, whole bool) error
	raw   bool
	parts bool // the beginning of a line may be shown before its end is there
	rest  []byte
}

// Write implements io.Writer.
func (p *logPrinter) Write(b []byte) (int, error) {
	p.rest = append(p.rest, b...)
	for {
		line, after, ok := bytes.Cut(p.rest, []byte("\n"))
		if !ok {
			break
		}
		if err := p.give(line, true); err != nil {
			return 0, err
		}
		p.rest = after
	}
	p.rest = bytes.Clone(p.rest)
	if len(p.rest) > maxPart {
		if err := p.end(); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// pause is a moment in which nothing was written: a line without an end, such as a
// question, is shown as it stands.
func (p *logPrinter) pause() error {
	if p.parts {
		return p.end()
	}
	return nil
}

// end shows what is left.
func (p *logPrinter) end() error {
	if len(p.rest) == 0 {
		return nil
	}
	err := p.give(p.rest, false)
	p.rest = nil
	return err
}

func (p *logPrinter) give(line []byte, whole bool) error {
	text := string(line)
	if !p.raw {
		text = plainOutput(text)
	}
	return p.emit(text, whole)
}

// plainOutput makes lines of text of what a program wrote to its terminal. A step to
// the right is spaces, a jump to another line is a new line, and what is written over
// is gone.
func plainOutput(s string) string {
	var out []byte
	begin, back := 0, false // of the present line; the cursor went to it
	for i := 0; i < len(s); {
		if n := escapeLength(s[i:]); n > 0 {
			switch step := cursorStep(s[i : i+n]); {
			case step < 0 && len(out) > begin:
				out = append(out, '\n')
				begin, back = len(out), false
			case step > 0:
				out = append(out, strings.Repeat(" ", step)...)
			}
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\r':
			back = true
			continue
		case dangerous(r):
			continue
		case back:
			out, back = out[:begin], false
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// maxStep bounds how far one escape sequence moves what follows it.
const maxStep = 40

// cursorStep says what an escape sequence does to the text behind it: so many columns
// to the right, below 0 for another line, 0 for nothing.
func cursorStep(sequence string) int {
	body := strings.TrimPrefix(strings.TrimPrefix(sequence, "\x1b["), "\u009b")
	if body == "" || body == sequence {
		return 0
	}
	switch body[len(body)-1] {
	case 'C':
		n, err := strconv.Atoi(body[:len(body)-1])
		if err != nil {
			n = 1
		}
		return min(max(n, 1), maxStep)
	case 'A', 'B', 'E', 'F', 'H', 'f', 'd':
		return -1
	}
	return 0
}
