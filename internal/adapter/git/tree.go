package git

import (
	"context"
	"fmt"
	"strings"

	"orange/internal/core/task"
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

// ChangedPaths returns the paths in which two commits differ, as the second has them. A renamed file counts as removed and
// as added.
func (g *Git) ChangedPaths(ctx context.Context, dir, from, to string) ([]task.PathChange, error) {
	out, err := g.run(ctx, dir, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", from, to)
	if err != nil {
		return nil, fmt.Errorf("compare %.12s with %.12s: %w", from, to, err)
	}
	var changes []task.PathChange
	for out != "" { // :MODE MODE ID ID STATUS, path
		info, rest, _ := strings.Cut(out, "\x00")
		file, more, _ := strings.Cut(rest, "\x00")
		out = more
		fields := strings.Fields(info)
		if len(fields) != 5 || file == "" {
			return nil, fmt.Errorf("compare %.12s with %.12s: git printed %.80q", from, to, info)
		}
		c := task.PathChange{Path: file, Blob: fields[1] + " " + fields[3]}
		if fields[4] == "D" {
			c.Blob = ""
		}
		changes = append(changes, c)
	}
	return changes, nil
}
