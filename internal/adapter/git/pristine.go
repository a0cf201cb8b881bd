package git

import (
	"context"
	"os"
	"path/filepath"
)

// IsPristine reports whether the worktree at dir is at commit without a branch and has nothing
// that clearing it would save or remove. Such a worktree need not be cleared. It returns false
// where the answer would be expensive, as with submodules.
func (g *Git) IsPristine(ctx context.Context, dir, commit string) (bool, error) {
	if err := g.checkWorksOnDir(ctx, dir); err != nil {
		return false, err
	}
	head, branch, err := g.Head(dir)
	if err != nil || head != commit || branch != "" {
		return false, err
	}
	l, err := layoutOf(dir)
	if err != nil {
		return false, err
	}
	if err := checkIndexUnlocked(l.git); err != nil {
		return false, err
	}
	for _, name := range held {
		if _, err := os.Lstat(filepath.Join(l.git, name)); err == nil {
			return false, nil
		}
	}
	if len(quitCommands(l.git)) > 0 {
		return false, nil
	}
	known, err := g.readIndex(ctx, dir)
	if err != nil || len(known.submodules)+len(known.emptyModules)+len(known.assumed)+len(known.skipped) > 0 {
		return false, err
	}
	out, err := g.runQuietly(ctx, dir, "--no-optional-locks", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=dirty")
	return err == nil && out == "", err
}
