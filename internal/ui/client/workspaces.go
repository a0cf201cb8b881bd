package client

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

// Cleanup is what became of the workspaces that nobody needs.
type Cleanup struct {
	Removed []Cleaned `json:"removed"`
	Kept    []Cleaned `json:"kept"`
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

type workspaceList struct {
	Workspaces []Workspace `json:"workspaces"`
}

// Workspaces lists the workspaces of all projects.
func (c *Client) Workspaces(ctx context.Context) ([]Workspace, error) {
	out := workspaceList{Workspaces: []Workspace{}}
	err := c.get(ctx, "/workspaces", nil, &out)
	return out.Workspaces, err
}

// InitWorkspaces makes workspaces of a project before tasks need them; count 0 for the
// whole pool.
func (c *Client) InitWorkspaces(ctx context.Context, project string, count int) ([]Workspace, error) {
	in := struct {
		Project string `json:"project"`
		Count   int    `json:"count"`
	}{project, count}
	out := workspaceList{Workspaces: []Workspace{}}
	err := c.put(ctx, http.MethodPost, "/workspaces/init", in, &out)
	return out.Workspaces, err
}

// A Sweep says how workspaces are cleared away.
type Sweep struct {
	DryRun bool          `json:"dry_run"`         // only say what would be
	Purge  bool          `json:"purge,omitempty"` // delete files that were set aside
	Older  time.Duration `json:"older,omitempty"` // with Purge: so long ago, or longer
}

// CleanWorkspaces removes the workspaces that nobody needs, or says which they are.
func (c *Client) CleanWorkspaces(ctx context.Context, how Sweep) (Cleanup, error) {
	out := Cleanup{Removed: []Cleaned{}, Kept: []Cleaned{}}
	err := c.put(ctx, http.MethodPost, "/workspaces/gc", how, &out)
	return out, err
}

// Salvages lists the work that was kept when workspaces were given back; project ""
// for all.
func (c *Client) Salvages(ctx context.Context, project string) ([]Salvage, error) {
	out := struct {
		Salvages []Salvage `json:"salvages"`
	}{Salvages: []Salvage{}}
	err := c.get(ctx, "/salvages", ofProject(project), &out)
	return out.Salvages, err
}
