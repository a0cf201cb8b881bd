package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/core/task"
)

// A workspace is a slot that is being worked on.
type workspace struct {
	Slot
	pool *Pool
	path string
	git  string  // administrative folder; "" if there is no worktree
	now  binding // the task it is bound to, if any
	last binding // the task that had it before
	made bool    // it was created just now
	base string  // the commit at which new work begins, once it is known
}

// openWorkspace reads the state of a workspace.
func (p *Pool) openWorkspace(ctx context.Context, s Slot) (*workspace, error) {
	w := &workspace{Slot: s, pool: p, path: p.Path(s.Name)}
	var err error
	if w.git, err = p.git.RegisteredDir(ctx, s.Project.Path, w.path); err != nil {
		return nil, err
	}
	if w.now, err = readBinding(w.git, bindingName); err != nil {
		return w, err
	}
	w.last, err = readBinding(w.git, lastName)
	return w, err
}

// openForUse is openWorkspace for a task to which the record gives the workspace. It moves a file
// of a binding that cannot be understood out of the way, and reports whether one was the binding.
func (p *Pool) openForUse(ctx context.Context, s Slot) (w *workspace, lost bool, err error) {
	for {
		w, err = p.openWorkspace(ctx, s)
		var damaged *damagedError
		if !errors.As(err, &damaged) || p.Holds == nil {
			return w, lost, err
		}
		if err := os.Rename(damaged.path, damaged.path+".damaged"); err != nil {
			return nil, lost, fmt.Errorf("move %s aside: %w", damaged.path, err)
		}
		w.reportNote("the marker of workspace %s could not be read: it is %s.damaged now", w.Name, damaged.path)
		lost = lost || filepath.Base(damaged.path) == bindingName
	}
}

// baseCommit returns the commit of the default branch.
func (w *workspace) baseCommit(ctx context.Context) (commit string, err error) {
	if w.base == "" {
		w.base, err = w.pool.git.DefaultCommit(ctx, w.Project.Path, w.Project.DefaultBranch)
	}
	return w.base, err
}

func (w *workspace) exists() bool {
	_, err := os.Lstat(w.path)
	return err == nil
}

// isHeld reports whether the task that the marker names holds the workspace. The marker may name a
// task that does not: the store was lost or restored, or the task is over.
func (w *workspace) isHeld() (bool, error) {
	if w.now.Task == "" || w.pool.Holds == nil {
		return w.now.Task != "", nil
	}
	held, err := w.pool.Holds(w.now.Task, w.Name)
	if err != nil {
		return false, fmt.Errorf("find out whether task %s holds workspace %s: %w", w.now.Task, w.Name, err)
	}
	return held, nil
}

// retireUnheld turns the binding of a task that does not hold the workspace into the last one, so
// that what the task left is saved under its id.
func (w *workspace) retireUnheld() error {
	if err := retireBinding(w.git); err != nil {
		return fmt.Errorf("free workspace %s from task %s, which does not hold it: %w", w.Name, w.now.Task, err)
	}
	w.reportNote("workspace %s was marked as that of task %s, which does not hold it: what that task left there is kept under its id: see orange workspace salvage and orange workspace gc", w.Name, w.now.Task)
	w.last, w.now = w.now, binding{}
	return nil
}

// salvageName returns the name under which leftovers are saved: that of the task that left
// them.
func (w *workspace) salvageName() string {
	if w.now.Task != "" {
		return string(w.now.Task)
	}
	return w.earlierSalvageName()
}

// earlierSalvageName is salvageName for what was there before the task that has the workspace
// now.
func (w *workspace) earlierSalvageName() string {
	if w.last.Task != "" {
		return string(w.last.Task)
	}
	return strings.ReplaceAll(w.Name, "..", "__") // a ref name must not contain ".."
}

// Acquire makes the workspace ready for the task: it creates the worktree if there is none,
// saves what an earlier task has left, binds the workspace, checks out the branch, and adds
// TASK.md and the files that the project wants copied. It runs the setup command last. It never
// takes over a workspace that another task holds.
func (p *Pool) Acquire(ctx context.Context, s Slot) error { return p.acquireSlot(ctx, s, false) }

