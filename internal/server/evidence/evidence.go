// Package evidence looks up the facts that gates ask for.
package evidence

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orange/internal/adapter/git"
	"orange/internal/core/prompt"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
	"orange/internal/host"
	"orange/internal/runtime/local"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// A Source looks evidence up in the project's repository and in the task's worktree.
type Source struct {
	Git       *git.Git
	Pull      func(ctx context.Context, p task.Project, url, branch string) (tracker.PR, error)
	Required  func(ctx context.Context, p task.Project) ([]string, error) // the checks that the forge requires; nil if it does not say
	Host      host.Evidence                                               // what only the machine of the worktree knows
	Recording bool                                                        // effects are only recorded, and work counts as committed
}

// Probe implements local.EvidenceSource.
func (s Source) Probe(ctx context.Context, q local.Question) signal.Evidence {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	e := signal.Evidence{Name: q.Name}
	var err error
	switch {
	case s.Recording && (q.Name == workflow.Commits || q.Name == workflow.Clean):
		e.Holds, e.Detail = true, "assumed, because effects are only recorded"
	case q.Name == workflow.Merged:
		e.Holds, e.Detail, err = s.Git.IsMerged(ctx, q.Project.Path, q.Task.Branch, q.Project.DefaultBranch)
		if err == nil && e.Holds {
			err = s.whatWasMerged(ctx, &q, &e)
		}
		if err == nil && !e.Holds {
			err = s.checkLanded(ctx, &q, &e)
		}
		if err == nil && !e.Holds && q.Commit != "" { // the forge has merged this, and may have squashed it
			if tip, kept, wrong := s.checkKept(ctx, &q); wrong == nil && kept && tip != "" {
				e.Holds, e.Detail = true, fmt.Sprintf("the forge has merged %.12s", q.Commit)
				if w := q.Task.Work; w != nil {
					e.Base, e.Head = w.Base, tip
				}
			}
		}
		if err == nil && !e.Holds && !e.Empty {
			err = s.findLeftBehind(ctx, &q, &e)
		}
	case q.Name == workflow.Commits:
		var w git.BranchWork
		w, err = s.Git.MeasureBranch(ctx, q.Project.Path, q.Task.Branch, q.Project.DefaultBranch, q.Task.StackBase())
		e.Holds, e.Detail, e.Base, e.Head = w.Commits > 0, w.Detail, w.Base, w.Tip
		if before := q.Task.Work; before != nil && w.Base != "" && w.Base == before.Head { // its first part was merged already
			e.Base = before.Base
		}
	case q.Name == workflow.Clean:
		e.Holds, e.Detail, err = s.checkClean(ctx, q.Task)
	case q.Name == workflow.Unchanged:
		err = s.checkUnchanged(ctx, &q, &e)
	case q.Name == workflow.CI:
		e.Holds, e.Detail, err = s.checkCI(ctx, &q)
	case q.Name == workflow.NothingLost:
		e.Detail, err = s.describeLoss(ctx, &q)
		e.Holds = e.Detail == ""
	case q.Name == workflow.ClaimsFact:
		e.Detail, err = s.checkClaims(ctx, &q)
		e.Holds = e.Detail == ""
	case q.Gate != nil && q.Gate.Check != "":
		e.Holds, e.Detail, err = s.checkPassed(ctx, &q)
	case q.Gate != nil && q.Gate.File != "":
		e.Holds, e.Detail, err = s.checkFile(&q)
	default:
		err = errors.New("this evidence cannot be looked up")
	}
	if err != nil {
		e.Holds, e.Detail = false, err.Error()
	}
	return e
}

// checkLanded accepts work whose commits are not in the default branch, but whose changes landed there by a commit that the
// record names: after a squash or a rebase.
func (s Source) checkLanded(ctx context.Context, q *local.Question, e *signal.Evidence) error {
	tip, err := s.Git.BranchTip(ctx, q.Project.Path, q.Task.Branch)
	if l := q.Task.Landing; err == nil && l.BringsHead(tip) {
		var landed bool
		if landed, err = s.Git.HasLanded(ctx, q.Project.Path, l.Commit, q.Project.DefaultBranch); landed {
			e.Holds, e.Detail = true, fmt.Sprintf("branch %s (%.7s) landed as %.7s in %s", q.Task.Branch, tip, l.Commit, q.Project.DefaultBranch)
			if w := q.Task.Work; w != nil {
				e.Base, e.Head = w.Base, tip
			}
		}
	}
	return err
}

