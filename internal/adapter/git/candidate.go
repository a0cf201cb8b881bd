package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/task"
)

// landingRefs is where the work of tasks is kept whose landing failed.
const landingRefs = "refs/orange/landing/"

// BuildCandidate builds the commit by which a branch can be merged into its target. It writes
// only objects. If the branch is already in the target, there is no candidate, and landed is
// the commit by which the branch came there. If the target has the changes of a squash or a
// rebase already, as other commits, the candidate is the commit that brought them.
func (g *Git) BuildCandidate(ctx context.Context, root string, asked Merging) (c task.Candidate, landed string, err error) {
	m := merging{Merging: asked, root: root}
	c.Target = asked.Into
	if err := g.prepareMerge(ctx, &m); err != nil {
		return c, "", err
	}
	c.Tip, c.Head = m.old, m.tip
	merged, err := g.historyContains(ctx, root, m.old, m.tip)
	if err != nil {
		return c, "", err
	}
	if merged {
		did, err := g.RecoverLanding(ctx, root)
		if err != nil {
			return c, "", err
		}
		g.reportRecovery(did)
		landed, err = g.landedBy(ctx, root, m.tip, m.old)
		return c, landed, err
	}
	if needs, err := g.needsBase(ctx, &m); err != nil {
		return c, "", err
	} else if needs {
		c.StackBase = m.StackBase
	}
	if c.Commit, err = g.buildMergeCommit(ctx, &m); err != nil {
		return c, "", err
	}
	if c.Commit == m.old {
		if c.Tip, c.Commit, err = g.findChanges(ctx, &m); err != nil {
			return c, "", err
		}
	}
	c.Tree, err = g.treeOf(ctx, root, c.Commit)
	return c, "", err
}

// KeepWork makes a ref that keeps a commit of a task, and returns its name.
func (g *Git) KeepWork(ctx context.Context, root string, id task.ID, commit string) (ref string, err error) {
	if !id.IsValid() || !isHash(commit) {
		return "", fmt.Errorf("keep the work of task %.40q: %.80q must be a full commit hash", id, commit)
	}
	ref = landingRefs + path.Join(string(id), commit[:12])
	if _, err = g.run(ctx, root, "update-ref", ref, commit); err != nil {
		return "", fmt.Errorf("keep the work of task %s: %w", id, err)
	}
	return ref, nil
}

// A KeptWork is a ref that KeepWork made.
type KeptWork struct {
	Ref    string
	Task   task.ID
	Commit string
	Time   time.Time // of the commit
}

// DropKeptWork removes refs of KeepWork that are of no more use: those of the tasks that isOver
// selects whose commits a branch, a tag or a salvage has too. It returns those, and the others
// of these tasks, which stay because they alone keep their commits. With dry it removes nothing.
func (g *Git) DropKeptWork(ctx context.Context, root string, isOver func(task.ID) bool, dry bool) (dropped, left []KeptWork, err error) {
	out, err := g.run(ctx, root, "for-each-ref", "--format=%(objectname) %(committerdate:unix) %(refname)", landingRefs)
	if err != nil {
		return nil, nil, fmt.Errorf("list the work that is kept for landing: %w", err)
	}
	for line := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), " ", 3)
		if len(fields) != 3 {
			continue
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(fields[2], landingRefs), "/")
		seconds, _ := strconv.ParseInt(fields[1], 10, 64)
		k := KeptWork{Ref: fields[2], Task: task.ID(id), Commit: fields[0], Time: time.Unix(seconds, 0).UTC()}
		if !isOver(k.Task) {
			continue
		}
		only, err := g.run(ctx, root, "rev-list", "--max-count=1", k.Commit, "--not", "--branches", "--tags", "--remotes", "--glob="+salvageRefs+"*")
		if err != nil {
			return dropped, left, fmt.Errorf("find out who else keeps %.12s: %w", k.Commit, err)
		}
		if only != "" {
			left = append(left, k)
			continue
		}
		if !dry {
			if err := g.forgetWork(ctx, root, k); err != nil {
				return dropped, left, err
			}
		}
		dropped = append(dropped, k)
	}
	return dropped, left, nil
}

// forgetWork removes a ref of KeepWork if it is still at its commit.
func (g *Git) forgetWork(ctx context.Context, root string, k KeptWork) error {
	if _, err := g.run(ctx, root, "update-ref", "-d", k.Ref, k.Commit); err != nil {
		return fmt.Errorf("remove %s: %w", k.Ref, err)
	}
	return nil
}

// RemoveCandidate removes a worktree that CheckOutCandidate made, with everything in it.
func (g *Git) RemoveCandidate(ctx context.Context, path string) error {
	if err := checkIntact(path); err != nil {
		return err
	}
	l, err := layoutOf(path)
	if err != nil {
		return err
	}
	if _, err := g.inGitDir(ctx, l.common, "worktree", "remove", "--force", path); err != nil {
		return fmt.Errorf("remove the worktree %s: %w", path, err)
	}
	return nil
}

// CheckOutCandidate makes a worktree at path contain exactly the files of a commit. It creates
// the worktree if there is none, and removes everything else from it, ignored files too. The
// worktree must be Orange's own, because what is in it is lost.
func (g *Git) CheckOutCandidate(ctx context.Context, root, path, commit string) error {
	if err := g.forgetMissing(ctx, root, path); err != nil {
		return err
	}
	if err := g.AddWorktree(ctx, root, path, commit); err != nil {
		return err
	}
	if err := g.checkWorksOnDir(ctx, path); err != nil {
		return err
	}
	dir, err := g.RegisteredDir(ctx, root, path)
	if err == nil {
		_, err = g.RemoveStaleLocks(dir, path, "")
	}
	if err != nil {
		return err
	}
	for _, args := range [...][]string{
		{"update-ref", "--no-deref", "-m", "orange: candidate", "HEAD", commit},
		{"reset", "--hard", "--quiet", commit},
		{"clean", "-ffdxq"},
	} {
		if _, err := g.runQuietly(ctx, path, args...); err != nil {
			return fmt.Errorf("check out %.12s in %s: %w", commit, path, err)
		}
	}
	return g.alignSubmodules(ctx, path)
}

// forgetMissing removes the registration of a worktree whose folder does not exist.
func (g *Git) forgetMissing(ctx context.Context, root, path string) error {
	dir, err := g.RegisteredDir(ctx, root, path)
	if err != nil || dir == "" {
		return err
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if _, err := g.runQuietly(ctx, root, "worktree", "remove", "--force", path); err != nil {
		return fmt.Errorf("forget the worktree %s: %w", path, err)
	}
	return nil
}
