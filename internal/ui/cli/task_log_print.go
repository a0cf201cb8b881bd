package cli

import (
	"bytes"

	"orange/internal/core/screen"
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
		text = screen.Output(text)
	}
	return p.emit(text, whole)
}
