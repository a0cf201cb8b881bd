package server

import (
	"context"
)

// loadTrust loads the programs that git may run and logs an error. Programs that could not be found are not trusted.
func (s *Server) loadTrust(ctx context.Context) {
	if err := s.trust.LoadProjects(ctx); err != nil {
		s.log.Warn("find the programs that git runs", "component", "git", "error", err)
	}
}
