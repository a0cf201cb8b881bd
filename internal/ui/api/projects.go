package api

import (
	"context"
	"net/http"

	"orange/internal/core/task"
)

// Projects are the registered repositories.
type Projects interface {
	Projects() []task.Project
	Add(ctx context.Context, p task.Project) (task.Project, error)
	Update(ctx context.Context, name string, c ProjectChange) (task.Project, error)
	Remove(ctx context.Context, name, code string) error
}

// A ProjectChange says what is to change; nil leaves a value as it is.
type ProjectChange struct {
	Path     *string        `json:"moved_to"` // where the repository was moved to
	PoolSize *int           `json:"pool_size"`
	Workflow *string        `json:"workflow"`
	Delivery *task.Delivery `json:"delivery"`
	Setup    *string        `json:"setup"`
	Teardown *string        `json:"teardown"`
	Budget   *task.Budget   `json:"budget"`
	Forge    *task.Forge    `json:"forge"`
	TrustGit *bool          `json:"trust_git"` // git may run the programs that its configuration names now
	Confirm  *task.Confirm  `json:"confirm"`
	Vars     *task.Vars     `json:"vars"` // variables to set; an empty text takes one away
	Code     string         `json:"code"` // that was shown by notification, where codes are asked for and are not to be any more
}

// GitPrograms are the programs that git may and may not run.
type GitPrograms interface {
	// Trusted lists the programs that git may run for a project.
	Trusted(project string) []task.GitProgram
	// Untrusted says in a line which others the configuration of git names, "" for none.
	Untrusted(ctx context.Context, p task.Project) string
}

// A ProjectList is all projects.
type ProjectList struct {
	Projects []task.Project `json:"projects"`
}

func (s *Server) listProjects(*http.Request) (ProjectList, error) {
	return ProjectList{nonNil(s.Projects.Projects())}, nil
}

// A ProjectShown is one project.
type ProjectShown struct {
	Project task.Project      `json:"project"`
	Git     []task.GitProgram `json:"git_programs,omitempty"` // that git may run from now on, where that was decided
}

// trusting is a project with the programs that git may run for it.
func (s *Server) trusting(p task.Project) ProjectShown {
	if s.GitPrograms == nil {
		return ProjectShown{Project: p}
	}
	return ProjectShown{p, s.GitPrograms.Trusted(p.Name)}
}

func (s *Server) addProject(r *http.Request, p task.Project) (ProjectShown, error) {
	defer s.bell.ring()
	p, err := s.Projects.Add(r.Context(), p)
	return s.trusting(p), err
}

func (s *Server) updateProject(r *http.Request, change ProjectChange) (ProjectShown, error) {
	defer s.bell.ring()
	p, err := s.Projects.Update(r.Context(), r.PathValue("name"), change)
	if change.TrustGit != nil && *change.TrustGit {
		return s.trusting(p), err
	}
	return ProjectShown{Project: p}, err
}

func (s *Server) removeProject(r *http.Request) (ProjectShown, error) {
	defer s.bell.ring()
	name := r.PathValue("name")
	return ProjectShown{Project: task.Project{Name: name}}, s.Projects.Remove(r.Context(), name, r.URL.Query().Get("code"))
}

// A Place is what a folder on disk belongs to.
type Place struct {
	Project string  `json:"project"`
	Task    task.ID `json:"task"`
	GitRoot string  `json:"git_root"`
}

func (s *Server) where(r *http.Request) (Place, error) {
	return s.Where(r.Context(), r.URL.Query().Get("path"))
}
