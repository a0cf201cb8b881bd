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
	LastNotice(project string) string // as UntrustedNotice last returned it
}

func (s *Server) listProjects(*http.Request) (wire.ProjectList, error) {
	return wire.ProjectList{Projects: nonNil(s.Projects.Projects())}, nil
}

// withGitPrograms returns a project with the programs that git may run for it.
func (s *Server) withGitPrograms(p task.Project) wire.ProjectDetails {
	if s.GitPrograms == nil {
		return wire.ProjectDetails{Project: p}
	}
	return wire.ProjectDetails{Project: p, Git: s.GitPrograms.TrustedPrograms(p.Name)}
}

func (s *Server) addProject(r *http.Request, p task.Project) (wire.ProjectDetails, error) {
	defer s.streamWaker.wakeAll()
	p, err := s.Projects.RegisterProject(r.Context(), p)
	return s.withGitPrograms(p), err
}

func (s *Server) updateProject(r *http.Request, change wire.ProjectChange) (wire.ProjectDetails, error) {
	defer s.streamWaker.wakeAll()
	p, err := s.Projects.ChangeProject(r.Context(), r.PathValue("name"), change)
	if change.TrustGit != nil && *change.TrustGit {
		return s.withGitPrograms(p), err
	}
	return wire.ProjectDetails{Project: p}, err
}

func (s *Server) removeProject(r *http.Request) (wire.ProjectDetails, error) {
	defer s.streamWaker.wakeAll()
	name := r.PathValue("name")
	return wire.ProjectDetails{Project: task.Project{Name: name}}, s.Projects.UnregisterProject(r.Context(), name, r.URL.Query().Get(wire.ParamCode))
}

func (s *Server) findPlace(r *http.Request) (wire.Location, error) {
	return s.Where(r.Context(), r.URL.Query().Get(wire.ParamPath))
}
