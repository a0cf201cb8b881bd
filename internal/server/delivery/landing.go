package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"orange/internal/adapter/git"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/runtime/local"
	"orange/internal/server/forges"
)

// Merge implements effect.Delivery. If the work is delivered as a pull request and nobody asks for a strategy, the forge
// merges it. Otherwise it lands in the target branch here, or in that of the remote if the project pushes. The note and the
// log say what became of an interrupted landing in the repository.
func (d Service) Merge(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	p, err := d.requireProject(&t)
	if err != nil {
		return local.EffectResult{}, err
	}
	var notes []string
	d.Git = d.Git.WithReport(func(did string) {
		d.Log.Info(did, "component", "delivery", "project", p.Name, "task", t.ID)
		notes = append(notes, did)
	})
	done, err := d.mergeInto(ctx, &t, p, e)
	if done.Note != "" {
		notes = append(notes, done.Note)
	}
	done.Note = strings.Join(notes, "; ")
	return done, err
}

// mergeInto is Merge for a known project.
func (d Service) mergeInto(ctx context.Context, t *task.Task, p task.Project, e task.Effect) (local.EffectResult, error) {
	strategy := cmp.Or(e.Arg, task.LandAuto)
	if t.PRURL != "" && strategy == task.LandAuto {
		return d.landPR(ctx, t, p, e)
	}
	if err := d.RequireApproval(ctx, p, t); err != nil {
		return local.EffectResult{}, err
	}
	if strategy == task.LandAuto && p.Land != "" {
		strategy = p.Land
	}
	l := landing{Service: d, t: t, p: p, e: e, strategy: strategy}
	if t.Delivery.PushesBranch() {
		has, err := d.Git.HasRemote(ctx, p.Path, forges.Origin)
		if err != nil {
			return local.EffectResult{}, err
		}
		if has { // without one the target is the branch here, and a person can push it later
			l.remote = forges.Origin
		}
	}
	done, err := l.land(ctx)
	if err != nil {
		return l.failed(ctx, err)
	}
	return done, nil
}

// A landing brings the work of a task into its target branch.
type landing struct {
	Service
	t        *task.Task
	p        task.Project
	e        task.Effect
	strategy string
	remote   string // whose branch is the target, "" for the branch here
}

// land takes the next step. A candidate that must be checked is only built; so is one that has none of the branch's commits,
// because only the record can say later that it contains their changes. Everything else lands in one step.
func (l *landing) land(ctx context.Context) (local.EffectResult, error) {
	m := git.Merging{
		ID: l.e.ID, Branch: l.t.Branch, Tip: l.e.Head, Into: l.p.DefaultBranch, Strategy: l.strategy, Remote: l.remote,
		Message: fmt.Sprintf("Merge branch '%s': %s", l.t.Branch, l.t.Summary), Title: l.t.Summary, StackBase: l.t.LandsFrom(),
	}
	rewrites := l.strategy == task.LandRebase || l.strategy == task.LandSquash
	switch {
	case l.t.Landing.InProgress():
		return l.moveTarget(ctx, l.t.Landing.Candidate)
	case len(l.t.Checks) == 0 && !rewrites && l.remote == "":
		merged, err := l.Git.MergeBranch(ctx, l.p.Path, m)
		if err == nil && merged.Before {
			merged.Commit, err = l.landedCommit(ctx, merged.Commit)
		}
		return local.EffectResult{Landed: merged.Commit}, err
	}
	c, landed, err := l.Git.BuildCandidate(ctx, l.p.Path, m)
	c.Remote = l.remote
	switch {
	case err != nil:
		return local.EffectResult{}, err
	case landed != "": // the target has the work already, but the remote may not have the target
		note := ""
		if landed, err = l.landedCommit(ctx, landed); err == nil && l.remote != "" {
			note, err = l.push(ctx, c.Tip)
		}
		return local.EffectResult{Landed: landed, Note: note}, err
	case len(l.t.Checks) == 0 && !rewrites:
		return l.moveTarget(ctx, c)
	}
	return local.EffectResult{Landing: signal.LandingBuilt, Candidate: &c, Reuse: l.p.ReuseChecks}, nil
}

// moveTarget moves the target to a candidate, if it is still where the candidate was built.
func (l *landing) moveTarget(ctx context.Context, c task.Candidate) (done local.EffectResult, err error) {
	if c.Remote != "" {
		done.Note, err = l.push(ctx, c.Commit)
	} else {
		err = l.Git.LandCommit(ctx, l.p.Path, git.Landing{ID: l.e.ID, What: l.t.Branch, Target: c.Target, Old: c.Tip, New: c.Commit})
	}
	if err != nil {
		return done, err
	}
	l.Waits.forget(l.checkout())
	done.Landed, done.Candidate = c.Commit, &c
	return done, nil
}

