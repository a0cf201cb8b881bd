package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orange/internal/atomicfile"
)

// CheckAttached returns an error unless dir is a worktree of root's repository: its .git file
// must name a folder in the repository, and that folder must name dir. It reads git's files,
// and runs git only if root is not an ordinary checkout.
func (g *Git) CheckAttached(ctx context.Context, root, dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is gone", dir)
	}
	common, err := g.commonOf(ctx, root)
	if err != nil {
		return err
	}
	l, err := layoutOf(dir)
	if err == nil {
		err = checkIntact(dir)
	}
	if err != nil || !samePlace(l.common, common) {
		return fmt.Errorf("%s is no longer a worktree of %s", dir, root)
	}
	return nil
}

// CheckWorktree returns the commit that is checked out in dir, and an error unless dir is a worktree of
// root's repository, as CheckAttached says, and on a branch, as OnBranch says.
func (g *Git) CheckWorktree(ctx context.Context, root, dir, branch string) (head string, attached bool, err error) {
	if err := g.CheckAttached(ctx, root, dir); err != nil {
		return "", false, err
	}
	head, now, err := g.Head(dir)
	if err == nil {
		err = checkBranch(dir, now, branch)
	}
	return head, true, err
}

// commonOf returns the same folder as commonDir. For an ordinary checkout it reads the files
// and does not run git.
func (g *Git) commonOf(ctx context.Context, root string) (string, error) {
	if l, err := layoutOf(root); err == nil {
		return l.common, nil
	}
	return g.commonDir(ctx, root)
}

// SameRepository reports whether two working trees share one repository.
func (g *Git) SameRepository(ctx context.Context, a, b string) (bool, error) {
	one, err := g.commonOf(ctx, a)
	if err != nil {
		return false, err
	}
	other, err := g.commonOf(ctx, b)
	return err == nil && samePlace(one, other), err
}

// OnBranch returns an error unless a worktree is on a branch. During a rebase or bisect of the
// branch, HEAD is detached, and the worktree still counts as being on the branch.
func (g *Git) OnBranch(dir, branch string) error {
	_, now, err := g.Head(dir)
	if err != nil {
		return err
	}
	return checkBranch(dir, now, branch)
}

// checkBranch is OnBranch for a worktree whose branch is known.
func checkBranch(dir, now, branch string) error {
	switch {
	case now == branch || now == "" && operationOn(dir, branch) != "":
		return nil
	case now == "":
		return fmt.Errorf("%s is on no branch instead of %s: run git -C %s switch %s", dir, branch, dir, branch)
	}
	return fmt.Errorf("%s is on branch %s instead of %s: run git -C %s switch %s", dir, now, branch, dir, branch)
}

// SwitchBack checks out the branch of a worktree again if that loses nothing: the worktree must
// have no uncommitted change, no commit that is on no branch, and no operation in progress.
func (g *Git) SwitchBack(ctx context.Context, dir, branch string) error {
	wrong := g.OnBranch(dir, branch)
	if wrong == nil {
		return nil
	}
	head, now, err := g.Head(dir)
	if err != nil {
		return err
	}
	l, err := layoutOf(dir)
	if err != nil {
		return err
	}
	tips, err := g.refTips(ctx, dir, heads+branch)
	switch {
	case err != nil:
		return err
	case tips[heads+branch] == "" && now != "":
		return fmt.Errorf("%s is on branch %s and branch %s no longer exists: run git -C %s branch -m %s, or give the task the branch %s", dir, now, branch, dir, branch, now)
	case tips[heads+branch] == "" || len(quitCommands(l.git)) > 0 || pathExists(l.git, "MERGE_HEAD"):
		return wrong
	}
	dirty, err := g.IsDirty(ctx, dir)
	lost := false
	if err == nil && now == "" {
		lost, err = g.isUnreachable(ctx, dir, head)
	}
	switch {
	case err != nil:
		return err
	case dirty:
		return fmt.Errorf("%w, after committing or removing the changes there", wrong)
	case lost:
		return fmt.Errorf("%w, after giving its commits a branch", wrong)
	}
	return g.SwitchBranch(ctx, dir, branch, "")
}

// ReattachWorktree makes the folder at path a worktree of root's repository again, leaves its
// files as they are, and reports whether that was possible. It is possible if a .git file shows
// that the folder was a worktree. If the repository was moved, ReattachWorktree corrects that
// file; if the worktree's entry was pruned, it creates the entry again on branch. Files that
// differ from the branch then show as uncommitted changes.
func (g *Git) ReattachWorktree(ctx context.Context, root, path, branch string) (bool, error) {
	common, err := g.commonDir(ctx, root)
	if err != nil {
		return false, err
	}
	path = resolveParentLinks(path)
	link := filepath.Join(path, ".git")
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	named, err := readPath(link, "gitdir: ", path)
	if err != nil {
		return false, nil
	}
	empty := emptyFor(path)
	if err := discardEmpty(common, empty); err != nil {
		return false, fmt.Errorf("make %s a worktree of %s again: %w", path, root, err)
	}
	if _, err := os.Lstat(named); !errors.Is(err, fs.ErrNotExist) {
		return false, nil // it belongs to another repository, or to another worktree of this one
	}
	r, err := registeredIn(common, path)
	if err == nil && r.git == "" {
		if filepath.Base(filepath.Dir(named)) != "worktrees" || !samePlace(filepath.Dir(filepath.Dir(named)), common) {
			return false, nil
		}
		r.git, err = g.registerAgain(ctx, root, path, empty, branch)
	}
	if err == nil {
		err = atomicfile.Write(link, []byte("gitdir: "+r.git+"\n"), 0o644)
	}
	if err != nil {
		return false, fmt.Errorf("make %s a worktree of %s again: %w", path, root, err)
	}
	return true, nil
}

// emptyFor returns the temporary folder for which registerAgain creates the entry of a
// worktree. It has the worktree's name, so that the entry gets the same name as before.
func emptyFor(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".again", filepath.Base(path))
}

// discardEmpty removes what a crash has left of the temporary folder and its entry.
func discardEmpty(common, empty string) error {
	old, err := registeredIn(common, empty)
	if err == nil && old.git != "" {
		err = os.RemoveAll(old.git)
	}
	if err == nil {
		err = os.RemoveAll(filepath.Dir(empty))
	}
	return err
}

// registerAgain creates the entry of a worktree whose folder exists. It creates the complete
// entry for an empty folder and points it at the worktree last, so that the next try can remove
// an entry that a crash left behind.
func (g *Git) registerAgain(ctx context.Context, root, path, empty, branch string) (string, error) {
	err := g.checkBranchFree(ctx, root, branch)
	if err == nil {
		_, err = g.runQuietly(ctx, root, "worktree", "add", "--quiet", "--no-checkout", "--detach", empty, heads+branch)
	}
	if err == nil {
		_, err = g.runQuietly(ctx, empty, "symbolic-ref", "HEAD", heads+branch)
	}
	if err == nil {
		_, err = g.runQuietly(ctx, empty, "read-tree", "HEAD")
	}
	if err != nil {
		return "", err
	}
	made, err := layoutOf(empty)
	if err == nil {
		err = atomicfile.Write(filepath.Join(made.git, "gitdir"), []byte(filepath.Join(path, ".git")+"\n"), 0o644)
	}
	if err == nil {
		err = os.RemoveAll(filepath.Dir(empty))
	}
	return made.git, err
}

// ceilingEnv returns the variable that stops git from searching for a repository above a
// folder.
func ceilingEnv(dir string) string {
	return "GIT_CEILING_DIRECTORIES=" + filepath.Dir(filepath.Clean(dir))
}
