package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/core/task"
)

// InspectWorkspace restores the link to the task's file, as RestoreTaskLink does, and then checks the
// workspace as CheckWorkspace does. It notes a link that it cannot restore.
func (p *Pool) InspectWorkspace(ctx context.Context, s Slot) (head string, err error) {
	if err := p.RestoreTaskLink(ctx, s); err != nil && s.Note != nil {
		s.Note("restore the link to TASK.md: " + err.Error())
	}
	return p.CheckWorkspace(ctx, s)
}

// CheckWorkspace returns the commit that is checked out in the workspace of a task, and an error unless the
// workspace is a worktree of the project's repository and on the task's branch. It reads files and changes
// nothing.
func (p *Pool) CheckWorkspace(ctx context.Context, s Slot) (head string, err error) {
	if err := s.checkSlot(); err != nil {
		return "", err
	}
	head, attached, err := p.git.CheckWorktree(ctx, s.Project.Path, p.Path(s.Name), s.Branch)
	if attached && err != nil && s.Former != "" {
		s.Branch, s.Former = s.Former, ""
		return p.CheckWorkspace(ctx, s)
	}
	if !attached {
		err = fmt.Errorf("%w, so work there does not count: end this session, and the next one gets a new worktree", err)
	}
	if err != nil {
		err = fmt.Errorf("workspace %s: %w", s.Name, err)
	}
	return head, err
}

// SyncTaskFile makes sure that a task can work in its workspace. If CheckWorkspace finds
// nothing wrong, SyncTaskFile only restores TASK.md. It creates a worktree that is gone again
// on the task's branch. It turns a folder that was a worktree back into one with its files as
// they are, and moves any other folder aside. It switches a worktree on another branch back if
// that loses nothing; otherwise it returns an error for a person to resolve.
func (p *Pool) SyncTaskFile(ctx context.Context, s Slot) error { return p.acquireSlot(ctx, s, true) }

func (w *workspace) isAttached(ctx context.Context) bool {
	return w.git != "" && w.pool.git.CheckAttached(ctx, w.Project.Path, w.path) == nil
}

// restoreBranch switches a worktree that the task already had back to its branch and restores
// TASK.md. It returns ready = false if the folder is not a worktree, or was never completely
// prepared.
func (w *workspace) restoreBranch(ctx context.Context) (ready bool, err error) {
	if !w.isAttached(ctx) {
		if again, err := w.reattachFolder(ctx); !again || err != nil {
			return false, err
		}
	}
	if !w.now.Ready {
		return false, nil
	}
	if w.pool.git.OnBranch(w.path, w.Branch) != nil {
		if err := w.pool.git.SwitchBack(ctx, w.path, w.Branch); err != nil {
			return false, task.Mistakef("workspace %s: %v, then orange resume %s", w.Name, err, w.Task)
		}
		w.reportNote("workspace %s was not on branch %s and was switched back", w.Name, w.Branch)
	}
	return true, w.healLink()
}

// reattachFolder turns the folder in which the task has worked back into a worktree.
func (w *workspace) reattachFolder(ctx context.Context) (bool, error) {
	if w.now.Task != w.Task || !w.exists() {
		return false, nil
	}
	again, err := w.pool.git.ReattachWorktree(ctx, w.Project.Path, w.path, w.Branch)
	if err != nil || !again {
		return false, err
	}
	if w.git, err = w.pool.git.RegisteredDir(ctx, w.Project.Path, w.path); err != nil {
		return false, err
	}
	w.reportNote("workspace %s was no longer registered and was registered again, with its files as they were", w.Name)
	if w.now, err = readBinding(w.git, bindingName); err != nil {
		return false, err
	}
	return true, w.pool.runSteps(step{"bind", w.bindTask}, step{"exclude", w.excludeFiles}, step{"ready", w.markReady})
}

// giveUp frees a workspace whose work git cannot save: it moves the folder aside with
// everything in it, and removes its registration.
func (w *workspace) giveUp(ctx context.Context, why error) (salvage string, err error) {
	if err := w.moveFolder(fmt.Sprintf("cannot be cleared (%v)", why)); err != nil {
		return "", err
	}
	return w.forgetWorktree(ctx)
}

// forgetWorktree removes the registration of a worktree whose folder is gone, and reports where its
// entry is kept if git could not read it.
func (w *workspace) forgetWorktree(ctx context.Context) (salvage string, err error) {
	keeper := w.salvageName()
	salvage, moved, err := w.pool.git.ForgetWorktree(ctx, w.Project.Path, w.path, keeper)
	if moved != "" {
		w.reportNote("git could not read its entry of workspace %s: it was moved to %s and is kept there", w.Name, moved)
		if w.Aside != nil && keeper == string(w.Task) {
			w.Aside(moved)
		}
	}
	return salvage, err
}

// gitRefused reports whether a git command ran to its end and failed, for example because a
// filter is missing. A retry does not help.
func gitRefused(err error) bool {
	var refused interface{ RefusalReason() string }
	return errors.As(err, &refused)
}

// moveFolder moves whatever is at the path of the worktree aside, unchanged. It leaves an empty
// folder to git.
func (w *workspace) moveFolder(why string) error {
	info, err := os.Lstat(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read workspace %s: %w", w.Name, err)
	}
	if info.IsDir() && os.Remove(w.path) == nil {
		return nil
	}
	root, err := os.OpenRoot(w.pool.root)
	if err != nil {
		return fmt.Errorf("move the folder of workspace %s aside: %w", w.Name, err)
	}
	defer func() { _ = root.Close() }()
	to, err := moveAside(root, w.Name, filepath.Join(asideName, w.Name, w.salvageName(), wholeName))
	if err != nil {
		return fmt.Errorf("move the folder of workspace %s aside: %w", w.Name, err)
	}
	w.reportNote("%s %s: it was moved to %s and is kept there", w.path, why, filepath.Join(w.pool.root, to))
	link := filepath.Join(to, ".git")
	if info, err := root.Lstat(link); err != nil || !info.Mode().IsRegular() {
		return nil // it is a separate repository, or none
	}
	// With this link, git in the folder would act on the next worktree of this name.
	if err := root.Remove(link); err != nil {
		return fmt.Errorf("move the folder of workspace %s aside: %w", w.Name, err)
	}
	return nil
}

// removeObstacles removes what keeps git from working in the workspace: settings that lead it to
// another folder, and locks that killed git commands have left. While an agent works in the
// workspace, it removes nothing, because a lock may be the agent's.
func (w *workspace) removeObstacles(ctx context.Context) error {
	if w.Busy {
		return nil
	}
	settings, err := w.pool.git.RemoveRedirect(ctx, w.Project.Path, w.git, w.path)
	if len(settings) > 0 {
		w.reportNote("git did not work on the files of the workspace: %s was removed from the git settings of workspace %s", strings.Join(settings, ", "), w.Name)
	}
	if err != nil {
		return err
	}
	removed, err := w.pool.git.RemoveStaleLocks(w.git, w.path, w.Branch)
	if len(removed) > 0 {
		w.reportNote("a git command that was killed left a lock, which was removed: %s", strings.Join(removed, ", "))
	}
	return err
}

func (w *workspace) reportNote(format string, args ...any) {
	if w.Note != nil {
		w.Note(fmt.Sprintf(format, args...))
	}
}
