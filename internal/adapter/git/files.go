package git

import (
	"context"
	"fmt"
	"strings"
)

// Untracked lists what git neither tracks nor ignores in the worktree at dir. A folder that
// is wholly untracked is one item and ends in a slash.
func (g *Git) Untracked(ctx context.Context, dir string) ([]string, error) {
	out, err := g.quietly(ctx, dir, "ls-files", "--others", "--exclude-standard", "--directory", "--no-empty-directory", "-z")
	if err != nil {
		return nil, fmt.Errorf("list the untracked files of %s: %w", dir, err)
	}
	return zeroed(out), nil
}

// Tracked lists those of the files that git tracks in the worktree at dir.
func (g *Git) Tracked(ctx context.Context, dir string, files ...string) ([]string, error) {
	out, err := g.call(ctx, call{dir: dir, config: quiet[:], args: append([]string{"ls-files", "-z", "--"}, files...), env: literal[:]})
	if err != nil {
		return nil, fmt.Errorf("list the tracked files of %s: %w", dir, err)
	}
	return zeroed(out), nil
}

// literal makes git take names for names, not for patterns.
var literal = [...]string{"GIT_LITERAL_PATHSPECS=1"}

// Matching lists the untracked files of the checkout at root that a file of gitignore-style
// patterns names, ignored ones included.
func (g *Git) Matching(ctx context.Context, root, patterns string) ([]string, error) {
	out, err := g.quietly(ctx, root, "ls-files", "--others", "--ignored", "-z", "--exclude-from="+patterns)
	if err != nil {
		return nil, fmt.Errorf("list the files that %s names: %w", patterns, err)
	}
	return zeroed(out), nil
}

// Ignored lists those of the files that git ignores in the checkout at dir.
func (g *Git) Ignored(ctx context.Context, dir string, files []string) ([]string, error) {
	if len(files) == 0 {
		return nil, nil
	}
	out, err := g.call(ctx, call{dir: dir, config: quiet[:], args: []string{"check-ignore", "-z", "--stdin"}, input: strings.Join(files, "\x00") + "\x00"})
	if err != nil && exitCode(err) != 1 {
		return nil, fmt.Errorf("ask which files %s ignores: %w", dir, err)
	}
	return zeroed(out), nil
}

// Dirty says whether the worktree at dir differs from its HEAD, or has untracked files.
func (g *Git) Dirty(ctx context.Context, dir string) (bool, error) {
	out, err := g.quietly(ctx, dir, "status", "--porcelain", "-z", "--untracked-files=normal")
	if err != nil {
		return false, fmt.Errorf("look for changes in %s: %w", dir, err)
	}
	return out != "", nil
}
