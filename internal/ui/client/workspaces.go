package client

import (
	"context"
	"net/http"

	"orange/internal/wire"
)

// ListWorkspaces lists the workspaces of all projects.
func (c *Client) ListWorkspaces(ctx context.Context) ([]wire.Workspace, error) {
	out := wire.WorkspaceList{Workspaces: []wire.Workspace{}}
	err := c.getJSON(ctx, wire.PathWorkspaces, nil, &out)
	return out.Workspaces, err
}

// InitWorkspaces creates workspaces of a project before tasks need them; count 0 for the whole pool.
func (c *Client) InitWorkspaces(ctx context.Context, project string, count int) ([]wire.Workspace, error) {
	in := wire.PoolRequest{Project: project, Count: count}
	out := wire.WorkspaceList{Workspaces: []wire.Workspace{}}
	err := c.sendJSON(ctx, http.MethodPost, wire.PathWorkspacesInit, in, &out)
	return out.Workspaces, err
}

// CleanWorkspaces removes unneeded workspaces, or lists them.
func (c *Client) CleanWorkspaces(ctx context.Context, how wire.CleanRequest) (wire.CleanResult, error) {
	out := wire.CleanResult{Removed: []wire.CleanedWorkspace{}, Kept: []wire.CleanedWorkspace{}}
	err := c.sendJSON(ctx, http.MethodPost, wire.PathWorkspacesGC, how, &out)
	return out, err
}

// ListSalvages lists the work that was saved when workspaces were released; project "" for all.
func (c *Client) ListSalvages(ctx context.Context, project string) ([]wire.Salvage, error) {
	out := wire.SalvageList{Salvages: []wire.Salvage{}}
	err := c.getJSON(ctx, wire.PathSalvages, ofProject(project), &out)
	return out.Salvages, err
}
