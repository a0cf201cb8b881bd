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

// A workspace is a slot at work.
type workspace struct {
	Slot
	pool *Pool
	path string
	git  string  // administrative folder, "" if there is no worktree
	now  binding // the task it is bound to, if any
	last binding // the task that had it before
	made bool    // it was made just now
	base string  // commit at which new work begins, once it is known
}

// open looks at a workspace.
func (p *Pool) open(ctx context.Context, s Slot) (*workspace, error) {
	w := &workspace{Slot: s, pool: p, path: p.Path(s.Name)}
	var err error
	if w.git, err = p.git.Registered(ctx, s.Project.Path, w.path); err != nil {
		return nil, err
	}
	if w.now, err = readBinding(w.git, bindingName); err != nil {
		return nil, err
	}
	w.last, err = readBinding(w.git, lastName)
	return w, err
}

// begin is the commit of the default branch.
func (w *workspace) begin(ctx context.Context) (commit string, err error) {
	if w.base == "" {
		w.base, err = w.pool.git.Default(ctx, w.Project.Path, w.Project.DefaultBranch)
	}
	return w.base, err
}

func (w *workspace) exists() bool {
	_, err := os.Lstat(w.path)
	return err == nil
}

// keeper is the name under which leftovers are kept: that of the task that made them.
func (w *workspace) keeper() string {
	if w.now.Task != "" {
		return string(w.now.Task)
	}
	return w.earlier()
}

// earlier is keeper for what was there before the task that has the workspace now.
func (w *workspace) earlier() string {
	if w.last.Task != "" {
		return string(w.last.Task)
	}
	return strings.ReplaceAll(w.Name, "..", "__") // which no ref may have
}

// Acquire makes the workspace ready for the task: it makes the worktree if there is none,
// keeps what an earlier task has left, binds it, checks the branch out, and puts TASK.md
// and the files that the project wants copied there. The setup command runs last. A
// workspace that is bound to another task is never taken over.
func (p *Pool) Acquire(ctx context.Context, s Slot) error { return p.acquire(ctx, s, false) }

// acquire is Acquire, and Repair if the task has the workspace already.
func (p *Pool) acquire(ctx context.Context, s Slot, has bool) error {
	if err := s.check(); err != nil {
		return err
	}
	defer p.hold(s.Name)()
	w, err := p.open(ctx, s)
	if err != nil {
		return err
	}
	if w.now.Task != "" && w.now.Task != s.Task {
		return fmt.Errorf("workspace %s is bound to task %s: finish or cancel that task first", s.Name, w.now.Task)
	}
	if err := w.removeLocks(); err != nil {
		return err
	}
	if has && w.now.Task == "" {
		w.now.Task = s.Task // what is there is the task's, even if nothing there says so
	}
	if ready, err := w.restore(ctx); ready || err != nil {
		return err
	}
	gone := !w.attached(ctx)
	if err := w.prepare(ctx); err != nil {
		return err
	}
	if has && gone {
		w.note("workspace %s was made again at the last commit of %s", w.Name, w.Branch)
	}
	return nil
}

// prepare does what a workspace needs to be handed to the task.
func (w *workspace) prepare(ctx context.Context) error {
	return w.pool.run(
		step{"make", func() error { return w.make(ctx) }},
		step{"clear", func() error { return w.clearLeftovers(ctx) }},
		step{"bind", w.bind},
		step{"exclude", w.exclude},
		step{"switch", func() error { return w.checkOut(ctx) }},
		step{"link", func() error { return w.link(ctx) }},
		step{"copy", func() error { return w.copyIncluded(ctx) }},
		step{"setup", func() error { return w.command(ctx, "setup", w.Setup) }},
		step{"ready", w.ready},
		step{"acquired", func() error { return nil }},
	)
}

// Init makes the first n workspaces of a project beforehand.
func (p *Pool) Init(ctx context.Context, project task.Project, n int) error {
	if n < 1 || n > task.MaxPoolSize {
		return fmt.Errorf("make %d workspaces: give a positive integer, at most %d", n, task.MaxPoolSize)
	}
	project.PoolSize = n
	if err := project.Check(); err != nil {
		return err
	}
	for _, name := range project.WorkspaceNames() {
		if err := p.init(ctx, Slot{Project: project, Name: name}); err != nil {
			return err
		}
	}
	return nil
}