// whatWasMerged sets which commits of a branch were merged. It sets Empty if the branch has no commits of its own: it is
// where it was when the task began, or was only moved to a newer default branch. A branch that had commits at its handover
// and has lost them is not merged.
func (s Source) whatWasMerged(ctx context.Context, q *local.Question, e *signal.Evidence) error {
	w := q.Task.Work
	if w == nil { // it is unknown where the branch began
		e.Empty = true
		e.Detail = fmt.Sprintf("branch %s has no commits that %s does not have: there is nothing to merge", q.Task.Branch, q.Project.DefaultBranch)
		return nil
	}
	brought, err := s.Git.FindBrought(ctx, q.Project.Path, q.Task.Branch, q.Project.DefaultBranch, w.Base, w.Head)
	switch {
	case err != nil || brought.Tip == "":
		return err
	case brought.Own:
		e.Base, e.Head = brought.Base, brought.Head
		e.LeftBehind = brought.LeftBehind
		return nil
	}
	e.Empty = true
	if !q.Task.HandedOverCommits() {
		e.Detail = fmt.Sprintf("branch %s has no commits: nothing was merged", q.Task.Branch)
		return nil
	}
	e.Holds = false
	e.Detail = fmt.Sprintf("branch %s has lost its commits, and the commit of its handover (%.12s) is not in %s: restore it with %s",
		q.Task.Branch, w.Head, q.Project.DefaultBranch, s.restoreCommand(q))
	return nil
}

// findLeftBehind sets which commits of the handover a branch that is not merged does not have any more.
func (s Source) findLeftBehind(ctx context.Context, q *local.Question, e *signal.Evidence) error {
	w := q.Task.Work
	if w == nil || w.Head == "" {
		return nil
	}
	tip, err := s.Git.BranchTip(ctx, q.Project.Path, q.Task.Branch)
	if err == nil && tip != "" {
		e.LeftBehind, err = s.Git.FindLeftBehind(ctx, q.Project.Path, w.Head, tip)
	}
	return err
}

// restoreCommand returns the command that moves a task's branch back to the commit of its handover. Git moves a branch that
// is checked out only where it is checked out.
func (s Source) restoreCommand(q *local.Question) string {
	if q.Task.Workspace != "" {
		return fmt.Sprintf("git -C %s reset --keep %.12s", s.Host.Workspace(q.Task.Workspace), q.Task.Work.Head)
	}
	return fmt.Sprintf("git -C %s branch -f %s %.12s", q.Project.Path, q.Task.Branch, q.Task.Work.Head)
}

// checkClean reports whether the task's worktree has no uncommitted files. Git ignores the files that Orange itself puts
// there.
func (s Source) checkClean(ctx context.Context, t *task.Task) (bool, string, error) {
	if t.Workspace == "" {
		return true, "the task has no workspace", nil
	}
	files, err := s.Host.UncommittedFiles(ctx, t.Workspace)
	if err != nil || len(files) == 0 {
		return err == nil, "nothing is uncommitted", err
	}
	return false, fmt.Sprintf("uncommitted in the worktree: %s: commit or remove them", ansi.OneLine(humanize.FirstFew(files, 5))), nil
}

// checkKept reports whether the forge has all commits of the task's branch: the head of its pull request is q.Commit, and
// people may have added commits there. Tip is the head of the branch, or "" if there is no branch.
func (s Source) checkKept(ctx context.Context, q *local.Question) (tip string, kept bool, err error) {
	tip, err = s.Git.BranchTip(ctx, q.Project.Path, q.Task.Branch)
	if err != nil || tip == "" || tip == q.Commit {
		return tip, err == nil, err
	}
	if q.Commit == "" || s.Git.EnsureCommit(ctx, q.Project.Path, q.Task.Branch, q.Commit) != nil {
		return tip, false, nil // q.Commit is not available here to compare with
	}
	return tip, s.Git.IsAncestor(ctx, q.Project.Path, tip, q.Commit), nil
}

