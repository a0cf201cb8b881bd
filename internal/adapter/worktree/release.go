package worktree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Release frees the workspace. It saves what is in the workspace and on no branch under a
// salvage ref, which it returns, and only then clears the workspace. Branches and ignored files
// stay. If the teardown command fails, Release does everything else and then returns the error.
// It does not touch a workspace that is not bound to the task.
func (p *Pool) Release(ctx context.Context, s Slot) (salvage string, err error) {
	if err := s.checkSlot(); err != nil {
		return "", err
	}
	defer p.locks.Lock(s.Name)()
	w, lost, err := p.openForUse(ctx, s)
	if err != nil {
		return "", err
	}
	if lost {
		w.now.Task, w.now.Branch = s.Task, s.Branch
	}
	if w.now.Task == s.Task || w.now.Task == "" && (w.git == "" || w.last.Task == s.Task) {
		defer w.reportAside()
	}
	if w.git == "" { // someone may have removed its registration while it held the task's work
		w.now.Task = s.Task
		again, err := w.reattachFolder(ctx)
		if err != nil && ctx.Err() != nil {
			return "", err
		}
		if !again || err != nil { // a failure must not block the slot
			return w.giveUp(ctx, cmp.Or(err, errNoWorktree))
		}
	}
	switch {
	case w.now.Task == "" && w.last.Task == s.Task:
		return w.last.Salvage, nil
	case w.now.Task != s.Task:
		return "", nil
	case !w.isAttached(ctx):
		return w.giveUp(ctx, errNoWorktree)
	}
	if err := w.removeObstacles(ctx); err != nil {
		return "", err
	}
	var teardown error
	before := []step{
		{"teardown", func() error { teardown = w.tearDown(ctx); return nil }},
		{"heal", w.healLink},
	}
	after := []step{
		{"unbind", w.releaseBinding},
		{"released", func() error { return nil }},
	}
	steps := append(append(before, w.clearingSteps(ctx, string(s.Task))...), after...)
	if err := p.runSteps(steps...); gitRefused(err) {
		salvage, err := w.giveUp(ctx, err)
		return cmp.Or(w.now.Salvage, salvage), joinErrors(err, teardown)
	} else if err != nil {
		return w.now.Salvage, joinErrors(err, teardown)
	}
	return w.now.Salvage, teardown
}

var errNoWorktree = errors.New("it is no longer a worktree of the project")

func (w *workspace) tearDown(ctx context.Context) error {
	if w.now.TornDown {
		return nil
	}
	failed := w.runCommand(ctx, "teardown", w.Teardown)
	w.now.TornDown = true
	return joinErrors(failed, w.saveBinding())
}

func (w *workspace) releaseBinding() error {
	if err := retireBinding(w.git); err != nil {
		return fmt.Errorf("release workspace %s: %w", w.Name, err)
	}
	return nil
}

// joinErrors joins two errors in one line.
func joinErrors(a, b error) error {
	if a != nil && b != nil {
		return fmt.Errorf("%w; %w", a, b)
	}
	return errors.Join(a, b)
}

// clearingSteps returns the steps that bring a workspace back to the default branch. Their
// order makes sure that everything is saved before it is removed.
func (w *workspace) clearingSteps(ctx context.Context, keeper string) []step {
	return []step{
		{"salvage", func() error { return w.withoutNested(keeper, func() error { return w.salvageWork(ctx, keeper) }) }},
		{"clean", func() error { return w.withoutNested(keeper, func() error { return w.cleanWorktree(ctx, keeper) }) }},
		{"drop", func() error { return w.dropOwn(ctx, keeper) }},
		{"detach", func() error { return w.detachHead(ctx, keeper) }},
		{"aside", func() error { return w.setAsideUntracked(ctx, keeper) }},
	}
}

// withoutNested runs do, which fails while there is a repository inside the worktree. It moves
// each such repository aside and tries again.
func (w *workspace) withoutNested(keeper string, do func() error) error {
	for {
		err := do()
		var nested interface{ NestedRepository() string }
		if !errors.As(err, &nested) {
			return err
		}
		name, outside := filepath.Rel(w.path, nested.NestedRepository())
		if _, missing := os.Lstat(nested.NestedRepository()); outside != nil || missing != nil || !filepath.IsLocal(name) {
			return err
		}
		if err := w.setAside(keeper, []string{name}); err != nil {
			return err
		}
		w.reportNote("%s in workspace %s is a separate git repository: it was moved to %s and is kept there", name, w.Name, filepath.Join(w.pool.root, asideName, w.Name, keeper))
	}
}

// salvageWork saves the work and, while a task has the workspace, records the ref. Untracked
// files in a workspace that was cleaned before are files that only the task's branch ignored:
// they do not belong in the repository.
func (w *workspace) salvageWork(ctx context.Context, keeper string) error {
	if w.now.Cleaned {
		if err := w.setAsideUntracked(ctx, keeper); err != nil {
			return err
		}
	}
	ref, err := w.pool.git.SalvageWork(ctx, w.path, keeper)
	if err != nil || ref == "" || w.now.Task == "" || w.now.Salvage == ref {
		return err
	}
	w.now.Salvage = ref
	return w.saveBinding()
}

func (w *workspace) cleanWorktree(ctx context.Context, keeper string) error {
	err := w.runUnblocked(keeper, func() error { return w.pool.git.CleanWorktree(ctx, w.path, keeper) })
	if err != nil || w.now.Task == "" || w.now.Cleaned {
		return err
	}
	w.now.Cleaned = true
	return w.saveBinding()
}

func (w *workspace) detachHead(ctx context.Context, keeper string) error {
	commit, err := w.baseCommit(ctx)
	if err != nil {
		return err
	}
	return w.runUnblocked(keeper, func() error { return w.pool.git.DetachHead(ctx, w.path, commit) })
}

// dropOwn removes what Orange itself has put into the workspace, except files that the
// repository tracks. It sets aside what someone else has written: a TASK.md that is not a link,
// and settings of a harness, which are not for the next task.
func (w *workspace) dropOwn(ctx context.Context, keeper string) error {
	own := append([]string{TaskFileName}, w.Exclude...)
	tracked, err := w.pool.git.TrackedFiles(ctx, w.path, own...)
	if err != nil {
		return err
	}
	isTracked := map[string]bool{}
	for _, file := range tracked {
		isTracked[file] = true
	}
	root, err := os.OpenRoot(w.path)
	if err != nil {
		return fmt.Errorf("clear workspace %s: %w", w.Name, err)
	}
	defer func() { _ = root.Close() }()
	for _, file := range own {
		if isTracked[file] {
			continue
		}
		info, err := root.Lstat(file)
		switch {
		case err != nil || info.IsDir(): // missing, or a folder in which others may keep files
			continue
		case info.Mode().IsRegular() && !w.isOurs(root, file):
			err = w.setAside(keeper, []string{file})
		default:
			err = root.Remove(file)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clear workspace %s: %w", w.Name, err)
		}
		if dir := path.Dir(file); dir != "." {
			_ = root.Remove(dir) // only if it is empty
		}
	}
	return nil
}

// isOurs reports whether a file contains only what Orange has put there, or is a copy of the
// file in the main checkout.
func (w *workspace) isOurs(root *os.Root, file string) bool {
	text, err := root.ReadFile(file)
	if err != nil || file == TaskFileName {
		return false
	}
	if w.Ours != nil && w.Ours(file, text) {
		return true
	}
	if w.Project.Path == w.path { // the project no longer exists
		return false
	}
	own, err := os.ReadFile(filepath.Join(w.Project.Path, file))
	return err == nil && bytes.Equal(own, text)
}
