package client

import (
	"context"
	"net/http"
	"net/url"

	"orange/internal/core/task"
	"orange/internal/wire"
)

// ListProjects lists the projects.
func (c *Client) ListProjects(ctx context.Context) ([]task.Project, error) {
	out := wire.ProjectList{Projects: []task.Project{}}
	err := c.getJSON(ctx, wire.PathProjects, nil, &out)
	return out.Projects, err
}

// AddProject registers a repository.
func (c *Client) AddProject(ctx context.Context, p task.Project) (wire.ProjectShown, error) {
	return c.sendProject(ctx, http.MethodPost, wire.PathProjects, p)
}

// UpdateProject changes a project.
func (c *Client) UpdateProject(ctx context.Context, name string, change wire.ProjectChange) (wire.ProjectShown, error) {
	return c.sendProject(ctx, http.MethodPatch, wire.FillPath(wire.PathProject, name), change)
}

func (c *Client) sendProject(ctx context.Context, method, path string, in any) (wire.ProjectShown, error) {
	var out wire.ProjectShown
	err := c.sendJSON(ctx, method, path, in, &out)
	return out, err
}

// RemoveProject removes a project without open tasks. code is the one from the notification, or "".
func (c *Client) RemoveProject(ctx context.Context, name, code string) error {
	q := url.Values{}
	if code != "" {
		q.Set("code", code)
	}
	return c.callJSON(ctx, call{method: http.MethodDelete, path: wire.FillPath(wire.PathProject, name), query: q}, nil)
}

// FindPlace returns what the folder at an absolute path belongs to.
func (c *Client) FindPlace(ctx context.Context, path string) (wire.Place, error) {
	var out wire.Place
	err := c.getJSON(ctx, wire.PathWhere, url.Values{"path": {path}}, &out)
	return out, err
}
