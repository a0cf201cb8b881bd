package api

import (
	"context"
	"net/http"
	"time"

	"orange/internal/core/task"
)

// A Workspace is a worktree of a project's pool.
type Workspace struct {
	Name    string  `json:"name"`
	Project string  `json:"project"`
	Path    string  `json:"path"`
	Task    task.ID `json:"task,omitempty"`
	Branch  string  `json:"branch,omitempty"`
	Exists  bool    `json:"exists"`
	Dirty   bool    `json:"dirty"`
	Problem string  `json:"problem,omitempty"`
}

// A Cleaned is a workspace, or files that were set aside from one, that was removed, or kept
// and why.
type Cleaned struct {
	Name string `json:"name"`
	Path string `json:"path,omitempty"`
	Why  string `json:"why"`
}

// A Salvage is work that was in a workspace when it was given back.
type Salvage struct {
	Ref        string              `json:"ref"`
	Project    string              `json:"project"`
	Task       task.ID             `json:"task"`
	At         time.Time           `json:"at"`
	Commit     string              `json:"commit"`
	Files      int                 `json:"files"`
	Staged     string              `json:"staged,omitempty"` // commit of what was staged, where the files differ from that
	Submodules []SalvagedSubmodule `json:"submodules,omitempty"`
}

// A SalvagedSubmodule is work in a submodule that was kept with the rest.
type SalvagedSubmodule struct {
	Path       string `json:"path"`
	Repository string `json:"repository"` // to fetch it from
	Ref        string `json:"ref"`        // under which it is there
}

// Workspaces are the worktrees of all projects.
type Workspaces interface {
	Workspaces(ctx context.Context) ([]Workspace, error)
	Init(ctx context.Context, project string, count int) ([]Workspace, error)
	GC(ctx context.Context, wish CleanWish) (removed, kept []Cleaned, err error)
	Salvages(ctx context.Context, project string) ([]Salvage, error)
}

// WorkspaceList are worktrees.
type WorkspaceList struct {
	Workspaces []Workspace `json:"workspaces"`
}

func (s *Server) workspaces(r *http.Request) (WorkspaceList, error) {
	list, err := s.Workspaces.Workspaces(r.Context())
	return WorkspaceList{nonNil(list)}, err
}

// A PoolWish says which workspaces are to be made ready.
type PoolWish struct {
	Project string `json:"project"`
	Count   int    `json:"count"` // 0: the whole pool
}

func (s *Server) initWorkspaces(r *http.Request, in PoolWish) (WorkspaceList, error) {
	list, err := s.Workspaces.Init(r.Context(), in.Project, in.Count)
	return WorkspaceList{nonNil(list)}, err
}

// A CleanWish says how workspaces are cleared away.
type CleanWish struct {
	DryRun bool          `json:"dry_run"`         // only say what would be
	Purge  bool          `json:"purge,omitempty"` // delete files that were set aside
	Older  time.Duration `json:"older,omitempty"` // with purge: so long ago, or longer
}

// A Cleaning is what became of the workspaces that nobody needs.
type Cleaning struct {
	Kept    []Cleaned `json:"kept"`
	Removed []Cleaned `json:"removed"`
}

func (s *Server) gcWorkspaces(r *http.Request, in CleanWish) (Cleaning, error) {
	removed, kept, err := s.Workspaces.GC(r.Context(), in)
	return Cleaning{Removed: nonNil(removed), Kept: nonNil(kept)}, err
}

// SalvageList is work that was kept.
type SalvageList struct {
	Salvages []Salvage `json:"salvages"`
}

func (s *Server) salvages(r *http.Request) (SalvageList, error) {
	list, err := s.Workspaces.Salvages(r.Context(), r.URL.Query().Get("project"))
	return SalvageList{nonNil(list)}, err
}
