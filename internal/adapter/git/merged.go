package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// place is the position of a branch.
type place struct {
	tip     string   // commit of the branch; "" if the branch does not exist
	targets []string // commits of the default branch, here and at origin
	missing string   // names the branch that is missing; "" if none is
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

// ForkPoint returns the commit at which a branch left the default branch, and the commit that
// the branch is at. Both are "" if one of the branches is missing or they have no common
// commit.
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

// IsMerged reports whether the default branch, here or at origin, contains all of a branch, and
// describes how that is known. A local branch takes precedence over one that exists only at
// origin.
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

// HasLanded reports whether the default branch, here or at origin, contains a commit.
func (g *Git) HasLanded(ctx context.Context, root, commit, defaultBranch string) (bool, error) {
	tips, err := g.refTips(ctx, root, heads+defaultBranch, origins+defaultBranch)
	for _, tip := range tips {
		if tip != "" && g.IsAncestor(ctx, root, commit, tip) {
			return true, nil
		}
	}
	return false, err
}

// CountCommits counts the commits of a branch that are neither in the default branch nor in the history of the commits in without.
func (g *Git) CountCommits(ctx context.Context, root, branch, defaultBranch string, without ...string) (n int, detail string, err error) {
	p, err := g.locateBranch(ctx, root, branch, defaultBranch)
	if err != nil || p.missing != "" {
		return 0, p.missing, err
	}
	out, err := g.run(ctx, root, append(append([]string{"rev-list", "--count", p.tip, "--not"}, p.targets...), without...)...)
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

// A BranchWork is what a branch has that the default branch has not.
type BranchWork struct {
	Commits   int
	Detail    string // the same in words
	Base, Tip string // as ForkPoint says; "" if there are no commits
}

// MeasureBranch counts the commits of a branch that are not in the default branch, and finds where they begin
// and end. The commits of a stacked branch begin after stackBase.
func (g *Git) MeasureBranch(ctx context.Context, root, branch, defaultBranch, stackBase string) (w BranchWork, err error) {
	if stackBase != "" {
		p, err := g.locateBranch(ctx, root, branch, defaultBranch)
		if err == nil && p.missing == "" && g.NeedsStackBase(ctx, root, stackBase, p.tip, p.targets...) {
			w.Commits, w.Detail, err = g.CountCommits(ctx, root, branch, defaultBranch, stackBase)
			if w.Commits > 0 {
				w.Base, w.Tip = stackBase, p.tip
			}
			return w, err
		}
	}
	if w.Commits, w.Detail, err = g.CountCommits(ctx, root, branch, defaultBranch); w.Commits > 0 && err == nil {
		w.Base, w.Tip, err = g.ForkPoint(ctx, root, branch, defaultBranch)
	}
	return w, err
}

// HasCommit reports whether a branch contains a commit. It returns false for text that is not a
// commit hash.
func (g *Git) HasCommit(ctx context.Context, root, branch, commit string) bool {
	if len(commit) < 4 || len(commit) > 64 || strings.Trim(commit, "0123456789abcdefABCDEF") != "" {
		return false
	}
	_, err := g.run(ctx, root, "merge-base", "--is-ancestor", commit, heads+branch)
	return err == nil
}

// BranchTip returns the commit that a branch is at, or "" if the branch does not exist.
func (g *Git) BranchTip(ctx context.Context, root, branch string) (string, error) {
	ref := heads + branch
	tips, err := g.refTips(ctx, root, ref)
	return tips[ref], err
}

// IsAncestor reports whether commit equals in or is an ancestor of it. It returns false for
// commits that are not in the repository.
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

// EnsureCommit makes sure that the repository has a commit of a branch of origin. If it does
// not, EnsureCommit fetches the branch, or, if origin no longer has the branch, the commit
// itself, which forges keep for a pull request. Local branches do not move.
func (g *Git) EnsureCommit(ctx context.Context, root, branch, commit string) error {
	if !isHash(commit) {
		return fmt.Errorf("%.80q is not a full commit hash: give all of it", commit)
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
