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
func (c *Client) AddProject(ctx context.Context, p task.Project) (wire.ProjectDetails, error) {
	return c.sendProject(ctx, http.MethodPost, wire.PathProjects, p)
}

// UpdateProject changes a project.
func (c *Client) UpdateProject(ctx context.Context, name string, change wire.ProjectChange) (wire.ProjectDetails, error) {
	return c.sendProject(ctx, http.MethodPatch, wire.FillPath(wire.PathProject, name), change)
}

func (c *Client) sendProject(ctx context.Context, method, path string, in any) (wire.ProjectDetails, error) {
	var out wire.ProjectDetails
	err := c.sendJSON(ctx, method, path, in, &out)
	return out, err
}

// RemoveProject removes a project without open tasks. code is the one from the notification, or "".
func (c *Client) RemoveProject(ctx context.Context, name, code string) error {
	q := url.Values{}
	if code != "" {
		q.Set(wire.ParamCode, code)
	}
	return c.callJSON(ctx, call{method: http.MethodDelete, path: wire.FillPath(wire.PathProject, name), query: q}, nil)
}

// FindPlace returns what the folder at an absolute path belongs to.
func (c *Client) FindPlace(ctx context.Context, path string) (wire.Location, error) {
	var out wire.Location
	err := c.getJSON(ctx, wire.PathWhere, url.Values{wire.ParamPath: {path}}, &out)
	return out, err
}
