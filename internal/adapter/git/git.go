// Package git runs the installed git: it finds repositories, branches and what is merged into
// what; it creates, moves and clears worktrees; it merges and pushes. It never forces anything:
// before it would lose work it saves the work under a salvage ref, and what git refuses becomes
// an error that says what to do. It knows nothing about tasks or pools.
package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Git runs the git program that is found in the path.
type Git struct {
	program     string
	environ     func(keys bool) []string // nil: the environment of this process
	guard       *Guard                   // nil: git runs every program that its configuration names
	lockTimeout time.Duration            // how long a merge retries while a lock file of git exists
	report      func(did string)         // nil: nobody hears of interrupted landings
}

// New returns a Git for the installed git. If git is not installed, the first command fails.
func New() *Git { return &Git{program: "git", lockTimeout: 10 * time.Second} }

// WithEnviron returns a copy of g whose commands, hooks and helpers get another environment
// than that of this process. Only commands that may use keys, to connect or to sign, get the
// environment with keys.
func (g *Git) WithEnviron(environ func(keys bool) []string) *Git {
	other := *g
	other.environ = environ
	return &other
}

// WithReport returns a copy of g that reports each interrupted landing that it comes upon, and
// what became of it.
func (g *Git) WithReport(report func(did string)) *Git {
	other := *g
	other.report = report
	return &other
}

// FindRoot returns the top folder of the working tree that contains dir.
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

// CurrentBranch returns the branch that is checked out, even if it has no commit yet.
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

// HasIdentity reports whether git has a name and an address for the author of a commit.
func (g *Git) HasIdentity(ctx context.Context, root string) bool {
	_, err := g.run(ctx, root, "var", "GIT_AUTHOR_IDENT")
	return err == nil
}

// DefaultBranch returns the branch that work is merged into: the default branch of origin, or
// else main or master, or else the branch that is checked out.
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

// refTips returns the commits of those refs that exist. It compares whole names, so that git
// never takes a name for an option or a revision.
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
