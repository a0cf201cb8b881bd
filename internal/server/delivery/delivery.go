// Package delivery delivers finished work: it merges it into the default branch, pushes it to a remote, or opens a pull
// request.
package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"orange/internal/adapter/git"
	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
	"orange/internal/runtime/local"
	"orange/internal/server/forges"
)

// Service implements effect.Delivery.
type Service struct {
	Git      *git.Git
	Forges   *forges.Directory
	Project  func(name string) (task.Project, bool)
	TaskFile func(project string, id task.ID) (taskfile.Document, error)
	Log      *slog.Logger

	RequireApproval func(ctx context.Context, p task.Project, t *task.Task) error // of changes of paths that need a person
}

func (d Service) requireProject(t *task.Task) (task.Project, error) {
	p, ok := d.Project(t.Project)
	if !ok {
		return p, task.Mistakef("project %s is not registered: orange project add", t.Project)
	}
	return p.ForTask(t), nil
}

// Merge implements effect.Delivery. If the work is delivered as a pull request, the forge merges it, and Merge only checks
// whether it has.
func (d Service) Merge(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	p, err := d.requireProject(&t)
	if err != nil {
		return local.EffectResult{}, err
	}
	strategy := cmp.Or(e.Arg, workflow.MergeAuto)
	if t.PRURL != "" && strategy == workflow.MergeAuto {
		return d.mergedPR(ctx, &t, p)
	}
	if err := d.RequireApproval(ctx, p, &t); err != nil {
		return local.EffectResult{}, err
	}
	m := git.Merging{
		ID: e.ID, Branch: t.Branch, Tip: e.Head, Into: p.DefaultBranch, Strategy: strategy,
		Message: fmt.Sprintf("Merge branch '%s': %s", t.Branch, t.Summary), StackBase: t.LandsFrom(),
	}
	landed := ""
	switch {
	case len(t.Checks) == 0:
		landed, err = d.Git.MergeBranch(ctx, p.Path, m)
	case t.Landing.InProgress():
		landed = t.Landing.Commit
		err = d.Git.LandCommit(ctx, p.Path, git.Landing{ID: e.ID, What: t.Branch, Target: t.Landing.Target, Old: t.Landing.Tip, New: landed})
	default:
		var c task.Candidate
		if c, landed, err = d.Git.BuildCandidate(ctx, p.Path, m); err == nil && landed == "" {
			return local.EffectResult{Landing: signal.LandingBuilt, Candidate: &c}, nil
		}
	}
	if err != nil {
		return d.failedLanding(ctx, &t, p, err)
	}
	if t.Work != nil && landed == t.Work.Base { // the branch has no commits: nothing was merged
		landed = ""
	}
	if t.Delivery.PushesBranch() {
		if err := d.Git.PushBranch(ctx, p.Path, forges.Origin, p.DefaultBranch); err != nil { // the work is merged, and a person can push it later
			d.Log.Warn("push the default branch", "component", "delivery", "task", t.ID, "error", err)
		}
	}
	return local.EffectResult{Landed: landed}, nil
}

// failedLanding classifies the error of a landing. The work as it is is kept, so that whoever resolves a conflict can
// begin again.
func (d Service) failedLanding(ctx context.Context, t *task.Task, p task.Project, why error) (local.EffectResult, error) {
	done := local.EffectResult{Landing: landingOutcome(why)}
	if done.Landing == task.LandingConflict {
		done.Candidate = &task.Candidate{Target: p.DefaultBranch}
		head, err := d.Git.BranchTip(ctx, p.Path, t.Branch)
		if err == nil {
			done.Candidate.Head = head
			if target, err := d.Git.BranchTip(ctx, p.Path, p.DefaultBranch); err == nil && d.Git.NeedsStackBase(ctx, p.Path, t.LandsFrom(), head, target) {
				done.Candidate.StackBase = t.LandsFrom()
			}
			done.Candidate.Ref, err = d.Git.KeepWork(ctx, p.Path, t.ID, head)
		}
		if err != nil {
			d.Log.Warn("keep the work of a task that did not land", "component", "delivery", "task", t.ID, "error", err)
		}
	}
	return done, asFinalError(why)
}

