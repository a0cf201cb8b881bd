package git

import (
	"context"
	"fmt"
	"strings"
)

// CheckUsable returns an error if a task cannot have a branch in the repository: the repository
// has no commit, git cannot hold the branch beside another one, or the branch is checked out
// outside of the folder pool.
func (g *Git) CheckUsable(ctx context.Context, root, branch, pool string) error {
	if err := CheckBranch(branch); err != nil {
		return err
	}
	if err := g.checkHasCommit(ctx, root); err != nil {
		return err
	}
	beside, err := g.conflictingBranch(ctx, root, branch)
	if err != nil {
		return err
	}
	if beside != "" {
		return fmt.Errorf("branch %s cannot be made beside branch %s, because git cannot hold both: choose another name, or rename %s (git -C %s branch -m)", branch, beside, beside, root)
	}
	c, found, err := g.checkoutOf(ctx, root, branch)
	if err != nil || !found || isWithin(pool, c.path) {
		return err
	}
	return c.takenError(root, branch)
}

// checkHasCommit returns an error if a repository has no commit.
func (g *Git) checkHasCommit(ctx context.Context, root string) error {
	commit, err := g.run(ctx, root, "rev-list", "--max-count=1", anyRef)
	if err != nil {
		return fmt.Errorf("find commits in %s: %w", root, err)
	}
	if commit == "" {
		return fmt.Errorf("the repository %s has no commit that a branch could begin at: create one there (git -C %s commit --allow-empty -m begin), then create the task", root, root)
	}
	return nil
}

// CheckBase returns an error if work cannot begin at a branch, because the repository has no commit, or because the branch is
// neither here nor at origin.
func (g *Git) CheckBase(ctx context.Context, root, base string) error {
	if err := CheckBranch(base); err != nil {
		return err
	}
	if err := g.checkHasCommit(ctx, root); err != nil {
		return err
	}
	tips, err := g.refTips(ctx, root, heads+base, origins+base)
	if err == nil && len(tips) == 0 {
		err = fmt.Errorf("there is no branch %s to begin at in %s, and none at origin: create it (git -C %s branch %s), fetch it, or choose another base", base, root, root, base)
	}
	return err
}

// HasBranch reports whether a repository has a branch of its own with this name.
func (g *Git) HasBranch(ctx context.Context, root, branch string) (bool, error) {
	tips, err := g.refTips(ctx, root, heads+branch)
	return len(tips) > 0, err
}

// conflictingBranch returns a branch that git cannot hold beside another, because one name
// would be a folder of the other.
func (g *Git) conflictingBranch(ctx context.Context, root, branch string) (string, error) {
	args := []string{"for-each-ref", "--format=%(refname)", heads + branch + "/"}
	for i, r := range branch {
		if r == '/' {
			args = append(args, heads+branch[:i])
		}
	}
	out, err := g.run(ctx, root, args...)
	if err != nil {
		return "", fmt.Errorf("list the branches of %s: %w", root, err)
	}
	for name := range strings.SplitSeq(out, "\n") {
		name = strings.TrimPrefix(name, heads)
		if name != "" && (strings.HasPrefix(name, branch+"/") || strings.HasPrefix(branch, name+"/")) {
			return name, nil
		}
	}
	return "", nil
}