// describeLoss returns what would be lost if the task were cancelled. It returns "" if the forge keeps all commits of the
// branch with the pull request and nothing is uncommitted.
func (s Source) describeLoss(ctx context.Context, q *local.Question) (string, error) {
	tip, kept, err := s.checkKept(ctx, q)
	switch {
	case err != nil:
		return "", err
	case tip != "" && !kept:
		return "its branch has commits that the pull request does not have", nil
	case q.Task.Workspace == "":
		return "", nil
	}
	dirty, err := s.Host.IsDirty(ctx, q.Task.Workspace)
	if err == nil && dirty {
		return "its workspace has changes that are not committed", nil
	}
	return "", err
}

// checkClaims returns which of a worker's claims about the repository are wrong, or "" if none is.
func (s Source) checkClaims(ctx context.Context, q *local.Question) (string, error) {
	var wrong []string
	if b := q.Git.Branch; b != "" && b != q.Task.Branch {
		wrong = append(wrong, fmt.Sprintf("it names branch %q, but the task works on %s", b, q.Task.Branch))
	}
	if q.Git.Made || q.Git.Commit != "" {
		n, _, err := s.Git.CountCommits(ctx, q.Project.Path, q.Task.Branch, q.Project.DefaultBranch)
		if err != nil {
			return "", err
		}
		if n == 0 {
			wrong = append(wrong, "it claims a commit, but "+q.Task.Branch+" has no commits of its own")
		}
	}
	if sha := q.Git.Commit; sha != "" && !s.Git.HasCommit(ctx, q.Project.Path, q.Task.Branch, sha) {
		wrong = append(wrong, fmt.Sprintf("commit %.40q is not on %s", sha, q.Task.Branch))
	}
	if why := s.claimedPR(ctx, q); why != "" {
		wrong = append(wrong, why)
	}
	return strings.Join(wrong, "; "), nil
}

// claimedPR returns what is wrong with the pull request that a worker claims to have opened, which must be that of the
// task's branch. It returns "" if nothing is wrong.
func (s Source) claimedPR(ctx context.Context, q *local.Question) string {
	claimed := q.Git.PR
	if claimed == nil {
		return ""
	}
	if q.Task.Delivery != task.DeliverPR {
		return fmt.Sprintf("it names pull request %.200q, but this project does not deliver work as pull requests", claimed.URL)
	}
	found, err := s.Pull(ctx, q.Project, "", q.Task.Branch)
	switch {
	case err != nil:
		return fmt.Sprintf("it names pull request %.200q, but no pull request of %s was found", claimed.URL, q.Task.Branch)
	case found.URL != claimed.URL:
		return fmt.Sprintf("it names pull request %.200q, but that of %s is %s", claimed.URL, q.Task.Branch, found.URL)
	}
	return ""
}

// checkFile checks the file that a gate asks for; see host.Evidence.CheckFile.
func (s Source) checkFile(q *local.Question) (bool, string, error) {
	if q.Task.Workspace == "" {
		return false, "the task has no workspace", nil
	}
	return s.Host.CheckFile(host.RequiredFile{
		Task: q.Task.ID, Workspace: q.Task.Workspace, Path: prompt.ResolveInput(q.Gate.File, workflow.EnhancementName(q.Task.Branch), ""),
		Header: q.Gate.Header, Attempt: q.Attempt, Since: q.Task.Since,
	})
}

// checkPassed reports whether a check passed, as the task defines it, on the present tree of the branch.
func (s Source) checkPassed(ctx context.Context, q *local.Question) (bool, string, error) {
	c, ok := q.Task.Checks.Named(q.Gate.Check)
	if !ok {
		return false, "the task has no such check", nil
	}
	r, ok := q.Task.CheckResultOf(c.Name)
	if !ok {
		return false, fmt.Sprintf("it has not run yet: orange task check %s %s", q.Task.ID, c.Name), nil
	}
	_, tree, err := s.Git.ReadTree(ctx, q.Project.Path, "refs/heads/"+q.Task.Branch)
	if err != nil {
		return false, "", err
	}
	switch {
	case r.Covers(c, tree):
		return true, fmt.Sprintf("passed on tree %.12s", tree), nil
	case r.Outcome != task.CheckPassed:
		return false, r.Describe(), nil
	}
	return false, fmt.Sprintf("it passed on tree %.12s, and the branch is at %.12s now: orange task check %s %s", r.Tree, tree, q.Task.ID, c.Name), nil
}
