package server

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/adapter/harness"
	"orange/internal/adapter/worktree"
	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/runtime/agents"
	"orange/internal/runtime/local"
	"orange/internal/view/humanize"
	"orange/internal/wire"
)

// worktrees hands out the workspaces of projects.
type worktrees struct {
	s       *Server
	pool    *worktree.Pool
	exclude []string // files of harnesses that are nobody's work
}

func (s *Server) newWorktrees() worktrees {
	return worktrees{s: s, pool: worktree.New(filepath.Join(s.cfg.Home, "workspaces"), s.git), exclude: harness.ExcludedPaths()}
}

// poolSlot describes a workspace as the pool wants it.
func (w worktrees) poolSlot(t *task.Task, name string) (worktree.Slot, error) {
	p, ok := w.s.runtime.Project(t.Project)
	if !ok {
		return worktree.Slot{}, task.Mistakef("project %s is not registered: orange project add", t.Project)
	}
	return worktree.Slot{
		Project: p, Name: name, Task: t.ID, Branch: t.Branch, Base: t.Base, Exclude: w.exclude, Ours: harness.HoldsOnlyOurs,
		TaskFile: filepath.Join(w.s.folders.Path(t.Project, t.ID), "TASK.md"), Setup: p.Setup, Teardown: p.Teardown,
		Env: append(inPath(config.ToolEnv(config.Environ()), w.s.self), agents.CeilingVariable+"="+filepath.Dir(w.pool.Path(name))),
	}, nil
}

// notedSlot is slot for one that is told what a person should know about: it is logged, and
// returned as one note.
func (w worktrees) notedSlot(t *task.Task, name string) (s worktree.Slot, note func() string, err error) {
	var texts []string
	s, err = w.poolSlot(t, name)
	s.Note = func(text string) {
		w.s.log.Warn(text, "component", "worktrees", "task", t.ID)
		texts = append(texts, text)
	}
	return s, func() string { return strings.Join(texts, "; ") }, err
}

// Acquire implements effect.Workspaces.
func (w worktrees) Acquire(ctx context.Context, t task.Task, name string) (done local.EffectResult, err error) {
	s, note, err := w.notedSlot(&t, name)
	if err != nil {
		return done, err
	}
	err = w.pool.Acquire(ctx, s)
	if done.Note = note(); err != nil {
		return done, err
	}
	done.Base, _, err = w.s.git.ForkPoint(ctx, s.Project.Path, t.Branch, s.Project.DefaultBranch)
	if err != nil { // the work can begin without
		w.s.log.Warn("find where a branch begins", "component", "worktrees", "task", t.ID, "error", err)
	}
	return done, nil
}

// Release implements effect.Workspaces.
func (w worktrees) Release(ctx context.Context, t task.Task, name string) (done local.EffectResult, err error) {
	s, note, err := w.notedSlot(&t, name)
	if err != nil {
		return done, err
	}
	done.Salvage, err = w.pool.Release(ctx, s)
	done.Note = note()
	return done, err
}

// RenameBranch implements effect.Workspaces.
func (w worktrees) RenameBranch(ctx context.Context, t task.Task, from string) error {
	return w.s.git.RenameBranch(ctx, w.pool.Path(t.Workspace), from, t.Branch)
}

// Path implements agents.Workspaces.
func (w worktrees) Path(name string) string { return w.pool.Path(name) }

// Ready implements effect.Workspaces.
func (w worktrees) Ready(ctx context.Context, t task.Task) (string, error) {
	s, note, err := w.notedSlot(&t, t.Workspace)
	if err != nil {
		return "", err
	}
	s.Busy = slices.ContainsFunc(t.Attempts, func(a task.Attempt) bool { return a.Running })
	err = w.pool.SyncTaskFile(ctx, s)
	return note(), err
}

// CheckWorkspace implements local.TaskFileSync. Until a new branch is checked out the old one counts.
func (w worktrees) CheckWorkspace(ctx context.Context, t *task.Task) error {
	s, err := w.poolSlot(t, t.Workspace)
	if err != nil {
		return err
	}
	wrong := w.pool.CheckWorkspace(ctx, s)
	for _, e := range t.Pending {
		if e.Do == workflow.RenameBranch && wrong != nil {
			s.Branch = e.Arg
			wrong = w.pool.CheckWorkspace(ctx, s)
		}
	}
	return wrong
}

