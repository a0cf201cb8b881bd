package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// place is where a branch stands.
type place struct {
	tip     string   // of the branch, "" if there is no such branch
	targets []string // tips of the default branch, here and at origin
	missing string   // says which branch is missing, "" if none is
}

func (g *Git) locateBranch(ctx context.Context, root, branch, defaultBranch string) (place, error) {
	tips, err := g.refTips(ctx, root, heads+branch, origins+branch, heads+defaultBranch, origins+defaultBranch)
	if err != nil {
		return place{}, err
	}
	var p place
	if p.tip = tips[heads+branch]; p.tip == "" {
		p.tip = tips[origins+branch]
	}
	for _, ref := range [...]string{heads + defaultBranch, origins + defaultBranch} {
		if tips[ref] != "" {
			p.targets = append(p.targets, tips[ref])
		}
	}
	switch {
	case p.tip == "":
		p.missing = "there is no branch " + branch + ": create it, or give the task the branch it has"
	case len(p.targets) == 0:
		p.missing = "there is no branch " + defaultBranch + ": check the project's default branch"
	}
	return p, nil
}

// ForkPoint is the commit at which a branch left the default branch, and the one it is at.
// Both are "" if one of the branches is missing or they have nothing in common.
func (g *Git) ForkPoint(ctx context.Context, root, branch, defaultBranch string) (base, tip string, err error) {
	p, err := g.locateBranch(ctx, root, branch, defaultBranch)
	if err != nil || p.missing != "" {
		return "", "", err
	}
	out, err := g.run(ctx, root, append([]string{"merge-base", p.tip}, p.targets...)...)
	if exitCode(err) == 1 {
		return "", "", nil
	}
	if err != nil {
		return "", "", fmt.Errorf("find where %s left %s: %w", branch, defaultBranch, err)
	}
	base, _, _ = strings.Cut(out, "\n")
	return base, p.tip, nil
}

// IsMerged says whether all of a branch is in the default branch, here or at origin, and
// how that is known. A branch that is here counts before one that is at origin only.
func (g *Git) IsMerged(ctx context.Context, root, branch, defaultBranch string) (holds bool, detail string, err error) {
	p, err := g.locateBranch(ctx, root, branch, defaultBranch)
	if err != nil || p.missing != "" {
		return false, p.missing, err
	}
	name := fmt.Sprintf("branch %s (%.7s)", branch, p.tip)
	for _, target := range p.targets {
		_, err := g.run(ctx, root, "merge-base", "--is-ancestor", p.tip, target)
		if err == nil {
			return true, name + " is in " + defaultBranch, nil
		}
		if exitCode(err) != 1 {
			return false, "", fmt.Errorf("compare %s with %s: %w", branch, defaultBranch, err)
		}
	}
	return false, name + " is not in " + defaultBranch + ": merge it first", nil
}

// CountCommits counts the commits of a branch that are not in the default branch.
func (g *Git) CountCommits(ctx context.Context, root, branch, defaultBranch string) (n int, detail string, err error) {
	p, err := g.locateBranch(ctx, root, branch, defaultBranch)
	if err != nil || p.missing != "" {
		return 0, p.missing, err
	}
	out, err := g.run(ctx, root, append([]string{"rev-list", "--count", p.tip, "--not"}, p.targets...)...)
	if err == nil {
		n, err = strconv.Atoi(out)
	}
	if err != nil {
		return 0, "", fmt.Errorf("count the commits of %s: %w", branch, err)
	}
	name := fmt.Sprintf("branch %s (%.7s)", branch, p.tip)
	if n == 0 {
		return 0, name + " has no commit that is not in " + defaultBranch + ": commit the work first", nil
	}
	return n, fmt.Sprintf("%s has commits that are not in %s: %d", name, defaultBranch, n), nil
}

// HasCommit says whether a branch contains a commit. What is not the name of a commit is
// not there.
func (g *Git) HasCommit(ctx context.Context, root, branch, commit string) bool {
	if len(commit) < 4 || len(commit) > 64 || strings.Trim(commit, "0123456789abcdefABCDEF") != "" {
		return false
	}
	_, err := g.run(ctx, root, "merge-base", "--is-ancestor", commit, heads+branch)
	return err == nil
}

// BranchTip is the commit that a branch is at, "" if there is no such branch.
func (g *Git) BranchTip(ctx context.Context, root, branch string) (string, error) {
	ref := heads + branch
	tips, err := g.refTips(ctx, root, ref)
	return tips[ref], err
}

// IsAncestor says whether a commit is another one or comes before it. Commits that are not
// here do not.
func (g *Git) IsAncestor(ctx context.Context, root, commit, in string) bool {
	if !isHash(commit) || !isHash(in) {
		return false
	}
	if commit == in {
		return true
	}
	_, err := g.run(ctx, root, "merge-base", "--is-ancestor", commit, in)
	return err == nil
}

// EnsureCommit makes sure that a commit of a branch of origin is here: where it is not the branch
// is fetched, or, if origin has none any more, the commit itself, which forges keep with a
// pull request. Branches that are here stay where they are.
func (g *Git) EnsureCommit(ctx context.Context, root, branch, commit string) error {
	if !isHash(commit) {
		return fmt.Errorf("%.80q is no commit: give its whole name", commit)
	}
	if err := checkBranches(branch); err != nil {
		return err
	}
	for _, what := range [...]string{heads + branch, commit} {
		have, err := g.resolveRevision(ctx, root, commit)
		if err != nil || have != "" {
			return err
		}
		if err := g.checkRemote(ctx, root, "origin"); err != nil {
			return err
		}
		if _, err = g.runNetwork(ctx, root, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "origin", what); err != nil && what == commit {
			return fmt.Errorf("fetch %.12s from origin: %w: check the network and your access", commit, err)
		}
	}
	return nil
}
