package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Version returns the version of the installed tmux, such as 3.3a.
func (s *Server) Version(ctx context.Context) (string, error) {
	out, err := s.runProcess(ctx, nil, []string{s.program, "-V"})
	if err != nil {
		return "", fmt.Errorf("ask tmux for its version: %w", err)
	}
	return strings.TrimPrefix(strings.TrimSpace(out), "tmux "), nil
}

// IsSupported reports whether Orange works with this version of tmux: 3.2 or later.
func IsSupported(version string) bool {
	version = strings.TrimPrefix(version, "next-")
	major, rest, ok := strings.Cut(version, ".")
	if !ok {
		return version == "master"
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	x, err := strconv.Atoi(major)
	y, err2 := strconv.Atoi(rest[:digits])
	if err != nil || err2 != nil {
		return false
	}
	return x > 3 || x == 3 && y >= 2
}
