package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"orange/internal/core/task"
)

// A Workspace describes one workspace on disk.
type Workspace struct {
	Name    string  `json:"name"`
	Project string  `json:"project"`
	Path    string  `json:"path"`
	Task    task.ID `json:"task,omitempty"`    // the task that has it, according to the record
	Branch  string  `json:"branch,omitempty"`  // checked out; "" if none is
	Commit  string  `json:"commit,omitempty"`  // checked out
	Exists  bool    `json:"exists"`            // its folder exists
	Dirty   bool    `json:"dirty,omitempty"`   // it has uncommitted changes
	Marker  task.ID `json:"marker,omitempty"`  // the task that the workspace's marker file names
	Problem string  `json:"problem,omitempty"` // what is wrong with it, "" if nothing is
}

// ListWorkspaces lists the workspaces of the projects: the pool of each project, and further
// folders on disk. bound maps workspaces to the tasks that have them, according to the record.
func (p *Pool) ListWorkspaces(projects []task.Project, bound map[string]task.ID) ([]Workspace, error) {
	there, err := p.listFolders()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	var list []Workspace
	for _, project := range projects {
		names := project.WorkspaceNames()
		for _, name := range there {
			if owner, _, _ := parseName(name); owner == project.Name && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, byNumber)
		for _, name := range names {
			list = append(list, p.inspectWorkspace(ctx, project, name, bound[name]))
		}
	}
	return list, nil
}

func byNumber(a, b string) int {
	_, x, _ := parseName(a)
	_, y, _ := parseName(b)
	return x - y
}

// listFolders lists the workspaces that exist on disk.
func (p *Pool) listFolders() ([]string, error) {
	entries, err := os.ReadDir(p.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the workspaces: %w", err)
	}
	var names []string
	for _, e := range entries {
		if _, _, err := parseName(e.Name()); err == nil && e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (p *Pool) inspectWorkspace(ctx context.Context, project task.Project, name string, holder task.ID) Workspace {
	found := Workspace{Name: name, Project: project.Name, Path: p.Path(name), Task: holder}
	w, err := p.openWorkspace(ctx, Slot{Project: project, Name: name})
	if err != nil {
		found.Problem = err.Error()
		return found
	}
	found.Exists, found.Marker = w.exists(), w.now.Task
	var problems []string
	switch {
	case found.Exists && !w.isAttached(ctx):
		problems = append(problems, fmt.Sprintf("%s is not a worktree of %s: Orange moves it aside when a task needs the workspace", found.Path, project.Path))
	case found.Exists:
		if found.Commit, found.Branch, err = p.git.Head(found.Path); err == nil {
			found.Dirty, err = p.git.IsDirty(ctx, found.Path)
		}
		if err != nil {
			problems = append(problems, err.Error())
		}
	case w.git != "":
		problems = append(problems, "its folder is gone; Orange makes it again when a task needs it")
	}
	if found.Marker != holder && (w.git != "" || holder != "") {
		problems = append(problems, fmt.Sprintf("the record binds it to %s, its marker file to %s", orNone(holder), orNone(found.Marker)))
	}
	found.Problem = strings.Join(problems, "; ")
	return found
}

func orNone(id task.ID) string {
	if id == "" {
		return "no task"
	}
	return "task " + string(id)
}
