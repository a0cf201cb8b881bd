// Package delivery delivers finished work: it merges it into the default branch, pushes it to a remote, or opens a pull
// request.
package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"orange/internal/adapter/git"
	"orange/internal/core/board"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/tracker"
	"orange/internal/server/forges"
)

// Service implements effect.Delivery.
type Service struct {
	Git      *git.Git
	Forges   *forges.Directory
	Project  func(name string) (task.Project, bool)
	TaskFile func(project string, id task.ID) (taskfile.Document, error)
	Log      *slog.Logger

	Waits *Waits // since when somebody keeps work from landing

	RequireApproval func(ctx context.Context, p task.Project, t *task.Task) error // of changes of paths that need a person
}

func (d Service) requireProject(t *task.Task) (task.Project, error) {
	p, ok := d.Project(t.Project)
	if !ok {
		return p, task.Mistakef("project %s is not registered: orange project add", t.Project)
	}
	return p.ForTask(t), nil
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
	landed := task.Candidate{}
	if t.Landing != nil && t.Landing.Outcome == task.Landed {
		landed = t.Landing.Candidate
	}
	return asFinalError(d.Git.DeleteRemoteBranch(ctx, p.Path, t.Branch, p.DefaultBranch, landed))
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
