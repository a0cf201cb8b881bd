package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Strategies of Merge.
const (
	FastForward = "ff"    // only if the target has nothing that the branch has not
	MergeCommit = "merge" // always with a commit of its own
)

// A merging is one merge that is to be done.
type merging struct {
	root, branch, into string
	tip, old           string // commits of branch and into
	strategy, message  string
}

// Merge brings a branch into another one and returns the commit that has both. Where the
// target is checked out it is merged there as a person would do it; else only its ref
// moves. If it cannot be done, nothing has changed. A branch that is in the target already
// is no error.
func (g *Git) Merge(ctx context.Context, root, branch, into, strategy, message string) (string, error) {
	m := merging{root: root, branch: branch, into: into, strategy: strategy, message: message}
	if err := g.prepare(ctx, &m); err != nil {
		return "", err
	}
	if merged, err := g.contains(ctx, root, m.old, m.tip); merged || err != nil {
		return m.old, err
	}
	tree, err := g.mergeable(ctx, &m)
	if err != nil {
		return "", err
	}
	where, found, err := g.checkoutOf(ctx, root, into)
	if err != nil {
		return "", err
	}
	if found {
		_, gone := os.Lstat(where.path)
		switch {
		case where.busy != "":
			return "", fmt.Errorf("a %s of %s is under way in %s: finish it there and try again", where.busy, into, where.path)
		case gone == nil:
			return g.mergeIn(ctx, where.path, &m)
		case where.locked:
			return "", fmt.Errorf("%s is checked out in %s, which is not there now: bring it back and try again", into, where.path)
		}
	}
	return g.mergeRef(ctx, &m, tree)
}

func (g *Git) prepare(ctx context.Context, m *merging) error {
	if err := checkBranches(m.branch, m.into); err != nil {
		return err
	}
	if m.strategy != FastForward && m.strategy != MergeCommit {
		return fmt.Errorf("merge strategy %q is not known: use %s or %s", m.strategy, FastForward, MergeCommit)
	}
	if m.message == "" {
		m.message = "Merge branch '" + m.branch + "' into " + m.into
	}
	tips, err := g.tips(ctx, m.root, heads+m.branch, origins+m.branch, heads+m.into)
	if err != nil {
		return err
	}
	if m.tip = tips[heads+m.branch]; m.tip == "" {
		m.tip = tips[origins+m.branch]
	}
	m.old = tips[heads+m.into]
	switch {
	case m.tip == "":
		return fmt.Errorf("there is no branch %s: create it, or give the task the branch it has", m.branch)
	case m.old == "":
		return fmt.Errorf("there is no branch %s here: make it with git -C %s branch %s origin/%s, or check the project's default branch", m.into, m.root, m.into, m.into)
	}
	return nil
}

