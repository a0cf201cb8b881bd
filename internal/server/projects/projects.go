// Package projects registers repositories, and finds the task and the project that a folder belongs to.
package projects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/adapter/git"
	"orange/internal/core/task"
	"orange/internal/host"
	"orange/internal/runtime/local"
	"orange/internal/server/gittrust"
	"orange/internal/server/library"
	"orange/internal/wire"
)

// Registry implements api.Projects.
type Registry struct {
	Runtime *local.Runtime
	Git     *git.Git
	Trust   *gittrust.Trust
	Host    *host.Host
	Size    func() int                // pool size of a project that names none; 0 for the default
	Load    func(ctx context.Context) // reloads which programs git may run
}

// Projects implements api.Projects.
func (p Registry) Projects() []task.Project { return p.Runtime.Projects() }

// RegisterProject implements api.Projects.
func (p Registry) RegisterProject(ctx context.Context, given task.Project) (task.Project, error) {
	if !filepath.IsAbs(given.Path) {
		return given, task.Mistakef("path %q is not absolute", given.Path)
	}
	root, err := p.Git.FindRoot(ctx, given.Path)
	if err != nil {
		return given, task.Mistakef("%v", err)
	}
	if err := p.refuseWorkspace(root); err != nil {
		return given, err
	}
	given.Path = root
	given.Name = cmp.Or(given.Name, filepath.Base(root))
	if given.PoolSize == 0 {
		given.PoolSize = p.Size()
	}
	if given.PoolSize == 0 {
		given.PoolSize = task.DefaultPoolSize
	}
	if given.DefaultBranch == "" {
		if given.DefaultBranch, err = p.Git.DefaultBranch(ctx, root); err != nil {
			return given, task.Mistakef("%v", err)
		}
	} else if err := p.Git.CheckBase(ctx, root, given.DefaultBranch); err != nil {
		return given, task.Mistakef("%v", err)
	}
	if given.Confirm.Merge != "" {
		if err := p.Runtime.CanConfirm(given.Name); err != nil {
			return given, err
		}
	}
	if err := p.Runtime.AddProject(given); err != nil {
		return given, err
	}
	if _, err = p.Trust.AcceptPrograms(ctx, given); err != nil { // otherwise a later load would trust programs that nobody has seen
		return given, errors.Join(err, p.Runtime.RemoveProject(given.Name), p.Trust.ForgetProject(given.Name))
	}
	return given, nil
}

// ChangeProject implements api.Projects.
func (p Registry) ChangeProject(ctx context.Context, name string, c wire.ProjectChange) (task.Project, error) {
	have, ok := p.Runtime.Project(name)
	if !ok {
		return have, task.Mistakef("project %q is not registered: see orange project list", name)
	}
	if err := p.confirmUpdate(ctx, &have, &c); err != nil {
		return have, err
	}
	if c.Path != nil {
		if err := p.moveRepository(ctx, &have, *c.Path); err != nil {
			return have, err
		}
	}
	if c.Base != nil {
		if err := p.Git.CheckBase(ctx, have.Path, *c.Base); err != nil {
			return have, task.Mistakef("%v", err)
		}
	}
	setIfGiven(&have.DefaultBranch, c.Base)
	setIfGiven(&have.Model, c.Model)
	setIfGiven(&have.AgentFlags, c.AgentFlags)
	setIfGiven(&have.Permissions, c.Permissions)
	setIfGiven(&have.PoolSize, c.PoolSize)
	setIfGiven(&have.Workflow, c.Workflow)
	setIfGiven(&have.Delivery, c.Delivery)
	setIfGiven(&have.Setup, c.Setup)
	setIfGiven(&have.Teardown, c.Teardown)
	setIfGiven(&have.Budget, c.Budget)
	setIfGiven(&have.Forge, c.Forge)
	setIfGiven(&have.Confirm, c.Confirm)
	setIfGiven(&have.HoldLanding, c.HoldLanding)
	setIfGiven(&have.Land, c.Land)
	setIfGiven(&have.MergePR, c.MergePR)
	setIfGiven(&have.ReuseChecks, c.ReuseChecks)
	if c.Vars != nil {
		have.Vars = have.Vars.WithChanges(*c.Vars)
	}
	checks, err := have.Checks.WithChanges(c.Checks)
	if err != nil {
		return have, task.Mistakef("%v", err)
	}
	if have.Unchanged, err = have.Unchanged.WithChanges(c.Unchanged); err != nil {
		return have, task.Mistakef("%v", err)
	}
	have.Checks = checks
	if err := p.Runtime.UpdateProject(have); err != nil {
		return have, err
	}
	if c.TrustGit != nil && *c.TrustGit {
		_, err := p.Trust.AcceptPrograms(ctx, have, p.Trust.ExistingWorktrees(have)...)
		return have, err
	}
	p.Load(ctx)
	return have, nil
}

// confirmUpdate makes sure that codes can be shown before the project requires them, and checks a code before it stops
// requiring them.
func (p Registry) confirmUpdate(ctx context.Context, have *task.Project, c *wire.ProjectChange) error {
	switch {
	case have.Confirm.Merge != "" && c.Path != nil && *c.Path != have.Path: // otherwise its folder could be added again without codes
		return p.Runtime.ConfirmProject(ctx, have.Name, "change of the path", "orange project update "+have.Name+" --path "+*c.Path, c.Code)
	case c.Confirm == nil || *c.Confirm == have.Confirm:
		return nil
	case have.Confirm.Merge == "":
		return p.Runtime.CanConfirm(have.Name)
	}
	return p.Runtime.ConfirmProject(ctx, have.Name, "change of its --confirm", "orange project update "+have.Name+" --confirm merge=none", c.Code)
}

