package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// RepairMoved checks that the repository at root is the one that was at old, and repairs the
// worktrees at places so that they and the repository refer to each other again. It changes
// nothing in another repository.
func (g *Git) RepairMoved(ctx context.Context, old, root string, places []string) error {
	same, err := g.sameRepository(ctx, old, root, places)
	if err != nil {
		return err
	}
	if !same {
		return fmt.Errorf("%s is not the repository that was at %s: give the folder that it was moved to", root, old)
	}
	args := []string{"worktree", "repair"}
	for _, place := range places {
		if _, err := os.Stat(filepath.Join(place, ".git")); err == nil {
			args = append(args, place)
		}
	}
	if _, err := g.run(ctx, root, args...); err != nil {
		return fmt.Errorf("repair the worktrees of %s: %w", root, err)
	}
	return nil
}

// sameRepository compares two repositories by their root commits, or, if nothing exists at old
// any more, by the worktrees that the repository knows.
func (g *Git) sameRepository(ctx context.Context, old, root string, places []string) (bool, error) {
	if samePlace(old, root) {
		return true, nil
	}
	began, err := g.rootCommits(ctx, root)
	if err != nil {
		return false, err
	}
	if _, err := os.Stat(old); err == nil {
		before, err := g.rootCommits(ctx, old)
		return err == nil && shareLine(began, before), nil
	}
	common, err := g.commonDir(ctx, root)
	if err != nil {
		return false, err
	}
	list, err := listRegistrations(common)
	if err != nil {
		return false, err
	}
	there := 0
	for _, place := range places {
		if _, err := os.Lstat(place); err != nil {
			continue
		}
		there++
		for _, r := range list {
			if r.path != "" && resolveParentLinks(place) == r.path {
				return true, nil
			}
		}
	}
	return there == 0, nil // nothing of it is here that could be damaged
}

// rootCommits returns the commits without a parent, one per line.
func (g *Git) rootCommits(ctx context.Context, root string) (string, error) {
	out, err := g.run(ctx, root, "rev-list", "--max-parents=0", anyRef)
	if err != nil {
		return "", fmt.Errorf("find the first commit of %s: %w", root, err)
	}
	return out, nil
}

// shareLine reports whether two texts have a line in common.
func shareLine(a, b string) bool {
	have := map[string]bool{}
	for line := range strings.SplitSeq(a, "\n") {
		have[line] = line != ""
	}
	for line := range strings.SplitSeq(b, "\n") {
		if have[line] {
			return true
		}
	}
	return false
}
