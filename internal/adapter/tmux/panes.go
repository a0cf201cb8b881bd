package tmux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"orange/internal/core/screen"
)

// A Pane is one window that Open made. Dead says that its program has ended; PID is, or
// was, that program's process.
type Pane struct {
	Session, Window string
	Dead            bool
	PID             int

	id string
}

// listing is the command that lists all panes. No name holds a blank.
func listing() command {
	return command{"list-panes", "-a", "-F", "#{pane_id} #{pane_dead} #{pane_pid} #{session_name} #{@orange}"}
}

// parseListing reads what listing prints. Panes that a person made are left out.
func parseListing(out string) []Pane {
	var panes []Pane
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) != 5 {
			continue
		}
		pid, _ := strconv.Atoi(fields[2])
		panes = append(panes, Pane{id: fields[0], Dead: fields[1] == "1", PID: pid, Session: fields[3], Window: decode(fields[4])})
	}
	return panes
}

// Windows lists the windows that Open made, none if no server runs.
func (s *Server) Windows(ctx context.Context) ([]Pane, error) {
	out, err := s.run(ctx, nil, listing())
	if errors.Is(err, errNoServer) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the windows: %w", err)
	}
	return parseListing(out), nil
}

// find looks a window up by its full name. What follows goes by the id of its pane,
// because tmux takes a name for many other things before it takes it for a name.
func (s *Server) find(ctx context.Context, session, window string) (Pane, error) {
	panes, err := s.Windows(ctx)
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

// Paste gives text to the program in the window as if a person had pasted it. Control
// characters other than line ends and tabs are left out, so that it is never more than
// text.
func (s *Server) Paste(ctx context.Context, session, window, text string) error {
	_, err := s.paste(ctx, session, window, text, "")
	return err
}

// PasteAt pastes text if nothing was drawn in the window since it was seen, as far as the cursor
// shows, and the program gets the keys. The server checks and pastes in one step.
func (s *Server) PasteAt(ctx context.Context, session, window string, seen screen.View, text string) (done bool, err error) {
	return s.paste(ctx, session, window, text, unchanged(seen))
}

func (s *Server) paste(ctx context.Context, session, window, text, guard string) (bool, error) {
	text = visible(text)
	if text == "" {
		return true, nil
	}
	buffer := s.buffer()
	load := command{"load-buffer", "-b", buffer, "-"}
	return s.write(ctx, session, window, guard, strings.NewReader(text), load, command{"paste-buffer", "-p", "-d", "-r", "-b", buffer})
}

// Enter gives the program in the window a carriage return, as the key Enter does. It is
// pasted too, because keys go elsewhere while a person reads the window's history.
func (s *Server) Enter(ctx context.Context, session, window string) error {
	_, err := s.enter(ctx, session, window, "")
	return err
}

// EnterAt is Enter under the condition of PasteAt.
func (s *Server) EnterAt(ctx context.Context, session, window string, seen screen.View) (done bool, err error) {
	return s.enter(ctx, session, window, unchanged(seen))
}

func (s *Server) enter(ctx context.Context, session, window, guard string) (bool, error) {
	buffer := s.buffer()
	load := command{"set-buffer", "-b", buffer, "\r"}
	return s.write(ctx, session, window, guard, nil, load, command{"paste-buffer", "-d", "-r", "-b", buffer})
}

// buffer is a name for a paste buffer that nobody else uses.
func (s *Server) buffer() string {
	return fmt.Sprintf("orange-%d-%d", os.Getpid(), s.buffers.Add(1))
}

// write loads a buffer and pastes it if the guard, a format, is true; without a guard always.
// Pasting into a pane whose program has ended kills the whole server in some versions, so the
// server itself looks first.
func (s *Server) write(ctx context.Context, session, window, guard string, stdin io.Reader, load, paste command) (done bool, err error) {
	p, err := s.find(ctx, session, window)
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
		act = either(guard, p.id, []command{act}, refuse("changed"))
	}
	out, err := s.run(ctx, stdin, load, either("#{pane_dead}", p.id, refuse("gone"), []command{act}))
	switch {
	case missing(err):
		_, _ = s.run(ctx, nil, forget) // it may hold what was not pasted
		err = ErrGone
	case err == nil && strings.TrimSpace(out) == "gone":
		err = ErrGone
	}
	if err != nil {
		return false, fmt.Errorf("write to window %q: %w", window, err)
	}
	return strings.TrimSpace(out) != "changed", nil
}

// Capture is what the window shows, as plain text.
func (s *Server) Capture(ctx context.Context, session, window string) (string, error) {
	p, err := s.find(ctx, session, window)
	if err != nil {
		return "", fmt.Errorf("read window %q: %w", window, err)
	}
	out, err := s.run(ctx, nil, p.capture())
	if missing(err) {
		err = ErrGone
	}
	if err != nil {
		return "", fmt.Errorf("read window %q: %w", window, err)
	}
	return visible(out), nil
}

// CloseWindow closes the window and ends what runs in it. That it is not there is no
// error.
func (s *Server) CloseWindow(ctx context.Context, session, window string) error {
	p, err := s.find(ctx, session, window)
	if errors.Is(err, ErrGone) {
		return nil
	}
	if err == nil {
		_, err = s.run(ctx, nil, command{"kill-window", "-t", p.id})
	}
	if err != nil && !missing(err) {
		return fmt.Errorf("close window %q: %w", window, err)
	}
	return nil
}
