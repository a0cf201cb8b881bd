package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A checkout is a working tree of a repository: the main one or a linked one.
type checkout struct {
	path   string
	branch string // empty if no branch is checked out
	busy   string // the operation in progress on a branch that it has left for the time being
	locked bool
	gone   bool // its folder is missing, or is something else now
	hidden bool // path is the repository, which does not name the folder
	bare   bool // it has the files of its branch, but core.bare tells git that there are none
}

// listCheckouts lists the working trees of a repository.
func (g *Git) listCheckouts(ctx context.Context, dir string) ([]checkout, error) {
	out, err := g.run(ctx, dir, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, fmt.Errorf("list the worktrees of %s: %w", dir, err)
	}
	var list []checkout
	for block := range strings.SplitSeq(out, "\n\n") {
		var c checkout
		bare := false
		for line := range strings.SplitSeq(block, "\n") {
			key, value, _ := strings.Cut(line, " ")
			switch key {
			case "worktree":
				c.path = value
			case "branch":
				c.branch = strings.TrimPrefix(value, heads)
			case "locked":
				c.locked = true
			case "prunable":
				c.gone = true
			case "bare":
				bare = true
			}
		}
		if c.path != "" {
			_, err := os.Lstat(c.path)
			c.gone = c.gone || err != nil
			if len(list) == 0 && bare {
				g.findBareCheckout(ctx, &c)
			} else if len(list) == 0 {
				g.findMainFolder(ctx, dir, &c)
			}
			list = append(list, c)
		}
	}
	return list, nil
}

// findMainFolder completes the main working tree of the repository of dir. Where the repository lies elsewhere, as that of a
// submodule does, git lists the repository instead of the folder.
func (g *Git) findMainFolder(ctx context.Context, dir string, c *checkout) {
	if _, err := os.Lstat(filepath.Join(c.path, ".git")); err == nil || c.gone {
		return
	}
	if l, err := layoutOf(dir); err == nil && l.git == l.common && samePlace(l.common, c.path) {
		c.path = dir
		return
	}
	top, err := g.run(ctx, c.path, "rev-parse", "--show-toplevel")
	if c.hidden = err != nil || top == ""; !c.hidden {
		c.path = top
	}
}

// findBareCheckout completes a main working tree that a setting, core.bare, hides from git: an agent may have made it in the
// settings that all worktrees share. A repository without an index, or without any of its files, is bare indeed.
func (g *Git) findBareCheckout(ctx context.Context, c *checkout) {
	_, branch, known, err := readHead(c.path)
	if err != nil || !known {
		return
	}
	out, err := g.inGitDir(ctx, filepath.Join(c.path, ".git"), "ls-files", "-z")
	if err != nil {
		return
	}
	if slices.ContainsFunc(splitNulTerminated(out), func(name string) bool { return fileThere(c.path, name) }) {
		c.bare, c.branch = true, branch
	}
}

// resolveAlias returns the branch that a branch stands for: another one if it is a symbolic ref, as main is after git
// symbolic-ref refs/heads/main refs/heads/master. Git follows it where it moves the branch, and names the other one where it
// lists checkouts.
func (g *Git) resolveAlias(ctx context.Context, root, branch string) (string, error) {
	ref, err := g.run(ctx, root, "symbolic-ref", "--quiet", heads+branch)
	switch name, ok := strings.CutPrefix(ref, heads); {
	case exitCode(err) == 1:
		return branch, nil
	case err != nil:
		return "", fmt.Errorf("find the branch %s: %w", branch, err)
	case !ok:
		return "", fmt.Errorf("%s stands for %s, which is no branch: give the project another base", branch, makePrintable(ref))
	default:
		return name, nil
	}
}

// forgetArguments returns the arguments of git worktree that make git forget a checkout whose folder is gone.
func (c checkout) forgetArguments() string {
	if c.locked {
		return "remove --force --force " + c.path
	}
	return "prune"
}

// checkoutsOf lists the working trees in which a branch is checked out, or in which an operation
// on the branch is in progress.
func (g *Git) checkoutsOf(ctx context.Context, dir, branch string) ([]checkout, error) {
	all, err := g.listCheckouts(ctx, dir)
	var list []checkout
	for _, c := range all {
		if c.branch == "" {
			if c.hidden {
				c.busy = operationRecorded(c.path, branch)
			} else {
				c.busy = operationOn(c.path, branch)
			}
		}
		if c.branch == branch || c.busy != "" {
			list = append(list, c)
		}
	}
	return list, err
}

// checkoutOf finds the first of checkoutsOf.
func (g *Git) checkoutOf(ctx context.Context, dir, branch string) (checkout, bool, error) {
	list, err := g.checkoutsOf(ctx, dir, branch)
	if err != nil || len(list) == 0 {
		return checkout{}, false, err
	}
	return list[0], true, nil
}

// operationOn returns the name of the operation that will return to a branch, or "" if there is
// none.
func operationOn(path, branch string) string {
	l, err := layoutOf(path)
	if err != nil {
		return ""
	}
	return operationRecorded(l.git, branch)
}

// operationRecorded is operationOn for the administrative folder of a working tree.
func operationRecorded(gitDir, branch string) string {
	for file, operation := range map[string]string{"rebase-merge/head-name": "rebase", "rebase-apply/head-name": "rebase", "BISECT_START": "bisect"} {
		text, err := os.ReadFile(filepath.Join(gitDir, file))
		if name := strings.TrimSpace(string(text)); err == nil && strings.TrimPrefix(name, heads) == branch {
			return operation
		}
	}
	return ""
}

// checkBranchFree returns an error if a branch cannot be checked out in dir.
func (g *Git) checkBranchFree(ctx context.Context, dir, branch string) error {
	c, found, err := g.checkoutOf(ctx, dir, branch)
	if err != nil || !found || samePlace(c.path, dir) {
		return err
	}
	return c.takenError(dir, branch)
}

// takenError returns the error for a branch that cannot be checked out elsewhere because this
// checkout of the repository of root uses it.
func (c checkout) takenError(root, branch string) error {
	if c.gone {
		return fmt.Errorf("branch %s is checked out in %s, which does not exist now: bring it back, or forget it with git -C %s worktree %s, or give the task another branch",
			branch, c.path, root, c.forgetArguments())
	}
	if c.busy != "" {
		return fmt.Errorf("branch %s is in use in %s, where a %s is in progress: finish it there and try again", branch, c.path, c.busy)
	}
	return fmt.Errorf("branch %s is checked out in %s: switch to another branch there (git -C %s switch --detach), or give the task another branch", branch, c.path, c.path)
}
