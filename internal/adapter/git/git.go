// Package git asks the installed git about a repository: where it is, which branches
// it has, what is merged into what. It changes nothing in it.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// patience is how long one git command may take.
const patience = 30 * time.Second

// Git runs the git that is found in the path.
type Git struct {
	program string
}

// New returns the installed git. That it is installed shows on first use.
func New() *Git { return &Git{program: "git"} }

// An exitError is a git command that said no.
type exitError struct {
	args []string
	code int
	said string
}

// Error implements error.
func (e *exitError) Error() string {
	return fmt.Sprintf("git %s: %s", e.args[0], e.said)
}

// run runs git in dir and returns what it prints, without the last line ending.
func (g *Git) run(ctx context.Context, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.program, append([]string{"-C", dir}, args...)...)
	cmd.Env = append(withoutRepository(cmd.Environ()), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return strings.TrimSuffix(out.String(), "\n"), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("git is not installed: install git and try again")
	case ctx.Err() != nil:
		return "", fmt.Errorf("git %s in %s took too long: %w", args[0], dir, ctx.Err())
	case errors.As(err, &exit):
		return "", &exitError{args: args, code: exit.ExitCode(), said: firstLine(errs.String())}
	}
	return "", fmt.Errorf("run git %s: %w", args[0], err)
}

// withoutRepository drops the variables by which a caller, such as a git hook, would
// point git at another repository than the one asked about.
func withoutRepository(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX",
			"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES":
			return true
		}
		return false
	})
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimPrefix(line, "fatal: ")
}

func exitCode(err error) int {
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	return -1
}

// Root is the top folder of the working tree that dir is in.
func (g *Git) Root(ctx context.Context, dir string) (string, error) {
	root, err := g.run(ctx, dir, "rev-parse", "--show-toplevel")
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
		tips, err := g.tips(ctx, root, heads+name, origins+name)
		if err != nil {
			return "", err
		}
		if len(tips) > 0 {
			return name, nil
		}
	}
	return g.CurrentBranch(ctx, root)
}

// tips maps those of the refs that exist to their commits. Names are compared as a
// whole: whatever is in them is never taken for an option or a revision.
func (g *Git) tips(ctx context.Context, root string, refs ...string) (map[string]string, error) {
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
