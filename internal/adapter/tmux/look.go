package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orange/internal/view/ansi"
)

// CaptureStyled returns what the window shows with its colors: text, and the escape sequences
// that set its appearance. The result contains the output of a program and is not safe to
// display before it is parsed. Repeated calls for a window cost one tmux process each.
func (s *Server) CaptureStyled(ctx context.Context, session, window string) (string, error) {
	name := session + " " + windowName(window)
	if id, ok := s.panes.Load(name); ok {
		if text, ok, err := s.captureStyledPane(ctx, id.(string), name); ok || err != nil {
			return text, err
		}
		s.panes.Delete(name)
	}
	p, err := s.findPane(ctx, session, window)
	if err == nil {
		var text string
		if text, err = s.runCommands(ctx, nil, p.captureCommand("-e")); err == nil {
			s.panes.Store(name, p.id)
			return convertFrames(text), nil
		}
	}
	if isMissing(err) {
		err = ErrGone
	}
	return "", fmt.Errorf("read window %q: %w", window, err)
}

// captureStyledPane captures a pane if it is the expected one and its program runs.
func (s *Server) captureStyledPane(ctx context.Context, id, name string) (text string, ok bool, err error) {
	who := command{"display-message", "-p", "-t", id, "#{session_name} #{@orange} #{pane_dead}"}
	out, err := s.runCommands(ctx, nil, who, Pane{id: id}.captureCommand("-e"))
	switch {
	case errors.Is(err, errNoServer), isMissing(err):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("read a window: %w", err)
	}
	first, text, _ := strings.Cut(out, "\n")
	return convertFrames(text), first == name+" 0", nil
}

// place is a format with the size of a window and the position of its cursor. Programs move the
// cursor when text is typed at their input line.
const place = "#{pane_in_mode} #{cursor_x} #{cursor_y} #{pane_width} #{pane_height}"

// ReadView returns what the window shows and the position of its cursor.
func (s *Server) ReadView(ctx context.Context, session, window string) (ansi.View, error) {
	p, err := s.findPane(ctx, session, window)
	if err == nil && p.Dead {
		err = ErrGone
	}
	var out string
	if err == nil {
		out, err = s.runCommands(ctx, nil, command{"display-message", "-p", "-t", p.id, place}, p.captureCommand("-e"))
	}
	var v ansi.View
	if err == nil {
		first, text, _ := strings.Cut(out, "\n")
		mode := 0
		_, err = fmt.Sscan(first, &mode, &v.X, &v.Y, &v.Width, &v.Height)
		v.Text, v.InMode = convertFrames(text), mode != 0
	}
	if isMissing(err) {
		err = ErrGone
	}
	if err != nil {
		return ansi.View{}, fmt.Errorf("read window %q: %w", window, err)
	}
	return v, nil
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
