package tmux

import "context"

// Keys types characters into a window as they are, control characters too. It is for
// answering a dialog, not for texts: those are pasted.
func (s *Server) Keys(ctx context.Context, session, window, keys string) error {
	buffer := s.buffer()
	load := command{"set-buffer", "-b", buffer, "--", keys}
	_, err := s.write(ctx, session, window, "", nil, load, command{"paste-buffer", "-d", "-r", "-b", buffer})
	return err
}
