package client

import (
	"context"
	"net/http"
	"net/url"

	"orange/internal/core/task"
)

// ProjectChange names the values of a project that are to change.
type ProjectChange struct {
	Path     *string        `json:"moved_to,omitempty"` // where the repository was moved to
	PoolSize *int           `json:"pool_size,omitempty"`
	Workflow *string        `json:"workflow,omitempty"`
	Delivery *task.Delivery `json:"delivery,omitempty"`
	Setup    *string        `json:"setup,omitempty"`
	Teardown *string        `json:"teardown,omitempty"`
	Forge    *task.Forge    `json:"forge,omitempty"`
	Confirm  *task.Confirm  `json:"confirm,omitempty"`
	Vars     *task.Vars     `json:"vars,omitempty"`   // variables to set; an empty text takes one away
	Code     string         `json:"code,omitempty"`   // that was shown by notification
	Budget   *task.Budget   `json:"budget,omitempty"` // all of it: what it does not name is no longer bounded
	TrustGit *bool          `json:"trust_git,omitempty"`
}

// A ChangedProject is a project after a change.
type ChangedProject struct {
	task.Project
	Git []task.GitProgram // that git may run from now on, where that was decided
}

// A Place is what a folder belongs to. What it does not belong to is empty.
type Place struct {
	Project string `json:"project"`
	Task    string `json:"task"`
	GitRoot string `json:"git_root"`
}

// Projects lists the projects.
func (c *Client) Projects(ctx context.Context) ([]task.Project, error) {
	out := struct {
		Projects []task.Project `json:"projects"`
	}{Projects: []task.Project{}}
	err := c.get(ctx, "/projects", nil, &out)
	return out.Projects, err
}

// AddProject registers a repository.
func (c *Client) AddProject(ctx context.Context, p task.Project) (ChangedProject, error) {
	return c.project(ctx, http.MethodPost, "/projects", p)
}

// UpdateProject changes a project.
func (c *Client) UpdateProject(ctx context.Context, name string, change ProjectChange) (ChangedProject, error) {
	return c.project(ctx, http.MethodPatch, "/projects/"+url.PathEscape(name), change)
}

func (c *Client) project(ctx context.Context, method, path string, in any) (ChangedProject, error) {
	var out struct {
		Project task.Project      `json:"project"`
		Git     []task.GitProgram `json:"git_programs"`
	}
	err := c.put(ctx, method, path, in, &out)
	return ChangedProject{out.Project, out.Git}, err
}

// RemoveProject forgets a project that has no task left to do. Code is the one that was
// shown by notification, "" if none was.
func (c *Client) RemoveProject(ctx context.Context, name, code string) error {
	q := url.Values{}
	if code != "" {
		q.Set("code", code)
	}
	return c.do(ctx, call{method: http.MethodDelete, path: "/projects/" + url.PathEscape(name), query: q}, nil)
}

// Where says what the folder at an absolute path belongs to.
func (c *Client) Where(ctx context.Context, path string) (Place, error) {
	var out Place
	err := c.get(ctx, "/where", url.Values{"path": {path}}, &out)
	return out, err
}
