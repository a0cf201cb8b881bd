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
	Add(ctx context.Context, p task.Project) (task.Project, error)
	Update(ctx context.Context, name string, c wire.ProjectChange) (task.Project, error)
	Remove(ctx context.Context, name, code string) error
}

// GitPrograms are the programs that git may and may not run.
type GitPrograms interface {
	// Trusted lists the programs that git may run for a project.
	Trusted(project string) []task.GitProgram
	// Untrusted says in a line which others the configuration of git names, "" for none.
	Untrusted(ctx context.Context, p task.Project) string
}

func (s *Server) listProjects(*http.Request) (wire.ProjectList, error) {
	return wire.ProjectList{Projects: nonNil(s.Projects.Projects())}, nil
}

// trusting is a project with the programs that git may run for it.
func (s *Server) trusting(p task.Project) wire.ProjectShown {
	if s.GitPrograms == nil {
		return wire.ProjectShown{Project: p}
	}
	return wire.ProjectShown{Project: p, Git: s.GitPrograms.Trusted(p.Name)}
}

func (s *Server) addProject(r *http.Request, p task.Project) (wire.ProjectShown, error) {
	defer s.bell.ring()
	p, err := s.Projects.Add(r.Context(), p)
	return s.trusting(p), err
}

func (s *Server) updateProject(r *http.Request, change wire.ProjectChange) (wire.ProjectShown, error) {
	defer s.bell.ring()
	p, err := s.Projects.Update(r.Context(), r.PathValue("name"), change)
	if change.TrustGit != nil && *change.TrustGit {
		return s.trusting(p), err
	}
	return wire.ProjectShown{Project: p}, err
}

func (s *Server) removeProject(r *http.Request) (wire.ProjectShown, error) {
	defer s.bell.ring()
	name := r.PathValue("name")
	return wire.ProjectShown{Project: task.Project{Name: name}}, s.Projects.Remove(r.Context(), name, r.URL.Query().Get("code"))
}

func (s *Server) where(r *http.Request) (wire.Place, error) {
	return s.Where(r.Context(), r.URL.Query().Get("path"))
}