// SyncTaskFile implements local.TaskFileSync.
func (w worktrees) SyncTaskFile(ctx context.Context, t *task.Task) error {
	s, err := w.poolSlot(t, t.Workspace)
	if err != nil {
		return err
	}
	return w.pool.RestoreTaskLink(ctx, s)
}

// requireUsableBranch says why a task of a project cannot have a branch.
func (w worktrees) requireUsableBranch(p task.Project, branch string) error {
	return w.s.git.CheckUsable(context.Background(), p.Path, branch, w.pool.Path(""))
}

// headCommit is where the branch of a task stands.
func (w worktrees) headCommit(t *task.Task) string {
	if t.Workspace == "" {
		return ""
	}
	commit, _, err := w.pool.Head(t.Workspace)
	if err != nil {
		return ""
	}
	return commit
}

// ListWorkspaces implements api.Workspaces.
func (w worktrees) ListWorkspaces(context.Context) ([]wire.Workspace, error) {
	bound, err := w.s.store.BoundWorkspaces()
	if err != nil {
		return nil, err
	}
	list, err := w.pool.ListWorkspaces(w.s.runtime.Projects(), bound)
	out := make([]wire.Workspace, len(list))
	for i, x := range list {
		out[i] = wire.Workspace{
			Name: x.Name, Project: x.Project, Path: x.Path, Task: x.Task, Branch: x.Branch, Exists: x.Exists, Dirty: x.Dirty, Problem: x.Problem,
		}
	}
	return out, err
}

// InitPool implements api.Workspaces.
func (w worktrees) InitPool(ctx context.Context, project string, count int) ([]wire.Workspace, error) {
	p, ok := w.s.runtime.Project(project)
	if !ok {
		return nil, task.Mistakef("project %q is not registered: see orange project list", project)
	}
	if count == 0 {
		count = p.PoolSize
	}
	if count < 0 || count > p.PoolSize {
		return nil, task.Mistakef("%d workspaces: the pool of %s has %d", count, p.Name, p.PoolSize)
	}
	if err := w.pool.MakeWorkspaces(ctx, p, count); err != nil {
		return nil, err
	}
	all, err := w.ListWorkspaces(ctx)
	var out []wire.Workspace
	for _, x := range all {
		if x.Project == p.Name {
			out = append(out, x)
		}
	}
	return out, err
}

// CleanWorkspaces implements api.Workspaces.
func (w worktrees) CleanWorkspaces(ctx context.Context, wish wire.CleanWish) (removed, kept []wire.Cleaned, err error) {
	if wish.Purge && wish.Older <= 0 {
		return nil, nil, task.Mistakef("purge what was set aside: say how long ago at least, as a positive time")
	}
	bound, err := w.s.store.BoundWorkspaces()
	if err != nil {
		return nil, nil, err
	}
	swept, err := w.pool.GC(ctx, w.s.runtime.Projects(), bound, worktree.Sweep{Dry: wish.DryRun, Purge: wish.Purge, Older: wish.Older})
	for _, x := range swept.Removed {
		removed = append(removed, wire.Cleaned{Name: x.Name, Path: x.Path, Why: describeRemoved(x, wish.DryRun)})
	}
	for _, x := range swept.Purged {
		removed = append(removed, wire.Cleaned{Name: x.Name, Path: x.Path, Why: "files that were set aside " + humanize.FormatDuration(x.Age) + " ago in " + x.Path})
	}
	for _, x := range swept.Kept {
		kept = append(kept, wire.Cleaned{Name: x.Name, Path: x.Path, Why: x.Reason})
	}
	return removed, kept, err
}

// describeRemoved says what became of what was in a workspace, or would.
func describeRemoved(x worktree.Removed, dry bool) string {
	is, are := "is", "are"
	if dry {
		is, are = "would be", "would be"
	}
	var said []string
	switch {
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
func (w worktrees) ListSalvages(ctx context.Context, project string) ([]wire.Salvage, error) {
	var out []wire.Salvage
	for _, p := range w.s.runtime.Projects() {
		if project != "" && p.Name != project {
			continue
		}
		list, err := w.s.git.ListSalvages(ctx, p.Path)
		if err != nil && project != "" {
			return nil, err
		}
		if err != nil { // the others' can be listed
			w.s.log.Warn("list salvaged work", "component", "worktrees", "project", p.Name, "error", err)
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
