package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// leadsElsewhere are the settings of one worktree by which git in it works on another folder, or on none.
var leadsElsewhere = [...]string{"core.worktree", "core.bare"}

// RemoveRedirect removes the settings of the worktree at dir, whose administrative folder is
// gitDir, by which git in it works on another folder, and returns them. It leaves them if git
// works on the worktree nevertheless. The other folder and its files stay as they are.
func (g *Git) RemoveRedirect(ctx context.Context, root, gitDir, dir string) (removed []string, err error) {
	file := filepath.Join(gitDir, "config.worktree")
	if _, err := os.Lstat(file); gitDir == "" || err != nil || checkIntact(dir) != nil || g.checkWorksOnDir(ctx, dir) == nil {
		return nil, ctx.Err()
	}
	for _, key := range leadsElsewhere {
		// Git runs in the main checkout: it may not even start in this worktree.
		value, err := g.runQuietly(ctx, root, "config", "--file", file, "--get", key)
		if exitCode(err) == 1 {
			continue // it is not set
		}
		if err == nil {
			_, err = g.runQuietly(ctx, root, "config", "--file", file, "--unset-all", key)
		}
		if err != nil {
			return removed, fmt.Errorf("remove %s from %s: %w", key, file, err)
		}
		removed = append(removed, key+"="+makePrintable(value))
	}
	return removed, nil
}
