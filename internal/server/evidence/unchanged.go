package evidence

import (
	"context"
	"fmt"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/runtime/local"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// checkUnchanged sets what the branch changes of the paths that need a person, and whether a person approved it.
func (s Source) checkUnchanged(ctx context.Context, q *local.Question, e *signal.Evidence) (err error) {
	e.Changes, err = s.protectedChanges(ctx, q.Project, q.Task)
	switch open := q.Task.Unapproved(e.Changes); {
	case err != nil:
	case len(open) > 0:
		e.Detail = unapprovedText(q.Task, open)
	case len(e.Changes) > 0:
		e.Holds, e.Detail = true, "a person approved the changes of "+ansi.OneLine(humanize.FirstFew(task.PathsOf(e.Changes), 5))
	default:
		e.Holds, e.Detail = true, "the branch changes no path that needs a person"
	}
	return err
}

// RequireApproval returns an error if the branch of a task changes paths that need a person and nobody approved the changes.
func (s Source) RequireApproval(ctx context.Context, p task.Project, t *task.Task) error {
	changes, err := s.protectedChanges(ctx, p, t)
	if err != nil {
		return err
	}
	if open := t.Unapproved(changes); len(open) > 0 {
		return task.Mistakef("%s", unapprovedText(t, open))
	}
	return nil
}

// protectedChanges returns what the branch of a task changes of the paths that need a person, compared with the commit at
// which it left its base branch. A renamed file counts under both names.
func (s Source) protectedChanges(ctx context.Context, p task.Project, t *task.Task) ([]task.PathChange, error) {
	if len(t.Unchanged) == 0 {
		return nil, nil
	}
	base, tip, err := s.Git.ForkPoint(ctx, p.Path, t.Branch, p.DefaultBranch)
	if err != nil || base == "" || base == tip {
		return nil, err
	}
	changes, err := s.Git.ChangedPaths(ctx, p.Path, base, tip)
	var out []task.PathChange
	for _, c := range changes {
		if t.Unchanged.Match(c.Path) {
			out = append(out, c)
		}
	}
	return out, err
}

// unapprovedText says which changes need a person's approval, and what to do.
func unapprovedText(t *task.Task, open []task.PathChange) string {
	return fmt.Sprintf("branch %s changes paths that need a person's approval: %s: look at them with orange task diff %s, then orange task approve-changes %s, or send the work back",
		t.Branch, ansi.OneLine(humanize.FirstFew(task.PathsOf(open), 5)), t.ID, t.ID)
}
