// Package workspaces lists, makes and cleans the workspaces of the host, and knows which task holds which.
package workspaces

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"orange/internal/adapter/worktree"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/host"
	"orange/internal/runtime/local"
	"orange/internal/view/humanize"
	"orange/internal/wire"
)

// Manager hands out the workspaces of projects.
type Manager struct {
	Host     *host.Host
	Bound    func() (map[string]task.ID, error) // returns the task that holds each workspace
	Project  func(name string) (task.Project, bool)
	Projects func() []task.Project
	EachTask func(f task.Filter, yield func(fold []byte) error) error
	Log      *slog.Logger
}

// Acquire implements effect.Workspaces.
func (s Manager) Acquire(ctx context.Context, t task.Task, name string) (done local.EffectResult, err error) {
	done.Base, done.Note, err = s.Host.Acquire(ctx, t, name)
	return done, err
}

// Release implements effect.Workspaces.
func (s Manager) Release(ctx context.Context, t task.Task, name string) (done local.EffectResult, err error) {
	done.Salvage, done.Aside, done.Note, err = s.Host.Release(ctx, t, name)
	return done, err
}

// Ready implements effect.Workspaces.
func (s Manager) Ready(ctx context.Context, t task.Task) (string, error) {
	return s.Host.Ready(ctx, t)
}

// PrepareLanding implements effect.Workspaces.
func (s Manager) PrepareLanding(ctx context.Context, t task.Task) error {
	return s.Host.PrepareLanding(ctx, t)
}

// RenameBranch implements effect.Workspaces.
func (s Manager) RenameBranch(ctx context.Context, t task.Task, from string) error {
	return s.Host.RenameBranch(ctx, t, from)
}

// ListWorkspaces implements api.Workspaces.
func (s Manager) ListWorkspaces(context.Context) ([]wire.Workspace, error) {
	bound, err := s.Bound()
	if err != nil {
		return nil, err
	}
	list, err := s.Host.ListWorkspaces(s.Projects(), bound)
	out := make([]wire.Workspace, len(list))
	for i, x := range list {
		out[i] = wire.Workspace{
			Name: x.Name, Project: x.Project, Path: x.Path, Task: x.Task, Branch: x.Branch, Exists: x.Exists, Dirty: x.Dirty, Problem: x.Problem,
		}
	}
	return out, err
}

// InitPool implements api.Workspaces.
func (s Manager) InitPool(ctx context.Context, project string, count int) ([]wire.Workspace, error) {
	p, ok := s.Project(project)
	if !ok {
		return nil, task.Mistakef("project %q is not registered: see orange project list", project)
	}
	if count == 0 {
		count = p.PoolSize
	}
	if count < 0 || count > p.PoolSize {
		return nil, task.Mistakef("%d workspaces: the pool of %s has %d", count, p.Name, p.PoolSize)
	}
	if err := s.Host.MakeWorkspaces(ctx, p, count); err != nil {
		return nil, err
	}
	all, err := s.ListWorkspaces(ctx)
	var out []wire.Workspace
	for _, x := range all {
		if x.Project == p.Name {
			out = append(out, x)
		}
	}
	return out, err
}

// CleanWorkspaces implements api.Workspaces.
func (s Manager) CleanWorkspaces(ctx context.Context, request wire.CleanRequest) (removed, kept []wire.CleanedWorkspace, err error) {
	switch {
	case request.Purge && request.Older <= 0 && len(request.Folders) == 0:
		return nil, nil, task.Mistakef("purge files that were set aside: give the least age as a positive duration, or name folders")
	case !request.Purge && len(request.Folders) > 0:
		return nil, nil, task.Mistakef("folders that were set aside are only deleted with purge: set it")
	}
	bound, err := s.Bound()
	if err != nil {
		return nil, nil, err
	}
	swept, err := s.Host.CleanWorkspaces(ctx, s.Projects(), bound, worktree.Sweep{
		Dry: request.DryRun, Purge: request.Purge, Older: request.Older, Folders: request.Folders, Landing: s.landsIn,
	})
	for _, x := range swept.Removed {
		removed = append(removed, wire.CleanedWorkspace{Name: x.Name, Path: x.Path, Why: describeRemoved(x, request.DryRun)})
	}
	for _, x := range swept.Purged {
		removed = append(removed, wire.CleanedWorkspace{Name: x.Name, Path: x.Path, Why: x.Describe() + " that " + x.Verb() + " set aside " + humanize.FormatDuration(x.Age) + " ago in " + x.Path})
	}
	for _, x := range swept.Kept {
		kept = append(kept, wire.CleanedWorkspace{Name: x.Name, Path: x.Path, Why: x.Reason})
	}
	if err != nil {
		return removed, kept, err
	}
	dropped, left, err := s.cleanKeptWork(ctx, request.DryRun)
	return append(removed, dropped...), append(kept, left...), err
}

