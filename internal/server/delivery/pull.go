package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"orange/internal/adapter/git"
	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/runtime/local"
	"orange/internal/server/forges"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// landPR lands work that is delivered as a pull request. One that the forge has merged has landed. One that is open is
// merged through the forge if the project says so; otherwise the error says what it waits for.
func (d Service) landPR(ctx context.Context, t *task.Task, p task.Project, e task.Effect) (local.EffectResult, error) {
	pr, err := d.Forges.FindPullRequest(ctx, p, t.PRURL, t.Branch)
	if err != nil {
		return local.EffectResult{}, err
	}
	l := pullLanding{landing: landing{Service: d, t: t, p: p, e: e, remote: forges.Origin}, pr: pr}
	switch {
	case pr.Branch != t.Branch:
		return local.EffectResult{}, task.Mistakef("%s is for branch %s, not for %s: merge here with --strategy ff or merge", pr.URL, pr.Branch, t.Branch)
	case pr.State == tracker.Merged:
		return l.merged(ctx)
	case pr.State == tracker.Closed:
		return local.EffectResult{}, task.Mistakef("%s was closed without a merge: reopen it, merge with --strategy, or cancel the task", pr.URL)
	}
	if l.forge, err = d.Forges.ProjectForge(ctx, p); err != nil {
		return local.EffectResult{}, err
	}
	required, err := l.forge.RequiredChecks(ctx, pr.Base)
	if err != nil {
		return local.EffectResult{}, err
	}
	l.checks = tracker.RequiredChecks(pr.Checks, required)
	if p.MergePR != task.MergePRAuto {
		return local.EffectResult{}, task.Mistakef("%s is open: merge it there (%s), or merge here with --strategy ff or merge", pr.URL, l.describe())
	}
	if err := d.RequireApproval(ctx, p, t); err != nil {
		return local.EffectResult{}, err
	}
	if err := l.merge(ctx); err != nil {
		return l.notMerged(ctx, err)
	}
	d.Waits.forget(l.waitKey())
	if l.pr, err = l.forge.ReadPR(ctx, pr.Number); err != nil {
		return local.EffectResult{}, err
	}
	return l.merged(ctx)
}

// A pullForge is what a landing needs of the forge of a pull request.
type pullForge interface {
	ReadPR(ctx context.Context, number int) (tracker.PR, error)
	RequiredChecks(ctx context.Context, branch string) ([]string, error)
	UpdatePR(ctx context.Context, number int, head string) error
	MergePR(ctx context.Context, number int, head string) error
}

// A pullLanding is the landing of a pull request.
type pullLanding struct {
	landing
	forge  pullForge
	pr     tracker.PR
	checks []tracker.Check // those that the forge requires
}

// merged brings the default branch at the remote here, after the forge merged the pull request.
func (l *pullLanding) merged(ctx context.Context) (local.EffectResult, error) {
	done := local.EffectResult{Commit: l.pr.Head, Landed: cmp.Or(l.pr.Landed, l.pr.Head)}
	if l.pr.Landed != "" {
		done.Candidate = &task.Candidate{Target: l.p.DefaultBranch, Remote: l.remote, Head: l.pr.Head, Commit: l.pr.Landed}
	}
	return done, l.Git.FetchBranch(ctx, l.p.Path, l.remote, l.p.DefaultBranch)
}

// describe says what the checks and the reviewers of the pull request say, as a part of a sentence.
func (l *pullLanding) describe() string {
	parts := []string{"its required checks passed"}
	failed, pending := tracker.ChecksIn(l.checks, tracker.CheckFailed), tracker.ChecksIn(l.checks, tracker.CheckPending)
	switch {
	case len(failed) > 0:
		parts[0] = "checks failed (" + names(failed) + ")"
	case len(pending) > 0:
		parts[0] = "checks are not done (" + names(pending) + ")"
	case len(l.checks) == 0:
		parts[0] = "it has no checks"
	}
	approved, against := l.pr.ApprovedBy()
	if len(approved) > 0 {
		parts = append(parts, names(approved)+" approved it")
	}
	if len(against) > 0 {
		parts = append(parts, names(against)+" requested changes")
	}
	return strings.Join(parts, ", ")
}

// names makes names of a forge safe to show.
func names(list []string) string { return ansi.OneLine(humanize.FirstFew(list, 5)) }

// A waitError means that the forge works on the pull request.
type waitError struct{ text string }

func (e *waitError) Error() string { return e.text }

// A checksError means that checks of the forge failed.
type checksError struct{ text string }

func (e *checksError) Error() string { return e.text }

