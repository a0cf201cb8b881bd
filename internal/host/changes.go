package host

import (
	"context"
	"errors"

	"orange/internal/adapter/git"
	"orange/internal/core/task"
	"orange/internal/view/diff"
	"orange/internal/view/overview"
)

// maxDiff bounds the diff of a task, in bytes.
const maxDiff = 2 << 20

// TaskDiff implements api.Changes. It marks changes that are not committed. If the workspace is not the task's
// worktree, it compares what is committed and says why.
func (h *Host) TaskDiff(ctx context.Context, t task.Task) (out diff.Comparison, err error) {
	what, ok := h.taskComparison(ctx, &t)
	if !ok {
		return out, task.Mistakef("project %s is not registered: orange project add", t.Project)
	}
	if what.Head == "" && what.Worktree != "" {
		if wrong := h.Git.CheckCompared(ctx, what); wrong != nil {
			out.Problem, what.Worktree = wrong.Error(), ""
		}
		out.Worktree = what.Worktree
	}
	base, text, cut, err := h.Git.BranchDiff(ctx, what, maxDiff)
	if errors.Is(err, git.ErrNoBranch) {
		err = task.Mistakef("task %s has nothing to compare: %v", t.ID, err)
	}
	if err != nil {
		return out, err
	}
	pending, untracked, err := h.Git.UncommittedDiff(ctx, what, maxDiff)
	out.Base, out.Head, out.Cut = base, what.Head, cut
	out.Files = diff.MarkUncommitted(diff.Parse(text), diff.Parse(pending), untracked)
	return out, err
}

// maxFile bounds a file of a diff, in bytes.
const maxFile = 4 << 20

// TaskFile implements api.Changes.
func (h *Host) TaskFile(ctx context.Context, t task.Task, path string, old bool) (content []byte, cut bool, err error) {
	what, ok := h.taskComparison(ctx, &t)
	if !ok {
		return nil, false, task.Mistakef("project %s is not registered: orange project add", t.Project)
	}
	content, cut, err = h.Git.FileContent(ctx, what, path, old, maxFile)
	if errors.Is(err, git.ErrNoBranch) || errors.Is(err, git.ErrNoFile) {
		err = task.Mistakef("task %s has no such file: %v", t.ID, err)
	}
	return content, cut, err
}

// MeasureWork counts the commits and changes that only a task's branch has. It returns nil if the task has no branch.
func (h *Host) MeasureWork(ctx context.Context, t *task.Task) (*overview.Work, error) {
	c, ok := h.taskComparison(ctx, t)
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

// taskComparison returns what to compare the work of a task with. It returns false if the project is no longer
// registered or the task has no branch.
func (h *Host) taskComparison(ctx context.Context, t *task.Task) (git.Comparison, bool) {
	p, ok := h.Project(t.Project)
	c := git.Comparison{Root: p.Path, Worktree: h.WorktreeOf(t), Branch: t.Branch, Default: p.ForTask(t).DefaultBranch, StackBase: t.StackBase()}
	if w := t.Work; w != nil && w.Landed { // all of it is in the default branch, so the journal says which commits it was
		c.Base, c.Head = w.Base, w.Head
		if l := t.Landing; l.BringsHead(w.Head) { // after a squash git may remove a head that no branch leads to any more
			if have, err := h.Git.ResolveCommit(ctx, c.Root, w.Head); err == nil && have == "" {
				c.Base, c.Head = l.Tip, l.Commit
			}
		}
	}
	return c, ok && t.Branch != ""
}
