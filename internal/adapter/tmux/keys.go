package tmux

import "context"

// TypeKeys types characters into a window unchanged, including control characters. It is for
// answering a dialog; use PasteText for texts.
func (s *Server) TypeKeys(ctx context.Context, session, window, keys string) error {
	buffer := s.newBufferName()
	load := command{"set-buffer", "-b", buffer, "--", keys}
	_, err := s.pasteGuarded(ctx, session, window, "", nil, load, command{"paste-buffer", "-d", "-r", "-b", buffer})
	return err
}