// merge takes the next step to the merge: the forge brings the branch up to date, runs its checks, and merges exactly the
// commit that was looked at.
func (l *pullLanding) merge(ctx context.Context) error {
	if err := l.Git.FetchBranch(ctx, l.p.Path, l.remote, l.pr.Base); err != nil {
		return err
	}
	if err := l.checkHead(ctx); err != nil {
		return err
	}
	if l.pr.Mergeable == "no" {
		if err := l.findConflict(ctx); err != nil {
			return err
		}
	}
	current, err := l.Git.HasRemoteTip(ctx, l.p.Path, l.remote, l.pr.Base, l.pr.Head)
	switch failed, pending := tracker.ChecksIn(l.checks, tracker.CheckFailed), tracker.ChecksIn(l.checks, tracker.CheckPending); {
	case err != nil:
		return err
	case !current:
		if err := l.forge.UpdatePR(ctx, l.pr.Number, l.pr.Head); err != nil {
			return err
		}
		return &waitError{fmt.Sprintf("%s is being brought up to date with %s", l.pr.URL, l.pr.Base)}
	case len(failed) > 0:
		return &checksError{fmt.Sprintf("checks of %s failed at %.12s: %s", l.pr.URL, l.pr.Head, names(failed))}
	case len(pending) > 0:
		return &waitError{fmt.Sprintf("%s waits for checks at %.12s: %s", l.pr.URL, l.pr.Head, names(pending))}
	}
	return l.forge.MergePR(ctx, l.pr.Number, l.pr.Head)
}

// checkHead makes sure that the pull request has the work of the branch and nothing besides, except what the forge merged
// from the base.
func (l *pullLanding) checkHead(ctx context.Context) error {
	tip, err := l.Git.BranchTip(ctx, l.p.Path, l.t.Branch)
	switch {
	case err != nil || tip == l.pr.Head && (l.e.Head == "" || l.e.Head == tip):
		return err
	case l.e.Head != "":
		return task.Mistakef("%s is at %.12s, but %.12s was confirmed: review it and request the merge again", l.pr.URL, l.pr.Head, l.e.Head)
	}
	if err := l.Git.EnsureCommit(ctx, l.p.Path, l.pr.Branch, l.pr.Head); err != nil {
		return err
	}
	switch ok, err := l.Git.IsUpdateOf(ctx, l.p.Path, git.Update{Head: l.pr.Head, Of: tip, Remote: l.remote, Base: l.pr.Base}); {
	case err != nil || ok:
		return err
	case l.Git.IsAncestor(ctx, l.p.Path, l.pr.Head, tip):
		return task.Mistakef("%s is at %.12s, and the branch is at %.12s: push it with orange task push %s, and request the merge again", l.pr.URL, l.pr.Head, tip, l.t.ID)
	}
	return task.Mistakef("%s has commits that branch %s does not have: review them, bring them here with git pull --no-rebase %s %s in the folder that orange task path %s prints, and request the merge again",
		l.pr.URL, l.t.Branch, l.remote, l.pr.Branch, l.t.ID)
}

// findConflict returns which files of the branch conflict with the base, if they do.
func (l *pullLanding) findConflict(ctx context.Context) error {
	_, _, err := l.Git.BuildCandidate(ctx, l.p.Path, git.Merging{Branch: l.t.Branch, Into: l.pr.Base, Strategy: task.LandMerge, Remote: l.remote, StackBase: l.t.LandsFrom()})
	var conflict *git.ConflictError
	if errors.As(err, &conflict) {
		return err
	}
	return nil // the forge says what it does not like
}

func (l *pullLanding) waitKey() string { return "pull request of " + string(l.t.ID) }

// notMerged classifies why a pull request was not merged. What the forge refuses is told in its own words.
func (l *pullLanding) notMerged(ctx context.Context, why error) (local.EffectResult, error) {
	var waits *waitError
	var failed *checksError
	var no *board.Refusal
	var conflict *git.ConflictError
	switch {
	case errors.As(why, &waits):
		return local.EffectResult{Landing: signal.LandingWaits, Since: l.Waits.since(l.waitKey())}, why
	case errors.As(why, &failed):
		c := task.Candidate{Target: l.p.DefaultBranch, Remote: l.remote, Head: l.pr.Head}
		return local.EffectResult{Landing: task.LandingFailed, Candidate: &c}, task.Mistakef("%v", why)
	case errors.As(why, &no):
		return local.EffectResult{Landing: task.LandingBlocked}, task.Mistakef("%v", why)
	case errors.As(why, &conflict):
		return l.failed(ctx, why)
	}
	return local.EffectResult{}, why
}
