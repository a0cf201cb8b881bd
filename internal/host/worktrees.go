package host

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/adapter/git"
	"orange/internal/adapter/harness"
	"orange/internal/adapter/worktree"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/host/agents"
)

// poolSlot describes a workspace of a task for the pool.
func (h *Host) poolSlot(t *task.Task, name string) (worktree.Slot, error) {
	p, ok := h.Project(t.Project)
	if !ok {
		return worktree.Slot{}, task.Mistakef("project %s is not registered: orange project add", t.Project)
	}
	return worktree.Slot{
		Project: p.ForTask(t), Name: name, Task: t.ID, Branch: t.Branch, Base: t.Base, Exclude: h.exclude, Ours: harness.HoldsOnlyOurs,
		TaskFile: filepath.Join(h.Folders.Path(t.Project, t.ID), "TASK.md"), Setup: p.Setup, Teardown: p.Teardown,
		Env: append(inPath(h.ToolEnv(), h.Self), agents.CeilingVariable+"="+filepath.Dir(h.pool.Path(name))),
	}, nil
}

// holdsWorkspace reports whether a task holds a workspace, according to its record.
func (h *Host) holdsWorkspace(id task.ID, workspace string) (bool, error) {
	t, known, err := h.Task(id)
	return known && !t.Deleted && t.Workspace == workspace, err
}

// notedSlot is poolSlot with a Note that logs what a person should know. The function note returns these texts
// as one.
func (h *Host) notedSlot(t *task.Task, name string) (s worktree.Slot, note func() string, err error) {
	var texts []string
	s, err = h.poolSlot(t, name)
	s.Note = func(text string) {
		h.Log.Warn(text, "component", "worktrees", "task", t.ID)
		texts = append(texts, text)
	}
	return s, func() string { return strings.Join(texts, "; ") }, err
}

// Acquire makes a workspace the worktree of a task. It returns the commit at which the task's branch left
// the default branch, and a note of what a person should know about.
func (h *Host) Acquire(ctx context.Context, t task.Task, name string) (base, note string, err error) {
	s, noted, err := h.notedSlot(&t, name)
	if err != nil {
		return "", "", err
	}
	err = h.pool.Acquire(ctx, s)
	if note = noted(); err != nil {
		return "", note, err
	}
	base, _, err = h.Git.ForkPoint(ctx, s.Project.Path, t.Branch, s.Project.DefaultBranch)
	if err != nil { // the work can begin without it
		h.Log.Warn("find where a branch begins", "component", "worktrees", "task", t.ID, "error", err)
	}
	return base, note, nil
}

// Release takes a workspace back from a task. It returns the ref at which it saved uncommitted work, if there was
// any, the folders with work that git could not save, and a note of what a person should know about.
func (h *Host) Release(ctx context.Context, t task.Task, name string) (salvage string, aside []string, note string, err error) {
	s, noted, err := h.notedSlot(&t, name)
	if err != nil {
		return "", nil, "", err
	}
	s.Aside = func(folder string) { aside = append(aside, folder) }
	salvage, err = h.pool.Release(ctx, s)
	if _, _, wrong := h.Git.DropKeptWork(ctx, s.Project.Path, func(id task.ID) bool { return id == t.ID }, false); wrong != nil {
		h.Log.Warn("remove refs of earlier landings", "component", "worktrees", "task", t.ID, "error", wrong)
	}
	return salvage, aside, noted(), err
}

// DropKeptWork removes the refs of earlier landings in a project's repository that are of no more use: those of tasks that
// are over whose commits something else keeps too.
func (h *Host) DropKeptWork(ctx context.Context, p task.Project, isOver func(task.ID) bool, dry bool) (dropped, left []git.KeptWork, err error) {
	return h.Git.DropKeptWork(ctx, p.Path, isOver, dry)
}

// RenameBranch implements effect.Workspaces.
func (h *Host) RenameBranch(ctx context.Context, t task.Task, from string) error {
	return h.Git.RenameBranch(ctx, h.pool.Path(t.Workspace), from, t.Branch)
}

