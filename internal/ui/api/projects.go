package api

import (
	"context"
	"net/http"

	"orange/internal/core/task"
	"orange/internal/wire"
)

// Projects are the registered repositories.
type Projects interface {
	Projects() []task.Project
	RegisterProject(ctx context.Context, p task.Project) (task.Project, error)
	ChangeProject(ctx context.Context, name string, c wire.ProjectChange) (task.Project, error)
	UnregisterProject(ctx context.Context, name, code string) error
}

// GitPrograms are the programs that git may and may not run.
type GitPrograms interface {
	// TrustedPrograms lists the programs that git may run for a project.
	TrustedPrograms(project string) []task.GitProgram
	// UntrustedNotice returns one line about other programs that the configuration of git names, or "".
	UntrustedNotice(ctx context.Context, p task.Project) string
}

func (s *Server) listProjects(*http.Request) (wire.ProjectList, error) {
	return wire.ProjectList{Projects: nonNil(s.Projects.Projects())}, nil
}

// withGitPrograms returns a project with the programs that git may run for it.
func (s *Server) withGitPrograms(p task.Project) wire.ProjectShown {
	if s.GitPrograms == nil {
		return wire.ProjectShown{Project: p}
	}
	return wire.ProjectShown{Project: p, Git: s.GitPrograms.TrustedPrograms(p.Name)}
}

func (s *Server) addProject(r *http.Request, p task.Project) (wire.ProjectShown, error) {
	defer s.streamWaker.wakeAll()
	p, err := s.Projects.RegisterProject(r.Context(), p)
	return s.withGitPrograms(p), err
}

func (s *Server) updateProject(r *http.Request, change wire.ProjectChange) (wire.ProjectShown, error) {
	defer s.streamWaker.wakeAll()
	p, err := s.Projects.ChangeProject(r.Context(), r.PathValue("name"), change)
	if change.TrustGit != nil && *change.TrustGit {
		return s.withGitPrograms(p), err
	}
	return wire.ProjectShown{Project: p}, err
}

func (s *Server) removeProject(r *http.Request) (wire.ProjectShown, error) {
	defer s.streamWaker.wakeAll()
	name := r.PathValue("name")
	return wire.ProjectShown{Project: task.Project{Name: name}}, s.Projects.UnregisterProject(r.Context(), name, r.URL.Query().Get("code"))
}

func (s *Server) findPlace(r *http.Request) (wire.Place, error) {
	return s.Where(r.Context(), r.URL.Query().Get("path"))
}
