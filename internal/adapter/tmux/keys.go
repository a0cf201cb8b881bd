package tmux

import (
	"context"

	"orange/internal/view/ansi"
)

// TypeKeys types characters into a window unchanged, including control characters. It is for
// answering a dialog; use PasteText for texts.
func (s *Server) TypeKeys(ctx context.Context, session, window, keys string) error {
	_, err := s.typeKeys(ctx, session, window, "", keys)
	return err
}

// TypeKeysAt is TypeKeys under the condition of PasteAt.
func (s *Server) TypeKeysAt(ctx context.Context, session, window string, seen ansi.View, keys string) (done bool, err error) {
	return s.typeKeys(ctx, session, window, unchangedFormat(seen), keys)
}

func (s *Server) typeKeys(ctx context.Context, session, window, guard, keys string) (bool, error) {
	buffer := s.newBufferName()
	load := command{"set-buffer", "-b", buffer, "--", keys}
	return s.pasteGuarded(ctx, session, window, guard, nil, load, command{"paste-buffer", "-d", "-r", "-b", buffer})
}