// PrepareLanding implements effect.Workspaces.
func (h *Host) PrepareLanding(ctx context.Context, t task.Task) error {
	s, _, err := h.notedSlot(&t, t.Workspace)
	if err != nil {
		return err
	}
	if !t.Landing.InProgress() {
		return task.Mistakef("the task has no candidate to check")
	}
	return h.pool.PrepareLanding(ctx, s, t.Landing.Commit)
}

// LandingPath implements agents.Workspaces.
func (h *Host) LandingPath(t *task.Task) string {
	p, _ := h.Project(t.Project)
	return h.pool.LandingPath(p.ForTask(t))
}

// Path implements agents.Workspaces.
func (h *Host) Path(name string) string { return h.pool.Path(name) }

// Ready implements effect.Workspaces.
func (h *Host) Ready(ctx context.Context, t task.Task) (string, error) {
	s, note, err := h.notedSlot(&t, t.Workspace)
	if err != nil {
		return "", err
	}
	s.Busy = slices.ContainsFunc(t.Attempts, func(a task.Attempt) bool { return a.Running })
	err = h.pool.SyncTaskFile(ctx, s)
	return note(), err
}

// SyncTaskFile implements local.TaskFileSync. While a branch is being renamed, the old name is accepted too.
func (h *Host) SyncTaskFile(ctx context.Context, t *task.Task) (commit string, wrong error) {
	s, _, err := h.notedSlot(t, t.Workspace)
	if err != nil {
		return "", err
	}
	for _, e := range t.Pending {
		if e.Do == workflow.RenameBranch {
			s.Former = e.Arg
		}
	}
	return h.pool.InspectWorkspace(ctx, s)
}

// RequireUsableBranch returns an error that says why a task of a project cannot have a branch, or why it cannot begin at
// the project's default branch.
func (h *Host) RequireUsableBranch(p task.Project, branch string) error {
	if p.DefaultBranch != "" {
		if err := h.Git.CheckBase(context.Background(), p.Path, p.DefaultBranch); err != nil {
			return err
		}
	}
	return h.Git.CheckUsable(context.Background(), p.Path, branch, h.pool.Path(""))
}

// HasBranch reports whether the repository of a project has a branch, no matter who created it.
func (h *Host) HasBranch(p task.Project, branch string) (bool, error) {
	return h.Git.HasBranch(context.Background(), p.Path, branch)
}

// WorktreeOf returns the folder of a task's workspace, or "" if it has none.
func (h *Host) WorktreeOf(t *task.Task) string {
	if t.Workspace == "" || h.Recording {
		return ""
	}
	return h.Path(t.Workspace)
}

// ExistingWorktree returns the folder in which the agents of a task work, or "" if there is none.
func (h *Host) ExistingWorktree(t *task.Task) string {
	dir := h.WorktreeOf(t)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// ListWorkspaces lists the workspaces of projects. Bound maps the name of a workspace to the task that holds it.
func (h *Host) ListWorkspaces(projects []task.Project, bound map[string]task.ID) ([]worktree.Workspace, error) {
	return h.pool.ListWorkspaces(projects, bound)
}

// MakeWorkspaces makes the first workspaces of a project's pool.
func (h *Host) MakeWorkspaces(ctx context.Context, p task.Project, count int) error {
	return h.pool.MakeWorkspaces(ctx, p, count)
}

// CleanWorkspaces removes the workspaces that no task holds.
func (h *Host) CleanWorkspaces(ctx context.Context, projects []task.Project, bound map[string]task.ID, how worktree.Sweep) (worktree.Swept, error) {
	return h.pool.GC(ctx, projects, bound, how)
}

// ListSalvages lists the salvages in a project's repository.
func (h *Host) ListSalvages(ctx context.Context, p task.Project) ([]git.Salvage, error) {
	return h.Git.ListSalvages(ctx, p.Path)
}
