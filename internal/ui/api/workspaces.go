package api

import (
	"context"
	"net/http"

	"orange/internal/wire"
)

// Workspaces are the worktrees of all projects.
type Workspaces interface {
	Workspaces(ctx context.Context) ([]wire.Workspace, error)
	Init(ctx context.Context, project string, count int) ([]wire.Workspace, error)
	GC(ctx context.Context, wish wire.CleanWish) (removed, kept []wire.Cleaned, err error)
	Salvages(ctx context.Context, project string) ([]wire.Salvage, error)
}

func (s *Server) workspaces(r *http.Request) (wire.WorkspaceList, error) {
	list, err := s.Workspaces.Workspaces(r.Context())
	return wire.WorkspaceList{Workspaces: nonNil(list)}, err
}

func (s *Server) initWorkspaces(r *http.Request, in wire.PoolWish) (wire.WorkspaceList, error) {
	list, err := s.Workspaces.Init(r.Context(), in.Project, in.Count)
	return wire.WorkspaceList{Workspaces: nonNil(list)}, err
}

func (s *Server) gcWorkspaces(r *http.Request, in wire.CleanWish) (wire.Cleaning, error) {
	removed, kept, err := s.Workspaces.GC(r.Context(), in)
	return wire.Cleaning{Removed: nonNil(removed), Kept: nonNil(kept)}, err
}

func (s *Server) salvages(r *http.Request) (wire.SalvageList, error) {
	list, err := s.Workspaces.Salvages(r.Context(), r.URL.Query().Get("project"))
	return wire.SalvageList{Salvages: nonNil(list)}, err
}
