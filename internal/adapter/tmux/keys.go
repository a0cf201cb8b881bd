package tmux

import "context"

// TypeKeys types characters into a window as they are, control characters too. It is for
// answering a dialog, not for texts: those are pasted.
func (s *Server) TypeKeys(ctx context.Context, session, window, keys string) error {
	buffer := s.newBufferName()
	load := command{"set-buffer", "-b", buffer, "--", keys}
	_, err := s.pasteGuarded(ctx, session, window, "", nil, load, command{"paste-buffer", "-d", "-r", "-b", buffer})
	return err
}
