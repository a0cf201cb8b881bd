package server

import (
	"context"
)

// loadTrust is Load where nobody waits for the result. What could not be found out is not
// trusted.
func (s *Server) loadTrust(ctx context.Context) {
	if err := s.trust.LoadProjects(ctx); err != nil {
		s.log.Warn("look for the programs that git runs", "component", "git", "error", err)
	}
}