// acquireSlot is Acquire, or SyncTaskFile if the task already has the workspace.
func (p *Pool) acquireSlot(ctx context.Context, s Slot, has bool) error {
	if err := s.checkSlot(); err != nil {
		return err
	}
	defer p.locks.Lock(s.Name)()
	w, _, err := p.openForUse(ctx, s)
	if err != nil {
		return err
	}
	if w.now.Task != "" && w.now.Task != s.Task {
		held, err := w.isHeld()
		if err != nil {
			return err
		}
		if held {
			return fmt.Errorf("workspace %s is bound to task %s: finish or cancel that task first", s.Name, w.now.Task)
		}
		if err := w.retireUnheld(); err != nil {
			return err
		}
		has = false // what is there is not the work of the task
	}
	if err := w.removeObstacles(ctx); err != nil {
		return err
	}
	if has && w.now.Task == "" {
		w.now.Task = s.Task // what is there belongs to the task, even if nothing there names it
	}
	if ready, err := w.restoreBranch(ctx); ready || err != nil {
		return err
	}
	gone := !w.isAttached(ctx)
	if err := w.prepareForTask(ctx); err != nil {
		return err
	}
	if has && gone {
		w.reportNote("workspace %s was made again at the last commit of %s", w.Name, w.Branch)
	}
	return nil
}

// prepareForTask brings a workspace into the state in which the task gets it.
func (w *workspace) prepareForTask(ctx context.Context) error {
	return w.pool.runSteps(
		step{"make", func() error { return w.makeWorktree(ctx) }},
		step{"clear", func() error { return w.clearLeftovers(ctx) }},
		step{"bind", w.bindTask},
		step{"exclude", w.excludeFiles},
		step{"switch", func() error { return w.checkOut(ctx) }},
		step{"submodules", func() error { w.initSubmodules(ctx); return nil }},
		step{"link", func() error { return w.linkTaskFile(ctx) }},
		step{"copy", func() error { return w.copyIncluded(ctx) }},
		step{"setup", func() error { return w.runCommand(ctx, "setup", w.Setup) }},
		step{"ready", w.markReady},
		step{"acquired", func() error { return nil }},
	)
}

// initSubmodules checks out the submodules. Work can begin without them, so a failure is a note.
func (w *workspace) initSubmodules(ctx context.Context) {
	const do = "run git submodule update --init there, or give the project a set-up command that does"
	left, err := w.pool.git.InitSubmodules(ctx, w.path, w.git)
	if err != nil {
		w.reportNote("submodules of workspace %s are not checked out: %v: %s", w.Name, err, do)
	}
	if len(left) > 0 {
		w.reportNote("submodules of workspace %s are not checked out, because an earlier task left their repositories: %s: %s", w.Name, strings.Join(left, ", "), do)
	}
}

// MakeWorkspaces creates the first n workspaces of a project in advance.
func (p *Pool) MakeWorkspaces(ctx context.Context, project task.Project, n int) error {
	if n < 1 || n > task.MaxPoolSize {
		return fmt.Errorf("create %d workspaces: give a positive integer, at most %d", n, task.MaxPoolSize)
	}
	project.PoolSize = n
	if err := project.Check(); err != nil {
		return err
	}
	for _, name := range project.WorkspaceNames() {
		if err := p.makeWorkspace(ctx, Slot{Project: project, Name: name}); err != nil {
			return err
		}
	}
	return nil
}

func (p *Pool) makeWorkspace(ctx context.Context, s Slot) error {
	defer p.locks.Lock(s.Name)()
	w, err := p.openWorkspace(ctx, s)
	if err != nil || w.isAttached(ctx) {
		return err
	}
	held, err := w.isHeld()
	if err != nil {
		return err
	}
	if held {
		return fmt.Errorf("workspace %s is gone and bound to task %s: Orange makes it again when the task needs it", s.Name, w.now.Task)
	}
	return w.makeWorktree(ctx)
}

