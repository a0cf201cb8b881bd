package host

import (
	"context"
	"errors"

	"orange/internal/adapter/git"
	"orange/internal/core/task"
	"orange/internal/view/diff"
	"orange/internal/view/overview"
)

// maxDiff bounds what is shown of the changes of a task, in bytes.
const maxDiff = 2 << 20

// TaskDiff implements api.Changes. What is not committed is marked.
func (h *Host) TaskDiff(ctx context.Context, t task.Task) (base string, files []diff.File, cut bool, err error) {
	what, ok := h.taskComparison(&t)
	if !ok {
		return "", nil, false, task.Mistakef("project %s is not registered: orange project add", t.Project)
	}
	base, text, cut, err := h.Git.BranchDiff(ctx, what, maxDiff)
	if errors.Is(err, git.ErrNoBranch) {
		err = task.Mistakef("task %s has nothing to compare: %v", t.ID, err)
	}
	if err != nil {
		return "", nil, false, err
	}
	pending, untracked, err := h.Git.UncommittedDiff(ctx, what, maxDiff)
	return base, diff.MarkUncommitted(diff.Parse(text), diff.Parse(pending), untracked), cut, err
}

// MeasureWork counts what a task's branch has of its own, nil if it has no branch.
func (h *Host) MeasureWork(ctx context.Context, t *task.Task) (*overview.Work, error) {
	c, ok := h.taskComparison(t)
	if !ok {
		return nil, nil
	}
	stat, err := h.Git.DiffStat(ctx, c)
	if err != nil {
		if errors.Is(err, git.ErrNoBranch) {
			err = nil
		}
		return nil, err
	}
	return &overview.Work{Commits: stat.Commits, Added: stat.Added, Deleted: stat.Deleted, Files: stat.Files}, nil
}

// taskComparison says what the work of a task is compared with, false if its project is not
// registered any more.
func (h *Host) taskComparison(t *task.Task) (git.Comparison, bool) {
	p, ok := h.Project(t.Project)
	c := git.Comparison{Root: p.Path, Worktree: h.WorktreeOf(t), Branch: t.Branch, Default: p.DefaultBranch}
	if w := t.Work; w != nil && w.Landed { // it is all in the default branch: what it was is in the journal
		c.Base, c.Head = w.Base, w.Head
	}
	return c, ok && t.Branch != ""
}