// moveRepository sets the new path of a repository that was moved. It repairs the links between the repository and its
// worktrees in both directions.
func (p Registry) moveRepository(ctx context.Context, have *task.Project, path string) error {
	if !filepath.IsAbs(path) {
		return task.Mistakef("path %q is not absolute", path)
	}
	root, err := p.Git.FindRoot(ctx, path)
	if err != nil {
		return task.Mistakef("%v", err)
	}
	if err := p.refuseWorkspace(root); err != nil {
		return err
	}
	for _, other := range p.Runtime.Projects() {
		if other.Path == root && other.Name != have.Name {
			return task.Mistakef("%s is the repository of project %s: name another folder, or remove that project first", root, other.Name)
		}
	}
	if p.Host.Recording { // then there are no worktrees
		have.Path = root
		return nil
	}
	var places []string
	for _, name := range have.WorkspaceNames() { // including those that no task holds
		places = append(places, p.Host.Path(name))
	}
	if err := p.Git.RepairMoved(ctx, have.Path, root, places); err != nil {
		return task.Mistakef("project %s was not changed: %v", have.Name, err)
	}
	have.Path = root
	return nil
}

// refuseWorkspace returns an error for a repository in the folder of workspaces: a task would get the checkout of its
// own project, and a clean-up would remove it.
func (p Registry) refuseWorkspace(root string) error {
	folder := p.Host.Path("")
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	if within, err := filepath.Rel(folder, root); err == nil && filepath.IsLocal(within) {
		return task.Mistakef("%s is in the folder of Orange's workspaces, which tasks take and orange workspace gc removes: give a repository outside of %s", root, folder)
	}
	return nil
}

// RequireUsableBranch returns an error that says why a task of a project cannot have a branch. The tasks of all projects of
// a repository share its branches; the runtime compares those of one project.
func (p Registry) RequireUsableBranch(of task.Project, branch string) error {
	for _, other := range p.Runtime.Projects() {
		if other.Name == of.Name {
			continue
		}
		if same, err := p.Git.SameRepository(context.Background(), other.Path, of.Path); err != nil || !same { // it may be gone
			continue
		}
		id, taken, err := p.Runtime.Store.TaskByBranch(other.Name, branch)
		if err == nil && taken {
			err = fmt.Errorf("task %s of project %s works on branch %s of the same repository already: choose another branch", id, other.Name, branch)
		}
		if err != nil {
			return err
		}
		id, taken, err = p.Runtime.Store.TaskBeside(other.Name, branch)
		if err == nil && taken {
			err = fmt.Errorf("branch %s cannot be made beside the branch of task %s of project %s, which has the same repository: choose another name", branch, id, other.Name)
		}
		if err != nil {
			return err
		}
	}
	return p.Host.RequireUsableBranch(of, branch)
}

// setIfGiven sets *have to *to, unless to is nil.
func setIfGiven[T any](have, to *T) {
	if to != nil {
		*have = *to
	}
}

// UnregisterProject implements api.Projects.
func (p Registry) UnregisterProject(ctx context.Context, name, code string) error {
	if have, ok := p.Runtime.Project(name); ok && have.Confirm.Merge != "" { // otherwise it could be added again without codes
		if err := p.Runtime.ConfirmProject(ctx, name, "removal of the project", "orange project remove "+name, code); err != nil {
			return err
		}
	}
	if err := p.Runtime.RemoveProject(name); err != nil {
		return err
	}
	return p.Trust.ForgetProject(name)
}

// Holders finds tasks and the task that holds a workspace.
type Holders interface {
	Task(id task.ID) (task.Task, bool, error)
	TaskByWorkspace(name string) (task.ID, bool, error)
}

// Places finds the task and the project that a folder belongs to.
type Places struct {
	Home     string
	Tasks    Holders
	Projects func() []task.Project
	Git      *git.Git
}

// Find returns the task and the project that a folder belongs to.
func (s Places) Find(ctx context.Context, path string) (wire.Location, error) {
	if !filepath.IsAbs(path) {
		return wire.Location{}, task.Mistakef("path %q is not absolute", path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if rest, ok := strings.CutPrefix(path, filepath.Join(s.Home, "workspaces")+string(filepath.Separator)); ok {
		name, _, _ := strings.Cut(rest, string(filepath.Separator))
		if place, ok, err := s.workspacePlace(name); ok || err != nil {
			return place, err
		}
	}
	root := library.GitRoot(path)
	place := wire.Location{GitRoot: root}
	for _, p := range s.Projects() {
		if root != "" && p.Path == root {
			place.Project = p.Name
		}
	}
	if root != "" && place.Project == "" {
		place.Project = s.projectOfWorktree(ctx, root)
		place.Worktree = place.Project != ""
	}
	return place, nil
}

// projectOfWorktree returns the project whose repository a worktree belongs to, or "" if there is none.
func (s Places) projectOfWorktree(ctx context.Context, root string) string {
	if info, err := os.Lstat(filepath.Join(root, ".git")); err != nil || info.IsDir() { // no worktree of another checkout
		return ""
	}
	for _, p := range s.Projects() {
		if same, err := s.Git.SameRepository(ctx, p.Path, root); err == nil && same {
			return p.Name
		}
	}
	return ""
}

func (s Places) workspacePlace(name string) (wire.Location, bool, error) {
	id, ok, err := s.Tasks.TaskByWorkspace(name)
	if err != nil || !ok {
		return wire.Location{}, false, err
	}
	t, ok, err := s.Tasks.Task(id)
	if err != nil || !ok {
		return wire.Location{}, false, err
	}
	place := wire.Location{Project: t.Project, Task: id}
	for _, p := range s.Projects() {
		if p.Name == t.Project {
			place.GitRoot = p.Path
		}
	}
	return place, true, nil
}
