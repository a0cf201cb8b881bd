package delivery

import (
	"cmp"
	"context"

	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/runtime/local"
	"orange/internal/server/forges"
)

// landPR updates the default branch after the forge merged a pull request. It returns an error if it has not.
func (d Service) landPR(ctx context.Context, t *task.Task, p task.Project, _ task.Effect) (local.EffectResult, error) {
	pr, err := d.Forges.FindPullRequest(ctx, p, t.PRURL, t.Branch)
	switch {
	case err != nil:
		return local.EffectResult{}, err
	case pr.Branch != t.Branch:
		return local.EffectResult{}, task.Mistakef("%s is for branch %s, not for %s: merge here with --strategy ff or merge", pr.URL, pr.Branch, t.Branch)
	case pr.State == tracker.Merged:
		return local.EffectResult{Commit: pr.Head, Landed: cmp.Or(pr.Landed, pr.Head)}, d.Git.FetchBranch(ctx, p.Path, forges.Origin, p.DefaultBranch)
	case pr.State == tracker.Closed:
		return local.EffectResult{}, task.Mistakef("%s was closed without a merge: reopen it, merge with --strategy, or cancel the task", pr.URL)
	}
	return local.EffectResult{}, task.Mistakef("%s is open: merge it there, or merge here with --strategy ff or merge", pr.URL)
}
