package evidence

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/runtime/local"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// checkCI reports whether every check that the forge has of the task's pull request passed at the head of the branch. A pull
// request that is behind the branch shows nothing about it, and one without checks is not green.
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
	case pr.Head != tip:
		return false, fmt.Sprintf("%s is at %.12s, and the branch is at %.12s: push it with orange task push %s", pr.URL, pr.Head, tip, q.Task.ID), nil
	case len(pr.Checks) == 0:
		return false, fmt.Sprintf("%s has no checks yet at %.12s", pr.URL, tip), nil
	}
	for _, state := range [...]string{tracker.CheckFailed, tracker.CheckPending} {
		if names := checksIn(pr.Checks, state); len(names) > 0 {
			return false, fmt.Sprintf("checks of %s at %.12s: %s: %s", pr.URL, tip, state, ansi.OneLine(humanize.FirstFew(names, 5))), nil
		}
	}
	return true, fmt.Sprintf("all %d checks of %s passed at %.12s", len(pr.Checks), pr.URL, tip), nil
}

// checksIn returns the names of the checks in a state.
func checksIn(list []tracker.Check, state string) []string {
	var out []string
	for i := range list {
		if list[i].State == state {
			out = append(out, list[i].Name)
		}
	}
	return out
}