// mergeable says whether the merge can be done, and which tree it gives.
func (g *Git) mergeable(ctx context.Context, m *merging) (tree string, err error) {
	if m.strategy == FastForward {
		ok, err := g.contains(ctx, m.root, m.tip, m.old)
		if err == nil && !ok {
			err = fmt.Errorf("%s has moved since %s began: rebase %s onto %s, or merge with --strategy merge", m.into, m.branch, m.branch, m.into)
		}
		return "", err
	}
	out, err := g.call(ctx, call{dir: m.root, args: []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", m.old, m.tip}, patience: checkoutPatience})
	if err == nil {
		return strings.TrimRight(out, "\x00\n"), nil
	}
	var exit *exitError
	switch {
	case errors.As(err, &exit) && exit.code == 1:
		files := zeroed(exit.stdout)
		return "", conflict(m, files[min(1, len(files)):])
	case errors.As(err, &exit) && exit.code == 129:
		return "", errors.New("this merge needs git 2.38 or newer: install it, or merge by hand")
	}
	return "", fmt.Errorf("merge %s into %s: %w", m.branch, m.into, err)
}

func conflict(m *merging, files []string) error {
	return fmt.Errorf("%s and %s conflict, nothing was changed: rebase %s onto %s and resolve: %s",
		m.branch, m.into, m.branch, m.into, printable(strings.Join(files, ", ")))
}

// mergeRef moves the target, which is checked out nowhere.
func (g *Git) mergeRef(ctx context.Context, m *merging, tree string) (string, error) {
	commit := m.tip
	if m.strategy == MergeCommit {
		var err error
		commit, err = g.commitTree(ctx, m.root, tree, []string{m.old, m.tip}, m.message+"\n", g.identity(ctx, m.root))
		if err != nil {
			return "", fmt.Errorf("merge %s into %s: %w", m.branch, m.into, err)
		}
	}
	_, err := g.run(ctx, m.root, "update-ref", "-m", "merge "+m.branch, heads+m.into, commit, m.old)
	var exit *exitError
	if errors.As(err, &exit) && strings.Contains(exit.stderr, "but expected") {
		return "", fmt.Errorf("%s moved while %s was being merged, nothing was changed: try again", m.into, m.branch)
	}
	if err != nil {
		return "", fmt.Errorf("merge %s into %s: %w", m.branch, m.into, err)
	}
	return commit, nil
}

// mergeIn merges in the checkout of the target, with the repository's hooks. Git refuses
// what would touch uncommitted changes.
func (g *Git) mergeIn(ctx context.Context, dir string, m *merging) (string, error) {
	l, err := layoutOf(dir)
	if err != nil {
		return "", err
	}
	for _, name := range [...]string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"} {
		if _, err := os.Lstat(filepath.Join(l.git, name)); err == nil {
			return "", fmt.Errorf("an operation of git (%s) is under way in %s: finish or abort it there and try again", name, dir)
		}
	}
	args := []string{"merge", "--quiet", "--no-autostash", "--no-squash"}
	if m.strategy == FastForward {
		args = append(args, "--ff-only", m.tip)
	} else {
		args = append(args, "--no-ff", "--commit", "--no-edit", "-m", m.message, m.tip)
	}
	_, err = g.call(ctx, call{dir: dir, args: args, env: g.identity(ctx, dir), patience: checkoutPatience})
	if err != nil {
		return "", g.undo(ctx, dir, l, m, err)
	}
	commit, err := g.resolve(ctx, dir, heads+m.into)
	if err != nil {
		return "", err
	}
	merged, err := g.contains(ctx, dir, commit, m.tip)
	if err == nil && !merged {
		err = fmt.Errorf("git merged %s in %s, but it is not in %s: look there", m.branch, dir, m.into)
	}
	return commit, err
}

// undo takes back a merge that did not work out and says why it did not.
func (g *Git) undo(ctx context.Context, dir string, l layout, m *merging, why error) error {
	if _, err := os.Lstat(filepath.Join(l.git, "MERGE_HEAD")); err == nil {
		unmerged, _ := g.run(ctx, dir, "diff", "--name-only", "--diff-filter=U", "-z")
		if _, err := g.run(context.WithoutCancel(ctx), dir, "merge", "--abort"); err != nil {
			return fmt.Errorf("merge %s in %s: %w; taking it back: %w: run git -C %s merge --abort", m.branch, dir, why, err, dir)
		}
		if unmerged != "" {
			return conflict(m, zeroed(unmerged))
		}
	}
	var exit *exitError
	if errors.As(why, &exit) {
		if files := overwritten(exit.stderr); len(files) > 0 {
			return fmt.Errorf("changes in %s that are not committed are in the way of merging %s: commit them or move them away: %s",
				dir, m.branch, printable(strings.Join(files, ", ")))
		}
	}
	return fmt.Errorf("merge %s in %s, nothing was changed: %w", m.branch, dir, why)
}

// overwritten lists the files that git names, indented, when it refuses to overwrite them.
func overwritten(stderr string) []string {
	var files []string
	for line := range strings.Lines(stderr) {
		if name, ok := strings.CutPrefix(line, "\t"); ok {
			files = append(files, strings.TrimSpace(name))
		}
	}
	return files
}
