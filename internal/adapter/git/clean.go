package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A BlockedError names untracked files that a checkout of a commit would overwrite.
type BlockedError struct {
	dir   string
	files []string
}

// Error implements error.
func (e *BlockedError) Error() string {
	return fmt.Sprintf("untracked files are in the way in %s: move them away: %s", e.dir, makePrintable(strings.Join(e.files, ", ")))
}

// BlockingFiles returns the paths of the files, relative to the top of the working tree.
func (e *BlockedError) BlockingFiles() []string { return e.files }

// forSuperproject converts the error of a submodule to one of the working tree around it.
func (e *BlockedError) forSuperproject(dir, submodule string) *BlockedError {
	outer := &BlockedError{dir: dir}
	for _, file := range e.files {
		outer.files = append(outer.files, submodule+"/"+file)
	}
	return outer
}

// CleanWorktree resets the worktree at dir to its HEAD: it quits operations in progress and
// removes changes and untracked files. Ignored files stay. It does so only if the newest
// salvage ref for name holds everything that would be lost. If HEAD contains files that are
// ignored and no longer tracked, CleanWorktree returns a BlockedError.
func (g *Git) CleanWorktree(ctx context.Context, dir, name string) error {
	if err := g.checkWorksOnDir(ctx, dir); err != nil {
		return err
	}
	if err := g.cleanWorktree(ctx, dir, name); err != nil {
		return fmt.Errorf("clear %s: %w", dir, err)
	}
	return nil
}

func (g *Git) cleanWorktree(ctx context.Context, dir, name string) error {
	known, err := g.readIndex(ctx, dir)
	if err != nil {
		return err
	}
	for _, sub := range known.submodules {
		err := g.cleanWorktree(ctx, sub.dir, name)
		var blocked *BlockedError
		if errors.As(err, &blocked) {
			return blocked.forSuperproject(dir, sub.name)
		}
		if err != nil {
			return fmt.Errorf("submodule %s: %w", sub.name, err)
		}
	}
	changed, err := g.ensureSalvaged(ctx, dir, name, known)
	if err != nil {
		return err
	}
	if err := g.clearHiddenMarks(ctx, dir, known, nil); err != nil {
		return err
	}
	quit, err := g.quitOperations(ctx, dir)
	if err != nil || !quit && !changed {
		return err
	}
	// The reset comes last: it may bring back other ignore rules, and clean must not remove a
	// file that was ignored when the work was saved.
	if _, err := g.runQuietly(ctx, dir, "clean", "-d", "-f", "--quiet"); err != nil {
		return err
	}
	if err := g.checkResettable(ctx, dir); err != nil {
		return err
	}
	if _, err = g.runQuietly(ctx, dir, "reset", "--hard", "--quiet"); err != nil {
		return err
	}
	return g.alignSubmodules(ctx, dir)
}

// checkResettable returns an error if a reset would overwrite files that git does not track.
func (g *Git) checkResettable(ctx context.Context, dir string) error {
	head, _, err := g.Head(dir)
	if err != nil || head == "" {
		return err
	}
	out, err := g.runQuietly(ctx, dir, "diff-index", "--cached", "-z", "--no-renames", "--name-only", "--diff-filter=D", head)
	if err != nil {
		return err
	}
	args := []string{"ls-files", "--others", "-z", "--"}
	for _, name := range splitNulTerminated(out) {
		if file := blockingPath(dir, name); file != "" {
			args = append(args, file)
		}
	}
	if len(args) == 4 {
		return nil
	}
	out, err = g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: args, env: literal[:]})
	if files := splitNulTerminated(out); err == nil && len(files) > 0 {
		err = &BlockedError{dir: dir, files: files}
	}
	return err
}

// ensureSalvaged returns an error if clearing dir would lose work, and reports whether there is
// anything to clear.
func (g *Git) ensureSalvaged(ctx context.Context, dir, name string, known index) (changed bool, err error) {
	s, err := g.surveyWorktree(ctx, dir, known)
	if err != nil || s.isEmpty() {
		return false, err
	}
	last, err := g.lastKept(ctx, dir, name)
	if err != nil {
		return false, err
	}
	covered := false
	if last != "" {
		if covered, err = g.coversSurvey(ctx, dir, last, s, nil); err != nil {
			return false, err
		}
	}
	if !covered {
		return false, errors.New("it has changes that are not saved yet: stop what is still running there and try again")
	}
	return true, nil
}

// DetachHead checks out a commit without a branch in a worktree that has no changes. If that
// would overwrite ignored files, it returns a BlockedError.
func (g *Git) DetachHead(ctx context.Context, dir, commit string) error {
	if err := g.checkWorksOnDir(ctx, dir); err != nil {
		return err
	}
	head, branch, err := g.Head(dir)
	if err != nil {
		return err
	}
	if err := g.checkNotBlocked(ctx, dir, head, commit); err != nil {
		return err
	}
	if head == "" {
		head = commit
	}
	if branch != "" {
		if _, err := g.runQuietly(ctx, dir, "update-ref", "--no-deref", "-m", "orange: detach", "HEAD", head); err != nil {
			return fmt.Errorf("leave the branch in %s: %w", dir, err)
		}
	}
	// Use a reset, not a checkout: a checkout would refuse if line endings or filters make
	// files look changed permanently.
	if _, err := g.runQuietly(ctx, dir, "reset", "--hard", "--quiet", commit); err != nil {
		return fmt.Errorf("check out %.7s in %s: %w", commit, dir, err)
	}
	return g.alignSubmodules(ctx, dir)
}

// alignSubmodules checks out the commits that the worktree's submodules should have. A
// submodule that does not have its commit stays as it is.
func (g *Git) alignSubmodules(ctx context.Context, dir string) error {
	known, err := g.readIndex(ctx, dir)
	if err != nil {
		return err
	}
	for _, sub := range known.submodules {
		if commit, _ := g.resolveRevision(ctx, sub.dir, sub.commit); commit == "" {
			continue
		}
		if _, err := g.runQuietly(ctx, sub.dir, "checkout", "--quiet", "--detach", "--no-overwrite-ignore", sub.commit); err != nil {
			return fmt.Errorf("submodule %s: %w", sub.name, err)
		}
		if err := g.alignSubmodules(ctx, sub.dir); err != nil {
			return err
		}
	}
	return nil
}

// checkNotBlocked returns an error if writing the files that commit has and head does not would
// overwrite anything.
func (g *Git) checkNotBlocked(ctx context.Context, dir, head, commit string) error {
	if head == commit {
		return nil
	}
	if head == "" {
		var err error
		if head, err = g.treeOf(ctx, dir, head); err != nil {
			return err
		}
	}
	out, err := g.run(ctx, dir, "diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter=A", head, commit)
	if err != nil {
		return fmt.Errorf("compare %.7s with %s: %w", commit, dir, err)
	}
	var files []string
	seen := map[string]bool{}
	for _, name := range splitNulTerminated(out) {
		if file := blockingPath(dir, name); file != "" && !seen[file] {
			seen[file] = true
			files = append(files, file)
		}
	}
	if len(files) > 0 {
		return &BlockedError{dir: dir, files: files}
	}
	return nil
}

// blockingPath returns the path that would have to be removed before a file called name can be
// written, or "" if there is none.
func blockingPath(dir, name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		at := strings.Join(parts[:i+1], "/")
		info, err := os.Lstat(filepath.Join(dir, at))
		if err != nil {
			return ""
		}
		if !info.IsDir() || i == len(parts)-1 {
			return at
		}
	}
	return ""
}