func (p *Pool) init(ctx context.Context, s Slot) error {
	defer p.hold(s.Name)()
	w, err := p.open(ctx, s)
	if err != nil || w.attached(ctx) {
		return err
	}
	if w.now.Task != "" {
		return fmt.Errorf("workspace %s is gone and bound to task %s: it is made again when the task needs it", s.Name, w.now.Task)
	}
	return w.make(ctx)
}

// make makes the worktree if there is none. A folder that is none is moved aside. What a
// worktree whose folder is gone has left in the repository is kept.
func (w *workspace) make(ctx context.Context) error {
	if w.attached(ctx) {
		return nil
	}
	commit, err := w.begin(ctx)
	if err != nil {
		return err
	}
	if err := w.moveFolder("is no worktree of " + w.Project.Path); err != nil {
		return err
	}
	if w.git != "" {
		if _, err := w.pool.git.Forget(ctx, w.Project.Path, w.path, w.keeper()); err != nil {
			return err
		}
		w.now = binding{}
	}
	w.made = !w.exists()
	if err := w.pool.git.AddWorktree(ctx, w.Project.Path, w.path, commit); err != nil {
		return err
	}
	w.git, err = w.pool.git.Registered(ctx, w.Project.Path, w.path)
	if err == nil && w.git == "" {
		err = fmt.Errorf("%s was made and is not registered: run git -C %s worktree repair %s", w.path, w.Project.Path, w.path)
	}
	return err
}

// clearLeftovers clears a workspace that is not bound yet. One that is bound to the task
// already is cleared only if its branch was not checked out: a checkout was cut short.
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
	if clear, err := w.clear(ctx); clear || err != nil {
		return err
	}
	err := w.pool.run(w.clearing(ctx, w.keeper())...)
	if !gitRefused(err) {
		return err
	}
	if _, err := w.giveUp(ctx, err); err != nil {
		return err
	}
	w.git, w.now = "", binding{}
	return w.make(ctx)
}

// clear says whether nothing has to be cleared: the workspace is as Release leaves it, at
// the commit where new work begins.
func (w *workspace) clear(ctx context.Context) (bool, error) {
	for _, file := range append([]string{TaskFileName}, w.Exclude...) {
		if _, err := os.Lstat(filepath.Join(w.path, file)); err == nil {
			return false, nil
		}
	}
	commit, err := w.begin(ctx)
	if err != nil {
		return false, err
	}
	return w.pool.git.Pristine(ctx, w.path, commit)
}

func (w *workspace) bind() error {
	if w.now.Task == w.Task && w.now.Branch == w.Branch {
		return nil
	}
	w.now.Task, w.now.Branch = w.Task, w.Branch
	return w.save()
}

func (w *workspace) save() error {
	if err := w.now.write(w.git); err != nil {
		return fmt.Errorf("bind workspace %s: %w", w.Name, err)
	}
	return nil
}

func (w *workspace) ready() error {
	w.now.Ready, w.now.Cleaned = true, false
	return w.save()
}

func (w *workspace) checkOut(ctx context.Context) error {
	base := w.Base
	if base == "" {
		var err error
		if base, err = w.begin(ctx); err != nil {
			return err
		}
	}
	return w.unblock(w.earlier(), func() error { return w.pool.git.Switch(ctx, w.path, w.Branch, base) })
}

// unblock does something that may need ignored files out of its way, in the worktree and
// then in its submodules. They are set aside.
func (w *workspace) unblock(keeper string, do func() error) error {
	var before []string
	for {
		err := do()
		var blocked interface{ Blocking() []string }
		if !errors.As(err, &blocked) || slices.Equal(blocked.Blocking(), before) {
			return err
		}
		before = blocked.Blocking()
		if err := w.setAside(keeper, before); err != nil {
			return err
		}
	}
}
