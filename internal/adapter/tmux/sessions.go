package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// listSessions maps the names of all sessions to their ids.
func (s *Server) listSessions(ctx context.Context) (map[string]string, error) {
	out, err := s.runCommands(ctx, nil, command{"list-sessions", "-F", "#{session_id} #{session_name}"})
	if errors.Is(err, errNoServer) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	ids := map[string]string{}
	for line := range strings.Lines(out) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		ids[name] = id
	}
	return ids, nil
}

// CloseSession closes all windows of the session and ends the programs in them. A session that
// does not exist is not an error.
func (s *Server) CloseSession(ctx context.Context, session string) error {
	ids, err := s.listSessions(ctx)
	if err != nil || ids[session] == "" {
		return err
	}
	if _, err = s.runCommands(ctx, nil, command{"kill-session", "-t", ids[session]}); err != nil && !isMissing(err) {
		return fmt.Errorf("close session %q: %w", session, err)
	}
	return nil
}

// RenameSession renames a session. If no session has the old name, RenameSession returns nil:
// the session may have been renamed before.
func (s *Server) RenameSession(ctx context.Context, from, to string) error {
	if !safeName(to) {
		return fmt.Errorf("rename session %q: %q is not a session name: use SessionName", from, to)
	}
	ids, err := s.listSessions(ctx)
	if err != nil || ids[from] == "" || from == to {
		return err
	}
	if ids[to] != "" {
		return fmt.Errorf("rename session %q: session %q already exists: close one of them", from, to)
	}
	if _, err = s.runCommands(ctx, nil, command{"rename-session", "-t", ids[from], "--", to}); err != nil && !isMissing(err) {
		return fmt.Errorf("rename session %q: %w", from, err)
	}
	return nil
}

// AttachArgv returns the command that attaches a person to the window, or to the session's
// current window if window is empty. Inside another tmux, TMUX must be unset for it.
func (s *Server) AttachArgv(session, window string) []string {
	target := "=" + session + ":"
	if window != "" {
		target += "=" + windowName(window)
	}
	return s.tmuxArgs("attach-session", "-t", target)
}
