package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"orange/internal/core/screen"
)

// maxPart is how much of a line without an end is kept before it is shown.
const maxPart = 64 << 10

// A logWriter takes output in pieces and shows it.
type logWriter interface {
	io.Writer
	pause() error // nothing was written for a moment
	end() error   // nothing more is written
}

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

// maxRepeat is how many of the last lines are compared again at the end.
const maxRepeat = 4 * screen.TerminalHeight

// terminalPrinter takes what was written to a terminal and gives out what that looked like:
// lines once they are above the cursor, and at the end what has changed since.
type terminalPrinter struct {
	term  *screen.Terminal
	emit  func(line string, whole bool) error
	parts bool // the beginning of a line may be shown before its end is there
	last  int  // so many lines at the beginning; 0 for all

	begun bool
	next  int      // number of the line that comes next
	shown []string // the last lines that were given out
	part  string   // the beginning of the next line, which was given out
}

// Write implements io.Writer.
func (p *terminalPrinter) Write(b []byte) (int, error) { return p.term.Write(b) }

// pause gives out the lines that are not likely to change, and the beginning of a line that
// stands still, such as a question.
func (p *terminalPrinter) pause() error {
	if err := p.give(p.term.Settled()); err != nil || !p.parts {
		return err
	}
	now := p.term.Current()
	if more, ok := strings.CutPrefix(now, p.part); ok && more != "" && p.next == p.term.Dropped()+p.term.Settled() {
		p.part = now
		return p.emit(more, false)
	}
	return nil
}

// end gives out the rest.
func (p *terminalPrinter) end() error {
	lines := p.term.Lines()
	first := p.next - p.term.Dropped() - len(p.shown) // of the lines that are compared
	for i, line := range p.shown {
		if at := first + i; at >= 0 && at < len(lines) && lines[at] != line {
			p.next -= len(p.shown) - i
			p.shown = p.shown[:i]
			break
		}
	}
	return p.give(len(lines))
}

// give gives out the lines up to a number of those that the terminal has.
func (p *terminalPrinter) give(to int) error {
	lines, dropped := p.term.Lines(), p.term.Dropped()
	to = min(to, len(lines))
	if !p.begun && to > 0 {
		p.begun = true
		if p.last > 0 {
			p.next = dropped + max(to-p.last, 0)
		}
	}
	if n := dropped - p.next; n > 0 && to > 0 { // the output itself may have been cut before them too
		if p.part != "" {
			if err := p.emit("", true); err != nil {
				return err
			}
		}
		p.next, p.part, p.shown = dropped, "", nil
		if err := p.emit(fmt.Sprintf("(at least %d lines are left out here: see --raw)", n), true); err != nil {
			return err
		}
	}
	for ; p.next < dropped+to; p.next++ {
		line := lines[p.next-dropped]
		more, ok := strings.CutPrefix(line, p.part)
		if !ok { // the line is another now
			if err := p.emit("", true); err != nil {
				return err
			}
			more = line
		}
		p.part = ""
		if err := p.emit(more, true); err != nil {
			return err
		}
		p.shown = append(p.shown, line)
	}
	if n := len(p.shown) - maxRepeat; n > 0 {
		p.shown = append([]string(nil), p.shown[n:]...)
	}
	return nil
}
