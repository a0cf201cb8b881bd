// Package git works with the installed git: it finds out where a repository is, which
// branches it has and what is merged into what, and it makes, moves and clears worktrees,
// merges and pushes. It never forces anything: what would be lost is kept under a salvage
// ref first, and what git refuses is an error that says what to do. It knows nothing about
// tasks or pools.
package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Git runs the git that is found in the path.
type Git struct {
	program      string
	environ      func(keys bool) []string // nil: that of this process
	guard        *Guard                   // nil: git runs whatever its configuration names
	lockPatience time.Duration            // how long a merge tries again while a lock file of git is in the way
}

// New returns the installed git. That it is installed shows on first use.
func New() *Git { return &Git{program: "git", lockPatience: 10 * time.Second} }

// WithEnviron returns git with another environment than this process's. Hooks and helpers that a
// repository names have it, too. Only commands that may use keys, to connect or to sign, get
// the environment with keys.
func (g *Git) WithEnviron(environ func(keys bool) []string) *Git {
	other := *g
	other.environ = environ
	return &other
}

// FindRoot is the top folder of the working tree that dir is in.
func (g *Git) FindRoot(ctx context.Context, dir string) (string, error) {
	root, err := g.runCall(ctx, call{dir: dir, args: []string{"rev-parse", "--show-toplevel"}, search: true})
	var exit *exitError
	if errors.As(err, &exit) && strings.Contains(exit.said, "not a git repository") {
		return "", fmt.Errorf("%s is not a git repository: go to one, or make one with git init", dir)
	}
	if err != nil {
		return "", fmt.Errorf("find the repository of %s: %w", dir, err)
	}
	return root, nil
}

const (
	heads   = "refs/heads/"
	origins = "refs/remotes/origin/"
)

// CurrentBranch is the branch that is checked out, even if it has no commit yet.
func (g *Git) CurrentBranch(ctx context.Context, root string) (string, error) {
	ref, err := g.run(ctx, root, "symbolic-ref", "--quiet", "HEAD")
	if exitCode(err) == 1 {
		return "", fmt.Errorf("no branch is checked out in %s: check one out with git switch", root)
	}
	if err != nil {
		return "", fmt.Errorf("find the branch of %s: %w", root, err)
	}
	return strings.TrimPrefix(ref, heads), nil
}

// DefaultBranch is the branch that work is merged into: what origin says, else main
// or master, else the branch that is checked out.
func (g *Git) DefaultBranch(ctx context.Context, root string) (string, error) {
	ref, err := g.run(ctx, root, "symbolic-ref", "--quiet", origins+"HEAD")
	if err == nil {
		return strings.TrimPrefix(ref, origins), nil
	}
	if exitCode(err) != 1 {
		return "", fmt.Errorf("find the default branch of %s: %w", root, err)
	}
	for _, name := range [...]string{"main", "master"} {
		tips, err := g.refTips(ctx, root, heads+name, origins+name)
		if err != nil {
			return "", err
		}
		if len(tips) > 0 {
			return name, nil
		}
	}
	return g.CurrentBranch(ctx, root)
}

// refTips maps those of the refs that exist to their commits. Names are compared as a
// whole: whatever is in them is never taken for an option or a revision.
func (g *Git) refTips(ctx context.Context, root string, refs ...string) (map[string]string, error) {
	args := append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, refs...)
	out, err := g.run(ctx, root, args...)
	if err != nil {
		return nil, fmt.Errorf("list the branches of %s: %w", root, err)
	}
	tips := map[string]string{}
	for line := range strings.SplitSeq(out, "\n") {
		commit, ref, _ := strings.Cut(line, " ")
		if slices.Contains(refs, ref) {
			tips[ref] = commit
		}
	}
	return tips, nil
}
