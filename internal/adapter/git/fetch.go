package git

import (
	"context"
	"fmt"
)

// FetchBranch fetches a branch from a remote.
func (g *Git) FetchBranch(ctx context.Context, root, remote, branch string) error {
	if err := checkBranches(branch); err != nil {
		return err
	}
	if err := g.checkRemote(ctx, root, remote); err != nil {
		return err
	}
	ref := heads + branch + ":refs/remotes/" + remote + "/" + branch
	if _, err := g.runNetwork(ctx, root, "fetch", "--quiet", "--no-tags", remote, ref); err != nil {
		return fmt.Errorf("fetch %s from %s: %w", branch, remote, err)
	}
	return nil
}
