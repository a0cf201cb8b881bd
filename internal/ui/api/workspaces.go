package api

import (
	"context"
	"net/http"

	"orange/internal/wire"
)

// Workspaces are the worktrees of all projects.
type Workspaces interface {
	ListWorkspaces(ctx context.Context) ([]wire.Workspace, error)
	InitPool(ctx context.Context, project string, count int) ([]wire.Workspace, error)
	CleanWorkspaces(ctx context.Context, request wire.CleanRequest) (removed, kept []wire.CleanedWorkspace, err error)
	ListSalvages(ctx context.Context, project string) ([]wire.Salvage, error)
}

func (s *Server) listWorkspaces(r *http.Request) (wire.WorkspaceList, error) {
	list, err := s.Workspaces.ListWorkspaces(r.Context())
	return wire.WorkspaceList{Workspaces: nonNil(list)}, err
}

func (s *Server) initWorkspaces(r *http.Request, in wire.PoolRequest) (wire.WorkspaceList, error) {
	list, err := s.Workspaces.InitPool(r.Context(), in.Project, in.Count)
	return wire.WorkspaceList{Workspaces: nonNil(list)}, err
}

func (s *Server) gcWorkspaces(r *http.Request, in wire.CleanRequest) (wire.CleanResult, error) {
	removed, kept, err := s.Workspaces.CleanWorkspaces(r.Context(), in)
	return wire.CleanResult{Removed: nonNil(removed), Kept: nonNil(kept)}, err
}

func (s *Server) listSalvages(r *http.Request) (wire.SalvageList, error) {
	list, err := s.Workspaces.ListSalvages(r.Context(), r.URL.Query().Get(wire.ParamProject))
	return wire.SalvageList{Salvages: nonNil(list)}, err
}