// makeWorktree creates the worktree if there is none. It moves a folder that is not a worktree
// aside. If the folder of a registered worktree is gone, it saves what the worktree has left in
// the repository.
func (w *workspace) makeWorktree(ctx context.Context) error {
	if w.isAttached(ctx) {
		return nil
	}
	commit, err := w.baseCommit(ctx)
	if err != nil {
		return err
	}
	if err := w.moveFolder("is not a worktree of " + w.Project.Path); err != nil {
		return err
	}
	if w.git != "" {
		if _, err := w.forgetWorktree(ctx); err != nil {
			return err
		}
		w.now = binding{}
	}
	w.made = !w.exists()
	if err := w.pool.git.AddWorktree(ctx, w.Project.Path, w.path, commit); err != nil {
		return err
	}
	w.git, err = w.pool.git.RegisteredDir(ctx, w.Project.Path, w.path)
	if err == nil && w.git == "" {
		err = fmt.Errorf("%s was made and is not registered: run git -C %s worktree repair %s", w.path, w.Project.Path, w.path)
	}
	return err
}

// clearLeftovers clears a workspace that is not bound yet. It clears a workspace that is
// already bound to the task only if the task's branch is not checked out, because then a
// checkout was interrupted.
func (w *workspace) clearLeftovers(ctx context.Context) error {
	if w.made {
		return nil
	}
	if w.now.Task != "" {
		_, branch, err := w.pool.git.Head(w.path)
		if err != nil || branch == w.Branch {
			return err
		}
	}
	if clear, err := w.isClear(ctx); clear || err != nil && !gitRefused(err) {
		return err
	}
	err := w.pool.runSteps(w.clearingSteps(ctx, w.salvageName())...)
	if !gitRefused(err) || w.now.Task != "" {
		// What was there before the task is cleared already. Giving up the folder at each retry
		// would only move more copies of the repository aside.
		return err
	}
	if _, err := w.giveUp(ctx, err); err != nil {
		return err
	}
	w.git, w.now = "", binding{}
	return w.makeWorktree(ctx)
}

// isClear reports whether nothing has to be cleared: the workspace is as Release leaves it, at
// the commit where new work begins.
func (w *workspace) isClear(ctx context.Context) (bool, error) {
	for _, file := range append([]string{TaskFileName}, w.Exclude...) {
		if _, err := os.Lstat(filepath.Join(w.path, file)); err == nil {
			return false, nil
		}
	}
	commit, err := w.baseCommit(ctx)
	if err != nil {
		return false, err
	}
	return w.pool.git.IsPristine(ctx, w.path, commit)
}

func (w *workspace) bindTask() error {
	if w.now.Task == w.Task && w.now.Branch == w.Branch {
		return nil
	}
	w.now.Task, w.now.Branch = w.Task, w.Branch
	return w.saveBinding()
}

func (w *workspace) saveBinding() error {
	if err := w.now.write(w.git); err != nil {
		return fmt.Errorf("bind workspace %s: %w", w.Name, err)
	}
	return nil
}

func (w *workspace) markReady() error {
	w.now.Ready, w.now.Cleaned = true, false
	return w.saveBinding()
}

func (w *workspace) checkOut(ctx context.Context) error {
	base := w.Base
	if base == "" {
		var err error
		if base, err = w.baseCommit(ctx); err != nil {
			return err
		}
	}
	return w.runUnblocked(w.earlierSalvageName(), func() error { return w.pool.git.SwitchBranch(ctx, w.path, w.Branch, base) })
}

// runUnblocked runs do, which may be blocked by ignored files in the worktree or in its
// submodules. It sets those files aside and tries again.
func (w *workspace) runUnblocked(keeper string, do func() error) error {
	var before []string
	for {
		err := do()
		var blocked interface{ BlockingFiles() []string }
		if !errors.As(err, &blocked) || slices.Equal(blocked.BlockingFiles(), before) {
			return err
		}
		before = blocked.BlockingFiles()
		if err := w.setAside(keeper, before); err != nil {
			return err
		}
	}
}
