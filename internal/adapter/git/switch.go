package git

import (
	"context"
	"fmt"
)

// DefaultCommit returns the commit at which new work begins: the default branch of origin if it
// is ahead of the local one, otherwise the local one.
func (g *Git) DefaultCommit(ctx context.Context, root, branch string) (string, error) {
	if branch == "" {
		var err error
		if branch, err = g.DefaultBranch(ctx, root); err != nil {
			return "", err
		}
	}
	if err := CheckBranch(branch); err != nil {
		return "", err
	}
	tips, err := g.refTips(ctx, root, heads+branch, origins+branch)
	if err != nil {
		return "", err
	}
	local, remote := tips[heads+branch], tips[origins+branch]
	switch {
	case local == "" && remote == "":
		return "", fmt.Errorf("%s has no commit on %s: make a first commit, or check the project's default branch", root, branch)
	case remote == "" || local == remote:
		return local, nil
	case local == "":
		return remote, nil
	}
	behind, err := g.historyContains(ctx, root, remote, local)
	if behind {
		return remote, err
	}
	return local, err
}

// historyContains reports whether commit is part of the history of tip.
func (g *Git) historyContains(ctx context.Context, root, tip, commit string) (bool, error) {
	_, err := g.run(ctx, root, "merge-base", "--is-ancestor", commit, tip)
	if exitCode(err) == 1 {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("compare %.7s with %.7s: %w", commit, tip, err)
	}
	return true, nil
}

// SwitchBranch checks out a branch in the worktree at dir: the local branch, or else that of
// origin, or else a new one that begins at base. The repository's hooks run. If the checkout
// would overwrite ignored files, SwitchBranch returns a BlockedError.
func (g *Git) SwitchBranch(ctx context.Context, dir, branch, base string) error {
	if err := CheckBranch(branch); err != nil {
		return err
	}
	if err := g.checkWorksOnDir(ctx, dir); err != nil {
		return err
	}
	head, current, err := g.Head(dir)
	if err != nil || current == branch {
		return err
	}
	if err := g.checkBranchFree(ctx, dir, branch); err != nil {
		return err
	}
	commit, err := g.ensureBranch(ctx, dir, branch, base)
	if err != nil {
		return err
	}
	if err := g.checkNotBlocked(ctx, dir, head, commit); err != nil {
		return err
	}
	return g.switchTo(ctx, dir, branch)
}

// switchTo checks out a branch that exists. Git returns the exit code of a hook that runs
// afterwards, so switchTo checks where HEAD is instead.
func (g *Git) switchTo(ctx context.Context, dir, branch string) error {
	_, err := g.runCall(ctx, call{dir: dir, args: []string{"switch", "--quiet", "--no-guess", branch}, timeout: checkoutTimeout})
	if err == nil {
		return nil
	}
	if _, now, headErr := g.Head(dir); headErr == nil && now == branch && exitCode(err) >= 0 {
		return nil
	}
	return fmt.Errorf("check out %s in %s: %w", branch, dir, err)
}

// ensureBranch creates a branch if it does not exist and returns its commit.
func (g *Git) ensureBranch(ctx context.Context, dir, branch, base string) (string, error) {
	tips, err := g.refTips(ctx, dir, heads+branch, origins+branch)
	if err != nil {
		return "", err
	}
	if commit := tips[heads+branch]; commit != "" {
		return commit, nil
	}
	args := []string{"branch", "--no-track", branch}
	commit := tips[origins+branch]
	if commit != "" {
		args = []string{"branch", "--track", branch, origins + branch}
	} else {
		if commit, err = g.resolveRevision(ctx, dir, base); err != nil {
			return "", err
		}
		if commit == "" {
			return "", fmt.Errorf("branch %s cannot begin at %q: there is no such commit", branch, base)
		}
		args = append(args, commit)
	}
	if _, err := g.runCall(ctx, call{dir: dir, args: args}); err != nil {
		return "", fmt.Errorf("make branch %s: %w", branch, err)
	}
	return commit, nil
}

// RenameBranch switches the worktree at dir from branch from to branch to. If to does not
// exist, from is renamed. If it exists, RenameBranch checks it out and deletes from, but only
// if git finds all of from elsewhere.
func (g *Git) RenameBranch(ctx context.Context, dir, from, to string) error {
	if err := checkBranches(from, to); err != nil {
		return err
	}
	if from == to {
		return nil
	}
	tips, err := g.refTips(ctx, dir, heads+from, heads+to)
	if err != nil {
		return err
	}
	switch {
	case tips[heads+to] == "" && tips[heads+from] == "":
		return fmt.Errorf("there is no branch %s to rename: create it, or give the task the branch it has", from)
	case tips[heads+to] == "":
		if _, err := g.run(ctx, dir, "branch", "-m", from, to); err != nil {
			return fmt.Errorf("rename branch %s to %s: %w", from, to, err)
		}
		return nil
	}
	if err := g.adoptBranch(ctx, dir, to); err != nil {
		return err
	}
	if tips[heads+from] != "" {
		_, _ = g.run(ctx, dir, "branch", "-d", from) // git refuses if it has commits of its own; then it stays
	}
	return nil
}

// adoptBranch checks out a branch that exists and carries uncommitted changes over if git
// allows it.
func (g *Git) adoptBranch(ctx context.Context, dir, branch string) error {
	head, current, err := g.Head(dir)
	if err != nil || current == branch {
		return err
	}
	if err := g.checkBranchFree(ctx, dir, branch); err != nil {
		return err
	}
	commit, err := g.resolveRevision(ctx, dir, heads+branch)
	if err == nil {
		err = g.checkNotBlocked(ctx, dir, head, commit)
	}
	if err != nil {
		return err
	}
	return g.switchTo(ctx, dir, branch)
}
