package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// loadTrust is Load where nobody waits for the result. What could not be found out is not
// trusted.
func (s *Server) loadTrust(ctx context.Context) {
	if err := s.trust.LoadProjects(ctx); err != nil {
		s.log.Warn("look for the programs that git runs", "component", "git", "error", err)
	}
}

// checkGitPrograms says which programs git may run, and complains about those that it may not.
func (s *Server) checkGitPrograms(ctx context.Context) (string, error) {
	trusted := 0
	var wrong []string
	for _, p := range s.runtime.Projects() {
		trusted += len(s.trust.TrustedPrograms(p.Name))
		if text := s.trust.CheckUntrusted(ctx, p); text != "" {
			wrong = append(wrong, "project "+p.Name+": "+text)
		}
	}
	if len(wrong) > 0 {
		return "", errors.New(strings.Join(wrong, "; "))
	}
	return fmt.Sprintf("%d trusted, and git names no others", trusted), nil
}
