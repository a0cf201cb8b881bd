package tmux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"orange/internal/view/ansi"
)

// A Pane is one window that OpenWindow created. Dead means that its program has ended; PID is,
// or was, that program's process.
type Pane struct {
	Session, Window string
	Dead            bool
	PID             int

	id string
}

// listPanesCommand returns the command that lists all panes. No name contains a blank.
func listPanesCommand() command {
	return command{"list-panes", "-a", "-F", "#{pane_id} #{pane_dead} #{pane_pid} #{session_name} #{@orange}"}
}

// parseListing parses the output of listPanesCommand. It skips panes that a person created.
func parseListing(out string) []Pane {
	var panes []Pane
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) != 5 {
			continue
		}
		pid, _ := strconv.Atoi(fields[2])
		panes = append(panes, Pane{id: fields[0], Dead: fields[1] == "1", PID: pid, Session: fields[3], Window: decodeName(fields[4])})
	}
	return panes
}

// ListWindows lists the windows that OpenWindow created. It returns none if no server runs.
func (s *Server) ListWindows(ctx context.Context) ([]Pane, error) {
	out, err := s.runCommands(ctx, nil, listPanesCommand())
	if errors.Is(err, errNoServer) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the windows: %w", err)
	}
	return parseListing(out), nil
}

// findPane finds a window by its full name. Later commands use the id of its pane, because tmux
// interprets a name as many other things first.
func (s *Server) findPane(ctx context.Context, session, window string) (Pane, error) {
	panes, err := s.ListWindows(ctx)
	if err != nil {
		return Pane{}, err
	}
	for _, p := range panes {
		if p.Session == session && p.Window == window {
			return p, nil
		}
	}
	return Pane{}, ErrGone
}

// PasteText pastes text into the program in the window. It removes control characters other
// than line ends and tabs, so that the paste is only text.
func (s *Server) PasteText(ctx context.Context, session, window, text string) error {
	_, err := s.pasteText(ctx, session, window, text, "")
	return err
}

// PasteAt pastes text if nothing was drawn in the window since it was seen, as far as the
// cursor shows, and the program gets the keys. The server checks and pastes in one step.
func (s *Server) PasteAt(ctx context.Context, session, window string, seen ansi.View, text string) (done bool, err error) {
	return s.pasteText(ctx, session, window, text, unchangedFormat(seen))
}

func (s *Server) pasteText(ctx context.Context, session, window, text, guard string) (bool, error) {
	text = stripControls(text)
	if text == "" {
		return true, nil
	}
	buffer := s.newBufferName()
	load := command{"load-buffer", "-b", buffer, "-"}
	return s.pasteGuarded(ctx, session, window, guard, strings.NewReader(text), load, command{"paste-buffer", "-p", "-d", "-r", "-b", buffer})
}

// PressEnter sends a carriage return to the program in the window, like the key Enter. It
// pastes it, because keys go elsewhere while a person scrolls through the window's history.
func (s *Server) PressEnter(ctx context.Context, session, window string) error {
	_, err := s.pressEnter(ctx, session, window, "")
	return err
}

// EnterAt is PressEnter under the condition of PasteAt.
func (s *Server) EnterAt(ctx context.Context, session, window string, seen ansi.View) (done bool, err error) {
	return s.pressEnter(ctx, session, window, unchangedFormat(seen))
}

func (s *Server) pressEnter(ctx context.Context, session, window, guard string) (bool, error) {
	buffer := s.newBufferName()
	load := command{"set-buffer", "-b", buffer, "\r"}
	return s.pasteGuarded(ctx, session, window, guard, nil, load, command{"paste-buffer", "-d", "-r", "-b", buffer})
}

// newBufferName returns a unique name for a paste buffer.
func (s *Server) newBufferName() string {
	return fmt.Sprintf("orange-%d-%d", os.Getpid(), s.buffers.Add(1))
}

// pasteGuarded loads a buffer and pastes it if guard, a format, is true, or unconditionally if
// guard is empty. In some versions, pasting into a pane whose program has ended kills the whole
// server, so the server itself checks first.
func (s *Server) pasteGuarded(ctx context.Context, session, window, guard string, stdin io.Reader, load, paste command) (done bool, err error) {
	p, err := s.findPane(ctx, session, window)
	if err == nil && p.Dead {
		err = ErrGone
	}
	if err != nil {
		return false, fmt.Errorf("write to window %q: %w", window, err)
	}
	forget := command{"delete-buffer", load[1], load[2]}
	refuse := func(why string) []command {
		return []command{forget, {"display-message", "-p", "-t", p.id, why}}
	}
	act := append(paste, "-t", p.id)
	if guard != "" {
		act = ifElseCommand(guard, p.id, []command{act}, refuse("changed"))
	}
	out, err := s.runCommands(ctx, stdin, load, ifElseCommand("#{pane_dead}", p.id, refuse("gone"), []command{act}))
	switch {
	case isMissing(err):
		_, _ = s.runCommands(ctx, nil, forget) // it may contain text that was not pasted
		err = ErrGone
	case err == nil && strings.TrimSpace(out) == "gone":
		err = ErrGone
	}
	if err != nil {
		return false, fmt.Errorf("write to window %q: %w", window, err)
	}
	return strings.TrimSpace(out) != "changed", nil
}

// CaptureText returns what the window shows, as plain text.
func (s *Server) CaptureText(ctx context.Context, session, window string) (string, error) {
	p, err := s.findPane(ctx, session, window)
	if err != nil {
		return "", fmt.Errorf("read window %q: %w", window, err)
	}
	out, err := s.runCommands(ctx, nil, p.captureCommand())
	if isMissing(err) {
		err = ErrGone
	}
	if err != nil {
		return "", fmt.Errorf("read window %q: %w", window, err)
	}
	return stripControls(out), nil
}

// CloseWindow closes the window and ends the programs in it. A window that does not exist is
// not an error.
func (s *Server) CloseWindow(ctx context.Context, session, window string) error {
	p, err := s.findPane(ctx, session, window)
	if errors.Is(err, ErrGone) {
		return nil
	}
	if err == nil {
		_, err = s.runCommands(ctx, nil, command{"kill-window", "-t", p.id})
	}
	if err != nil && !isMissing(err) {
		return fmt.Errorf("close window %q: %w", window, err)
	}
	return nil
}
