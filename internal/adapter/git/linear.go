package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// buildSquashCommit creates one commit on the target that has all changes of the branch. If the
// target has all of them already, it returns the tip of the target.
func (g *Git) buildSquashCommit(ctx context.Context, m *merging, tree string) (string, error) {
	have, err := g.treeOf(ctx, m.root, m.old)
	if err != nil || have == tree {
		return m.old, err
	}
	own, err := g.ownCommits(ctx, m)
	if err != nil {
		return "", err
	}
	subjects, err := g.run(ctx, m.root, append([]string{"log", "--no-merges", "--reverse", "--format=* %s"}, own...)...)
	if err != nil {
		return "", fmt.Errorf("list the commits of %s: %w", m.Branch, err)
	}
	if !m.messageHooksRan {
		m.Message = m.Title
		if strings.Contains(subjects, "\n") {
			m.Message += "\n\n" + subjects
		}
	}
	if err := g.finishMessage(ctx, m); err != nil {
		return "", err
	}
	return g.writeCommit(ctx, m, newCommit{tree: tree, parents: []string{m.old}, message: m.Message + "\n"})
}

// findChanges returns the commit by which the target got the changes of a branch, all of which
// it has, and the first parent of that commit. What others committed upon it is theirs. If the
// branch changes nothing, both are the tip of the target.
func (g *Git) findChanges(ctx context.Context, m *merging) (parent, commit string, err error) {
	out, err := g.run(ctx, m.root, "rev-list", "--first-parent", "--parents", m.old, "^"+m.tip)
	if err != nil {
		return "", "", fmt.Errorf("find how %s was merged: %w", m.Branch, err)
	}
	for line := range strings.Lines(out) { // newest first
		commits := strings.Fields(line) // the commit, then its parents
		if len(commits) == 1 {
			break
		}
		before := *m
		before.old = commits[1]
		if has, err := g.hasChanges(ctx, &before); err != nil || !has {
			return commits[1], commits[0], err
		}
	}
	return m.old, m.old, nil
}

// hasChanges reports whether a merge of the branch would change nothing in the target.
func (g *Git) hasChanges(ctx context.Context, m *merging) (bool, error) {
	tree, err := g.mergeTrees(ctx, m)
	var conflict *ConflictError
	if errors.As(err, &conflict) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	have, err := g.treeOf(ctx, m.root, m.old)
	return have == tree, err
}

// ownCommits returns the arguments by which git lists the commits that the branch brings.
func (g *Git) ownCommits(ctx context.Context, m *merging) ([]string, error) {
	own := []string{m.old + ".." + m.tip}
	needs, err := g.needsBase(ctx, m)
	if needs {
		own = append(own, "^"+m.StackBase)
	}
	return own, err
}

// buildRebasedCommits creates the commits of the branch again on the target, without a
// checkout, and returns the last one. The result has the tree of a merge. Where the commits one
// by one do not lead there, because a merge in the branch resolved a conflict, they become one
// commit.
func (g *Git) buildRebasedCommits(ctx context.Context, m *merging) (string, error) {
	tree, err := g.mergeTrees(ctx, m)
	if err != nil {
		return "", err
	}
	own, err := g.ownCommits(ctx, m)
	if err != nil {
		return "", err
	}
	out, err := g.run(ctx, m.root, append([]string{"rev-list", "--reverse", "--topo-order", "--parents"}, own...)...)
	if err != nil {
		return "", fmt.Errorf("list the commits of %s: %w", m.Branch, err)
	}
	onto := m.old
	for line := range strings.SplitSeq(out, "\n") {
		commits := strings.Fields(line) // the commit, then its parents
		if len(commits) != 2 {
			return g.buildSquashCommit(ctx, m, tree)
		}
		if commits[1] == onto {
			onto = commits[0]
			continue
		}
		next, err := g.replayCommit(ctx, m, onto, commits[1], commits[0])
		var conflict *ConflictError
		if errors.As(err, &conflict) {
			return g.buildSquashCommit(ctx, m, tree)
		}
		if err != nil {
			return "", fmt.Errorf("rebase %s onto %s, nothing was changed: %w", m.Branch, m.Into, err)
		}
		onto = next
	}
	if got, err := g.treeOf(ctx, m.root, onto); err != nil || got == tree {
		return onto, err
	}
	return g.buildSquashCommit(ctx, m, tree)
}

// replayCommit creates a commit again on another parent. A commit whose changes are there
// already is left out.
func (g *Git) replayCommit(ctx context.Context, m *merging, onto, parent, commit string) (string, error) {
	trees := make(map[string]string, 3)
	for _, c := range [...]string{onto, parent, commit} {
		tree, err := g.treeOf(ctx, m.root, c)
		if err != nil {
			return "", err
		}
		trees[c] = tree
	}
	// The merge of a commit that has the tree of onto and the parent of the other one applies
	// what changed since that parent.
	ours, err := g.commitTree(ctx, m.root, trees[onto], []string{parent}, "for the merge\n", g.identityEnv(ctx, m.root))
	if err != nil {
		return "", err
	}
	step := *m
	step.old, step.tip, step.StackBase = ours, commit, ""
	tree, err := g.mergeTrees(ctx, &step)
	if err != nil || tree == trees[onto] && trees[commit] != trees[parent] {
		return onto, err
	}
	about, err := g.runCall(ctx, call{dir: m.root, args: []string{"show", "--no-patch", "--date=raw", "--format=%an%x00%ae%x00%ad%x00%B", commit}})
	fields := strings.SplitN(about, "\x00", 4)
	if err != nil || len(fields) != 4 {
		return "", fmt.Errorf("read %.12s: %w", commit, err)
	}
	return g.writeCommit(ctx, m, newCommit{
		tree: tree, parents: []string{onto}, message: fields[3] + "\n",
		env: []string{"GIT_AUTHOR_NAME=" + fields[0], "GIT_AUTHOR_EMAIL=" + fields[1], "GIT_AUTHOR_DATE=" + fields[2]},
	})
}

// newCommit is a commit to create.
type newCommit struct {
	tree    string
	parents []string
	message string
	env     []string // besides the identity of the merging
}

// writeCommit creates a commit of a merging, signed if the repository wants that.
func (g *Git) writeCommit(ctx context.Context, m *merging, c newCommit) (string, error) {
	if err := g.findIdentity(ctx, m); err != nil {
		return "", err
	}
	args := []string{"commit-tree", "-F", "-"}
	for _, parent := range c.parents {
		args = append(args, "-p", parent)
	}
	if m.sign {
		args = append(args, "-S")
	}
	env := append(append([]string(nil), m.env...), c.env...)
	commit, err := g.runCall(ctx, call{dir: m.root, args: append(args, c.tree), env: env, input: c.message, timeout: networkTimeout})
	if err != nil {
		help := ""
		if m.sign {
			help = ": make signing work, or sign no commits here (git config commit.gpgSign false)"
		}
		return "", fmt.Errorf("merge %s into %s, nothing was changed: %w%s", m.Branch, m.Into, err, help)
	}
	return commit, nil
}
