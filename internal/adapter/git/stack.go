package git

import (
	"context"
	"fmt"
)

// NeedsStackBase reports whether the own commits of a stacked branch begin after base and not where the branch left a target:
// the branch has base, the target has not, and the branch was not brought up to date with the target since. The target is
// given here and at origin: where one of them has base, a merge must keep what came with it.
func (g *Git) NeedsStackBase(ctx context.Context, root, base, tip string, targets ...string) bool {
	if len(targets) == 0 || !isHash(base) || !g.IsAncestor(ctx, root, base, tip) {
		return false
	}
	for _, target := range targets {
		if g.IsAncestor(ctx, root, base, target) {
			return false
		}
	}
	left, err := g.run(ctx, root, "merge-base", targets[0], tip)
	return err == nil && g.IsAncestor(ctx, root, left, base)
}

// needsBase reports whether a merge compares both sides with the base of its stacked branch.
func (g *Git) needsBase(ctx context.Context, m *merging) (bool, error) {
	if m.StackBase == "" {
		return false, nil
	}
	tips, err := g.refTips(ctx, m.root, origins+m.Into)
	return err == nil && g.NeedsStackBase(ctx, m.root, m.StackBase, m.tip, m.old, tips[origins+m.Into]), err
}

// mergeSides returns the two commits whose trees are merged. For a stacked branch they are copies of the target and of the branch that
// have copies of its base as their only parent, so that git compares both with the base. Git 2.40 can be told the base, and
// older versions cannot. The copies are in no history.
func (g *Git) mergeSides(ctx context.Context, m *merging) (target, tip string, err error) {
	if needs, err := g.needsBase(ctx, m); err != nil || !needs {
		return m.old, m.tip, err
	}
	base, err := g.copyTree(ctx, m.root, m.StackBase, "")
	if err == nil {
		target, err = g.copyTree(ctx, m.root, m.old, base)
	}
	if err == nil {
		tip, err = g.copyTree(ctx, m.root, m.tip, base)
	}
	if err != nil {
		return "", "", fmt.Errorf("merge %s into %s, nothing was changed: %w", m.Branch, m.Into, err)
	}
	return target, tip, nil
}

// copyTree makes a commit with the tree of another one, and the given parent or none.
func (g *Git) copyTree(ctx context.Context, root, commit, parent string) (string, error) {
	args := []string{"commit-tree", "-m", "orange: stack", commit + "^{tree}"}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	return g.runCall(ctx, call{dir: root, args: args, env: fallbackIdentity[:]})
}
