package server

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"orange/internal/core/task"
	"orange/internal/wire"
)

// projects registers repositories.
type projects struct{ s *Server }

// Projects implements api.Projects.
func (p projects) Projects() []task.Project { return p.s.runtime.Projects() }

// RegisterProject implements api.Projects.
func (p projects) RegisterProject(ctx context.Context, given task.Project) (task.Project, error) {
	if !filepath.IsAbs(given.Path) {
		return given, task.Mistakef("path %q is not absolute", given.Path)
	}
	root, err := p.s.git.FindRoot(ctx, given.Path)
	if err != nil {
		return given, task.Mistakef("%v", err)
	}
	given.Path = root
	given.Name = cmp.Or(given.Name, filepath.Base(root))
	if given.PoolSize == 0 {
		given.PoolSize = max(p.s.cfg.PoolSize, 0)
	}
	if given.PoolSize == 0 {
		given.PoolSize = task.DefaultPoolSize
	}
	if given.DefaultBranch == "" {
		if given.DefaultBranch, err = p.s.git.DefaultBranch(ctx, root); err != nil {
			return given, task.Mistakef("%v", err)
		}
	}
	if given.Confirm.Merge != "" {
		if err := p.s.runtime.CanConfirm(given.Name); err != nil {
			return given, err
		}
	}
	if err := p.s.runtime.AddProject(given); err != nil {
		return given, err
	}
	if _, err = p.s.trust.AcceptPrograms(ctx, given); err != nil { // later it would be given trust that nobody saw
		return given, errors.Join(err, p.s.runtime.RemoveProject(given.Name), p.s.trust.ForgetProject(given.Name))
	}
	return given, nil
}

// ChangeProject implements api.Projects.
func (p projects) ChangeProject(ctx context.Context, name string, c wire.ProjectChange) (task.Project, error) {
	have, ok := p.s.runtime.Project(name)
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
	setIfGiven(&have.PoolSize, c.PoolSize)
	setIfGiven(&have.Workflow, c.Workflow)
	setIfGiven(&have.Delivery, c.Delivery)
	setIfGiven(&have.Setup, c.Setup)
	setIfGiven(&have.Teardown, c.Teardown)
	setIfGiven(&have.Budget, c.Budget)
	setIfGiven(&have.Forge, c.Forge)
	setIfGiven(&have.Confirm, c.Confirm)
	if c.Vars != nil {
		have.Vars = have.Vars.WithChanges(*c.Vars)
	}
	if err := p.s.runtime.UpdateProject(have); err != nil {
		return have, err
	}
	if c.TrustGit != nil && *c.TrustGit {
		_, err := p.s.trust.AcceptPrograms(ctx, have, p.s.trust.ExistingWorktrees(have)...)
		return have, err
	}
	p.s.loadTrust(ctx)
	return have, nil
}

// confirmUpdate makes sure that codes can be shown before they are asked for, and that nobody
// stops asking for them without one.
func (p projects) confirmUpdate(ctx context.Context, have *task.Project, c *wire.ProjectChange) error {
	switch {
	case have.Confirm.Merge != "" && c.Path != nil && *c.Path != have.Path: // its folder could then be added without
		return p.s.runtime.ConfirmProject(ctx, have.Name, "change of the path", "orange project update "+have.Name+" --path "+*c.Path, c.Code)
	case c.Confirm == nil || *c.Confirm == have.Confirm:
		return nil
	case have.Confirm.Merge == "":
		return p.s.runtime.CanConfirm(have.Name)
	}
	return p.s.runtime.ConfirmProject(ctx, have.Name, "change of its --confirm", "orange project update "+have.Name+" --confirm merge=none", c.Code)
}

// moveRepository follows a repository that was moved. Its worktrees point to where it was, and it
// points to them: both are repaired.
func (p projects) moveRepository(ctx context.Context, have *task.Project, path string) error {
	if !filepath.IsAbs(path) {
		return task.Mistakef("path %q is not absolute", path)
	}
	root, err := p.s.git.FindRoot(ctx, path)
	if err != nil {
		return task.Mistakef("%v", err)
	}
	for _, other := range p.s.runtime.Projects() {
		if other.Path == root && other.Name != have.Name {
			return task.Mistakef("%s is the repository of project %s: name another folder, or remove that project first", root, other.Name)
		}
	}
	if p.s.cfg.Record { // effects are only recorded: there are no worktrees
		have.Path = root
		return nil
	}
	var places []string
	for _, name := range have.WorkspaceNames() { // also those that no task holds
		places = append(places, p.s.host.Path(name))
	}
	if err := p.s.git.RepairMoved(ctx, have.Path, root, places); err != nil {
		return task.Mistakef("project %s was not changed: %v", have.Name, err)
	}
	have.Path = root
	return nil
}

// setIfGiven changes a value if there is a new one.
func setIfGiven[T any](have, to *T) {
	if to != nil {
		*have = *to
	}
}

// UnregisterProject implements api.Projects.
func (p projects) UnregisterProject(ctx context.Context, name, code string) error {
	if have, ok := p.s.runtime.Project(name); ok && have.Confirm.Merge != "" { // else it could be added again without
		if err := p.s.runtime.ConfirmProject(ctx, name, "removal of the project", "orange project remove "+name, code); err != nil {
			return err
		}
	}
	if err := p.s.runtime.RemoveProject(name); err != nil {
		return err
	}
	return p.s.trust.ForgetProject(name)
}

// findPlace says which task and project a folder belongs to.
func (s *Server) findPlace(_ context.Context, path string) (wire.Place, error) {
	if !filepath.IsAbs(path) {
		return wire.Place{}, task.Mistakef("path %q is not absolute", path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if rest, ok := strings.CutPrefix(path, filepath.Join(s.cfg.Home, "workspaces")+string(filepath.Separator)); ok {
		name, _, _ := strings.Cut(rest, string(filepath.Separator))
		if place, ok, err := s.workspacePlace(name); ok || err != nil {
			return place, err
		}
	}
	root := gitRoot(path)
	place := wire.Place{GitRoot: root}
	for _, p := range s.runtime.Projects() {
		if root != "" && p.Path == root {
			place.Project = p.Name
		}
	}
	return place, nil
}

func (s *Server) workspacePlace(name string) (wire.Place, bool, error) {
	id, ok, err := s.store.TaskByWorkspace(name)
	if err != nil || !ok {
		return wire.Place{}, false, err
	}
	t, ok, err := s.store.Task(id)
	if err != nil || !ok {
		return wire.Place{}, false, err
	}
	p, _ := s.runtime.Project(t.Project)
	return wire.Place{Project: t.Project, Task: id, GitRoot: p.Path}, true, nil
}