// openTasks returns the tasks that are not over.
func (s Manager) openTasks() (list []task.Task, err error) {
	err = s.EachTask(task.Filter{}, func(fold []byte) error {
		var t task.Task
		err := json.Unmarshal(fold, &t)
		list = append(list, t)
		return err
	})
	return list, err
}

// landsIn reports whether a task lands, or may still run a check, in a landing worktree.
func (s Manager) landsIn(path string) (bool, error) {
	open, err := s.openTasks()
	return slices.ContainsFunc(open, func(t task.Task) bool {
		checks := func(a task.Attempt) bool { return a.Role == workflow.CheckRole }
		return (t.MergeEffect() != nil || slices.ContainsFunc(t.Attempts, checks)) && s.Host.LandingPath(&t) == path
	}), err
}

// cleanKeptWork removes the refs of earlier landings whose tasks are over, and lists those that alone keep their commits.
func (s Manager) cleanKeptWork(ctx context.Context, dry bool) (removed, kept []wire.CleanedWorkspace, err error) {
	open, err := s.openTasks()
	if err != nil {
		return nil, nil, err
	}
	isOver := func(id task.ID) bool {
		return !slices.ContainsFunc(open, func(t task.Task) bool { return t.ID == id })
	}
	for _, p := range s.Projects() {
		dropped, left, err := s.Host.DropKeptWork(ctx, p, isOver, dry)
		for _, k := range dropped {
			removed = append(removed, wire.CleanedWorkspace{Name: k.Ref, Path: p.Path, Why: "its task is over, and a branch has the commit"})
		}
		for _, k := range left {
			kept = append(kept, wire.CleanedWorkspace{Name: k.Ref, Path: p.Path, Why: fmt.Sprintf("no branch has its commit %.12s: give it one with git branch NAME %[1]s, or delete it with git update-ref -d %s", k.Commit, k.Ref)})
		}
		if err != nil {
			s.Log.Warn("clean the work that is kept for landing", "component", "worktrees", "project", p.Name, "error", err)
		}
	}
	return removed, kept, nil
}

// describeRemoved returns what happened, or would happen, to the files of a workspace.
func describeRemoved(x worktree.Removed, dry bool) string {
	is, are := "is", "are"
	if dry {
		is, are = "would be", "would be"
	}
	var said []string
	switch {
	case x.Landing:
		return "no task lands in it, and a landing makes it again"
	case len(x.Unsaved) > 0:
		said = append(said, "its work would be kept ("+humanize.FirstFew(x.Unsaved, 5)+")")
	case x.Salvage != "":
		said = append(said, "its work "+is+" kept at "+x.Salvage)
	}
	if x.Aside != "" {
		said = append(said, "its ignored files "+are+" in "+x.Aside)
	}
	if len(said) == 0 {
		return "nothing was in it"
	}
	return strings.Join(said, "; ")
}

// ListSalvages implements api.Workspaces.
func (s Manager) ListSalvages(ctx context.Context, project string) ([]wire.Salvage, error) {
	var out []wire.Salvage
	for _, p := range s.Projects() {
		if project != "" && p.Name != project {
			continue
		}
		list, err := s.Host.ListSalvages(ctx, p)
		if err != nil && project != "" {
			return nil, err
		}
		if err != nil { // the salvages of other projects can still be listed
			s.Log.Warn("list salvaged work", "component", "worktrees", "project", p.Name, "error", err)
		}
		for _, x := range list {
			v := wire.Salvage{Ref: x.Ref, Project: p.Name, Task: task.ID(x.Task), At: x.Time, Commit: x.Commit, Files: len(x.Files), Staged: x.Staged}
			for _, sub := range x.Submodules {
				v.Submodules = append(v.Submodules, wire.SalvagedSubmodule(sub))
			}
			out = append(out, v)
		}
	}
	return out, nil
}
