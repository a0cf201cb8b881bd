package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orange/internal/view/ansi"
)

// CaptureView is like ReadView for callers that read a window again and again: repeated calls for a
// window cost one tmux process each.
func (s *Server) CaptureView(ctx context.Context, session, window string) (ansi.View, error) {
	name := session + " " + windowName(window)
	if id, ok := s.panes.Load(name); ok {
		if v, ok, err := s.captureKnownPane(ctx, id.(string), name); ok || err != nil {
			return v, err
		}
		s.panes.Delete(name)
	}
	p, err := s.findPane(ctx, session, window)
	if err != nil {
		return ansi.View{}, readFailure(window, err)
	}
	v, err := s.readPane(ctx, p, window)
	if err == nil {
		s.panes.Store(name, p.id)
	}
	return v, err
}

// captureKnownPane captures a pane if it is the expected one and its program runs.
func (s *Server) captureKnownPane(ctx context.Context, id, name string) (v ansi.View, ok bool, err error) {
	who := command{"display-message", "-p", "-t", id, place + "\t#{session_name} #{@orange} #{pane_dead}"}
	out, err := s.runCommands(ctx, nil, who, Pane{id: id}.captureCommand("-e"))
	switch {
	case errors.Is(err, errNoServer), isMissing(err):
		return v, false, nil
	case err != nil:
		return v, false, fmt.Errorf("read a window: %w", err)
	}
	first, text, _ := strings.Cut(out, "\n")
	at, found, _ := strings.Cut(first, "\t")
	v, err = parseView(at, text)
	return v, err == nil && found == name+" 0", err
}

// place is a format with the size of a window and the position of its cursor. Programs move the
// cursor when text is typed at their input line.
const place = "#{pane_in_mode} #{cursor_x} #{cursor_y} #{pane_width} #{pane_height}"

// ReadView returns what the window shows with its colors, and the position of its cursor. The text contains
// the output of a program and is not safe to display before it is parsed.
func (s *Server) ReadView(ctx context.Context, session, window string) (ansi.View, error) {
	p, err := s.findPane(ctx, session, window)
	if err == nil && p.Dead {
		err = ErrGone
	}
	if err != nil {
		return ansi.View{}, readFailure(window, err)
	}
	return s.readPane(ctx, p, window)
}

func (s *Server) readPane(ctx context.Context, p Pane, window string) (v ansi.View, err error) {
	out, err := s.runCommands(ctx, nil, command{"display-message", "-p", "-t", p.id, place}, p.captureCommand("-e"))
	if err == nil {
		first, text, _ := strings.Cut(out, "\n")
		v, err = parseView(first, text)
	}
	if err != nil {
		return ansi.View{}, readFailure(window, err)
	}
	return v, nil
}

func readFailure(window string, err error) error {
	if isMissing(err) {
		err = ErrGone
	}
	return fmt.Errorf("read window %q: %w", window, err)
}

// parseView returns a view from what the format place prints, and the captured text.
func parseView(at, text string) (v ansi.View, err error) {
	mode := 0
	_, err = fmt.Sscan(at, &mode, &v.X, &v.Y, &v.Width, &v.Height)
	v.Text, v.InMode = convertFrames(text), mode != 0
	return v, err
}

// unchangedFormat returns a format that is true while a window's cursor is where it was before
// and no mode of tmux is on.
func unchangedFormat(v ansi.View) string {
	return fmt.Sprintf("#{==:%s,0 %d %d %d %d}", place, v.X, v.Y, v.Width, v.Height)
}

// captureCommand returns the command that prints what a pane shows.
func (p Pane) captureCommand(flags ...string) command {
	c := append(command{"capture-pane", "-p", "-t", p.id}, flags...)
	if p.Dead {
		c = append(c, "-S", "-1") // tmux scrolled the text up by a line to show a notice
	}
	return c
}

// convertFrames replaces the lines and corners of frames with Unicode characters. A terminal
// encodes them as letters of another character set, which a control character switches on and
// off.
func convertFrames(text string) string {
	if !strings.ContainsRune(text, shiftOut) {
		return text
	}
	inFrame, inSequence := false, false
	return strings.Map(func(r rune) rune {
		switch {
		case r == shiftOut || r == shiftIn:
			inFrame = r == shiftOut
			return -1
		case r == '\n':
			inFrame, inSequence = false, false
		case r == '\x1b':
			inSequence = true
		case inSequence: // it ends with a letter, which is not part of a frame
			inSequence = r == '[' || r < '@' || r > '~'
		case inFrame:
			if i := strings.IndexRune(frameLetters, r); i >= 0 {
				return []rune(frameSigns)[i]
			}
		}
		return r
	}, text)
}

const (
	shiftOut = '\x0e'
	shiftIn  = '\x0f'

	frameLetters = "`afgjklmnopqrstuvwxyz{|}~"
	frameSigns   = "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"
)
