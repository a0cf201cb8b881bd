package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// sameRepository reports whether the repository at root is the one that was at old. If none is at
// old any more, the worktrees that root's repository knows decide. If one still is there, root's must
// be the same, or have a root commit in common if no worktree belongs to the one at old: a clone has
// the same commits, and not the worktrees.
func (g *Git) sameRepository(ctx context.Context, old, root string, places []string) (bool, error) {
	if samePlace(old, root) {
		return true, nil
	}
	common, err := g.commonDir(ctx, root)
	if err != nil {
		return false, err
	}
	if there, err := layoutOf(old); err == nil {
		if samePlace(there.common, common) {
			return true, nil
		}
		return g.replaces(ctx, old, root, places)
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
			if r.path != "" && (resolveParentLinks(place) == r.path || r.movedTo(place, old)) {
				return true, nil
			}
		}
	}
	return there == 0, nil // nothing of it is here that could be damaged
}

// movedTo reports whether place, whose repository was at old, is the worktree: it was moved with its repository, as a home
// folder with both is, so that each names the other where it was.
func (r registration) movedTo(place, old string) bool {
	link, err := readPath(filepath.Join(place, ".git"), "gitdir: ", place)
	_, away := os.Lstat(r.path)
	return err == nil && errors.Is(away, fs.ErrNotExist) && filepath.Base(r.path) == filepath.Base(place) &&
		link == filepath.Join(old, ".git", "worktrees", filepath.Base(r.git))
}

// replaces reports whether the repository at root can take the place of another one at old. It returns
// an error if a worktree belongs to that one.
func (g *Git) replaces(ctx context.Context, old, root string, places []string) (bool, error) {
	began, err := g.rootCommits(ctx, root)
	if err != nil {
		return false, err
	}
	before, err := g.rootCommits(ctx, old)
	if err != nil || !shareLine(began, before) {
		return false, nil
	}
	for _, place := range places {
		if g.CheckAttached(ctx, old, place) == nil {
			return false, fmt.Errorf("%s still is the repository of %s: move it instead of copying it, or end the task there and run git -C %s worktree remove %s", old, place, old, place)
		}
	}
	return true, nil
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
