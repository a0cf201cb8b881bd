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

// CheckAttached says whether dir is a worktree of root's repository: its .git file names a folder
// in the repository, and that folder names dir. It reads git's files and starts git only
// for a root that is no ordinary checkout.
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
		return fmt.Errorf("%s is no worktree of %s any more", dir, root)
	}
	return nil
}

// commonOf is commonDir, read from the files of an ordinary checkout.
func (g *Git) commonOf(ctx context.Context, root string) (string, error) {
	if l, err := layoutOf(root); err == nil {
		return l.common, nil
	}
	return g.commonDir(ctx, root)
}

// SameRepository says whether two working trees share one repository.
func (g *Git) SameRepository(ctx context.Context, a, b string) (bool, error) {
	one, err := g.commonOf(ctx, a)
	if err != nil {
		return false, err
	}
	other, err := g.commonOf(ctx, b)
	return err == nil && samePlace(one, other), err
}

// OnBranch says whether a worktree is on a branch. In the middle of a rebase or a bisect of
// the branch HEAD is detached, and the worktree still counts as being on it.
func (g *Git) OnBranch(dir, branch string) error {
	_, now, err := g.Head(dir)
	switch {
	case err != nil:
		return err
	case now == branch || now == "" && operationOn(dir, branch) != "":
		return nil
	case now == "":
		return fmt.Errorf("%s has no branch checked out instead of %s: run git -C %s switch %s", dir, branch, dir, branch)
	}
	return fmt.Errorf("%s is on branch %s instead of %s: run git -C %s switch %s", dir, now, branch, dir, branch)
}

// SwitchBack checks the branch of a worktree out again, if that leaves nothing behind: no
// change that is not committed, no commit that is on no branch, no operation under way.
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
		return fmt.Errorf("%s is on branch %s and there is no branch %s any more: run git -C %s branch -m %s, or give the task the branch %s", dir, now, branch, dir, branch, now)
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

// ReattachWorktree makes the folder at path a worktree of root's repository again, with its files
// as they are, and says whether it could. It can where a .git file says that the folder was
// one: the file of a repository that was moved is corrected, and an entry that was pruned
// is made again on branch. Files that differ from the branch are changes that are not
// committed.
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

// emptyFor is the folder for which the entry of a worktree is made again. It has the
// worktree's name, so that the entry gets the name it had.
func emptyFor(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".again", filepath.Base(path))
}

// discardEmpty removes what a crash has left of that folder and its entry.
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

// registerAgain makes the entry of a worktree whose folder is there. The entry is made
// complete for a folder that is empty, and names the worktree last: one that was left by a
// crash is removed by the next try.
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

// ceilingEnv keeps git from taking the repository around a folder for the folder's own.
func ceilingEnv(dir string) string {
	return "GIT_CEILING_DIRECTORIES=" + filepath.Dir(filepath.Clean(dir))
}
