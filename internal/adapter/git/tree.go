package git

import (
	"context"
	"fmt"
)

// ReadTree returns the commit that a revision of dir names, and its tree.
func (g *Git) ReadTree(ctx context.Context, dir, revision string) (commit, tree string, err error) {
	commit, err = g.run(ctx, dir, "rev-parse", "--verify", "--end-of-options", revision+"^{commit}")
	if err == nil {
		tree, err = g.treeOf(ctx, dir, commit)
	}
	if err != nil {
		return "", "", fmt.Errorf("read the tree of %s: %w", revision, err)
	}
	return commit, tree, nil
}