// landingOutcome returns the outcome of a landing that failed, or "" if it is tried again.
func landingOutcome(err error) string {
	var held *git.LockError
	var conflict *git.ConflictError
	var busy *git.BusyError
	switch {
	case errors.As(err, &held):
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

// mergedPR updates the default branch after the forge merged a pull request. It returns an error if it has not.
func (d Service) mergedPR(ctx context.Context, t *task.Task, p task.Project) (local.EffectResult, error) {
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

// asFinalError marks errors for which a retry is useless: all but that of a lock that another process holds.
func asFinalError(err error) error {
	var held *git.LockError
	var conflict *git.ConflictError
	switch {
	case err == nil || errors.As(err, &held):
		return err
	case errors.As(err, &conflict):
		return task.NewConflict(err, task.Conflict{Onto: conflict.Into, Files: conflict.Files})
	}
	return task.Mistakef("%v", err)
}

// Push implements effect.Delivery.
func (d Service) Push(ctx context.Context, t task.Task) error {
	p, err := d.requireProject(&t)
	if err != nil {
		return err
	}
	return d.pushBranch(ctx, &t, p)
}

// pushBranch pushes the task's branch. If there is no remote, the error is final.
func (d Service) pushBranch(ctx context.Context, t *task.Task, p task.Project) error {
	if has, err := d.Git.HasRemote(ctx, p.Path, forges.Origin); err == nil && !has {
		return task.Mistakef("project %s has no remote %s: add one with git remote add, or deliver locally: orange project update %s --delivery local", p.Name, forges.Origin, p.Name)
	}
	return d.Git.PushBranch(ctx, p.Path, forges.Origin, t.Branch)
}

// CreatePR implements effect.Delivery.
func (d Service) CreatePR(ctx context.Context, t task.Task) (string, error) {
	p, err := d.requireProject(&t)
	if err != nil {
		return "", err
	}
	if err := d.pushBranch(ctx, &t, p); err != nil {
		return "", err
	}
	doc, err := d.TaskFile(t.Project, t.ID)
	if err != nil {
		return "", err
	}
	forge, err := d.Forges.ProjectForge(ctx, p)
	if err != nil {
		return "", err
	}
	if forge == nil {
		return "", task.Mistakef("the remote of project %s names no forge: orange project update %s --forge-repo OWNER/REPO", p.Name, p.Name)
	}
	pr, err := forge.CreatePR(ctx, tracker.NewPR{Branch: t.Branch, Base: p.DefaultBranch, Title: t.Summary, Body: prBody(&t, doc)})
	var no *board.Refusal
	if errors.As(err, &no) {
		err = task.Mistakef("%v", err)
	}
	return pr.URL, err
}

// DeleteRemoteBranch implements effect.Delivery. It does nothing if the project pushes no branches.
func (d Service) DeleteRemoteBranch(ctx context.Context, t task.Task) error {
	p, err := d.requireProject(&t)
	if err != nil || !t.Delivery.PushesBranch() {
		return err
	}
	if has, err := d.Git.HasRemote(ctx, p.Path, forges.Origin); err == nil && !has {
		return nil
	}
	return asFinalError(d.Git.DeleteRemoteBranch(ctx, p.Path, t.Branch, p.DefaultBranch))
}

// prBody returns the description of a pull request: the plan and the handoff that agents wrote.
func prBody(t *task.Task, doc taskfile.Document) string {
	var b strings.Builder
	for _, name := range []string{"Plan", "Handoff"} {
		if s, ok := taskfile.FindSection(doc.Sections(), name); ok {
			fmt.Fprintf(&b, "## %s\n\n%s\n\n", name, s.Text)
		}
	}
	fmt.Fprintf(&b, "Task %s\n", t.ID)
	return b.String()
}
