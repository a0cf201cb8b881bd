package evidence

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/adapter/git"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/runtime/local"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// checkCI reports whether every check that the forge requires of the task's pull request passed at the head of the branch. If
// the forge does not say which it requires, all are. A pull request that is behind the branch shows nothing about it, and
// one without checks is not green.
func (s Source) checkCI(ctx context.Context, q *local.Question) (bool, string, error) {
	if q.Task.Delivery != task.DeliverPR {
		return false, fmt.Sprintf("project %s does not deliver by pull request: there are no checks of a forge", q.Project.Name), nil
	}
	tip, err := s.Git.BranchTip(ctx, q.Project.Path, q.Task.Branch)
	if err != nil {
		return false, "", err
	}
	pr, err := s.Pull(ctx, q.Project, q.Task.PRURL, q.Task.Branch)
	switch {
	case errors.Is(err, tracker.ErrNotFound):
		return false, fmt.Sprintf("branch %s has no pull request: open one with orange task create-pr %s", q.Task.Branch, q.Task.ID), nil
	case err != nil:
		return false, "", err
	case pr.Head != tip && !s.isUpdated(ctx, q, &pr, tip):
		return false, fmt.Sprintf("%s is at %.12s, and the branch is at %.12s: push it with orange task push %s", pr.URL, pr.Head, tip, q.Task.ID), nil
	}
	required, err := s.Required(ctx, q.Project)
	if err != nil {
		return false, "", err
	}
	checks, which := tracker.RequiredChecks(pr.Checks, required), "checks"
	if len(required) > 0 {
		which = "required checks"
	}
	if len(checks) == 0 {
		return false, fmt.Sprintf("%s has no checks yet at %.12s", pr.URL, pr.Head), nil
	}
	for _, state := range [...]string{tracker.CheckFailed, tracker.CheckPending} {
		if names := tracker.ChecksIn(checks, state); len(names) > 0 {
			return false, fmt.Sprintf("%s of %s at %.12s: %s: %s", which, pr.URL, pr.Head, state, ansi.OneLine(humanize.FirstFew(names, 5))), nil
		}
	}
	return true, fmt.Sprintf("all %d %s of %s passed at %.12s", len(checks), which, pr.URL, pr.Head), nil
}

// isUpdated reports whether the pull request has the work of the branch and, besides, only what the forge merged into it from
// the base.
func (s Source) isUpdated(ctx context.Context, q *local.Question, pr *tracker.PR, tip string) bool {
	if s.Git.EnsureCommit(ctx, q.Project.Path, pr.Branch, pr.Head) != nil {
		return false
	}
	ok, err := s.Git.IsUpdateOf(ctx, q.Project.Path, git.Update{Head: pr.Head, Of: tip, Remote: "origin", Base: q.Project.DefaultBranch})
	return err == nil && ok
}