// push moves the target of the remote: the remote compares. Then the branch here follows, if nothing of a person is in the
// way; the note says what is.
func (l *landing) push(ctx context.Context, commit string) (note string, err error) {
	if err := l.Git.PushLanding(ctx, l.p.Path, l.remote, l.p.DefaultBranch, commit); err != nil {
		return "", err
	}
	err = l.Git.FollowLanding(ctx, l.p.Path, l.remote, git.Landing{ID: l.e.ID, What: l.t.Branch, Target: l.p.DefaultBranch, New: commit})
	if err != nil {
		l.Log.Warn("bring the default branch up to date", "component", "delivery", "task", l.t.ID, "error", err)
		note = fmt.Sprintf("%s at %s has the work, but %s here does not follow: %v", l.p.DefaultBranch, l.remote, l.p.DefaultBranch, err)
	}
	return note, nil
}

// landedCommit returns the commit by which the work came into the target, or "" if the branch, which was in the target
// before this landing, has no commits of its own. It is an error if it had commits when it was handed over.
func (l *landing) landedCommit(ctx context.Context, commit string) (string, error) {
	w := l.t.Work
	if w == nil {
		return commit, nil
	}
	brought, err := l.Git.FindBrought(ctx, l.p.Path, l.t.Branch, l.p.DefaultBranch, w.Base, w.Head)
	switch {
	case err != nil:
		return "", err
	case brought.Tip == "" || brought.Own:
		return commit, nil
	case !l.t.HandedOverCommits():
		return "", nil
	}
	return "", fmt.Errorf("branch %s no longer has the commits that were handed over (%.12s), and they are not in %s: restore the branch and try again", l.t.Branch, w.Head, l.p.DefaultBranch)
}

// checkout identifies the checkout of the target.
func (l *landing) checkout() string { return l.p.Path + "\x00" + l.p.DefaultBranch }

// failed classifies the error of a landing. The present work is kept, so that a person or an agent that resolves a conflict can begin again.
func (l *landing) failed(ctx context.Context, why error) (local.EffectResult, error) {
	done := local.EffectResult{Landing: landingOutcome(why)}
	var changes *git.LocalChangesError
	if errors.As(why, &changes) {
		done.InTheWay = changes.Files
	}
	switch done.Landing {
	case signal.LandingBusy:
		done.Since = l.Waits.since(l.checkout())
	case task.LandingConflict:
		done.Candidate = &task.Candidate{Target: l.p.DefaultBranch, Remote: l.remote}
		head, err := l.Git.BranchTip(ctx, l.p.Path, l.t.Branch)
		if err == nil {
			done.Candidate.Head = head
			if target, err := l.Git.BranchTip(ctx, l.p.Path, l.p.DefaultBranch); err == nil && l.Git.NeedsStackBase(ctx, l.p.Path, l.t.LandsFrom(), head, target) {
				done.Candidate.StackBase = l.t.LandsFrom()
			}
			done.Candidate.Ref, err = l.Git.KeepWork(ctx, l.p.Path, l.t.ID, head)
		}
		if err != nil {
			l.Log.Warn("keep the work of a task that did not land", "component", "delivery", "task", l.t.ID, "error", err)
		}
	}
	return done, asFinalError(why)
}

// landingOutcome returns the outcome of a landing that failed, or "" if it is tried again.
func landingOutcome(err error) string {
	var held *git.LockError
	var away *git.RemoteError
	var conflict *git.ConflictError
	var busy *git.BusyError
	switch {
	case errors.As(err, &held), errors.As(err, &away), git.IsEndedBySignal(err):
		return ""
	case errors.As(err, &conflict):
		return task.LandingConflict
	case errors.As(err, &busy):
		return signal.LandingBusy
	case errors.Is(err, git.ErrMoved):
		return signal.LandingMoved
	}
	return task.LandingBlocked
}

// RecoverLandings finishes or reverts landings in the checkouts of projects that a killed server left unfinished. It
// waits for a git process that still runs there.
func (d Service) RecoverLandings(ctx context.Context, projects []task.Project) {
	for _, p := range projects {
		did, err := d.Git.RecoverLanding(ctx, p.Path)
		switch {
		case err != nil:
			d.Log.Warn("find an unfinished landing", "component", "delivery", "project", p.Name, "error", err)
		case did != "":
			d.Log.Info(did, "component", "delivery", "project", p.Name)
		}
	}
}

// asFinalError marks errors for which a retry is useless: all but those of a lock that another process holds, of a remote
// that cannot be reached, and of a git that was ended by a signal.
func asFinalError(err error) error {
	var held *git.LockError
	var away *git.RemoteError
	var conflict *git.ConflictError
	switch {
	case err == nil || errors.As(err, &held) || errors.As(err, &away) || git.IsEndedBySignal(err):
		return err
	case errors.As(err, &conflict):
		return task.NewConflict(err, task.Conflict{Onto: conflict.Into, Files: conflict.Files})
	}
	return task.Mistakef("%v", err)
}
