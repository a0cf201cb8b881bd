package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orange/internal/core/task"
)

// LandingPath returns the folder of the landing worktree of a branch. It is beside the pool: a landing waits for no
// workspace.
func (p *Pool) LandingPath(project task.Project) string {
	sum := sha256.Sum256([]byte(project.DefaultBranch))
	return filepath.Join(p.landingRoot(), project.Name+"--"+hex.EncodeToString(sum[:4]))
}

func (p *Pool) landingRoot() string { return filepath.Join(filepath.Dir(p.root), "landing") }

// removeLandings removes the landing worktrees in which nothing runs. They hold no work, and a later landing makes its
// worktree again.
func (p *Pool) removeLandings(ctx context.Context, how Sweep, swept *Swept) error {
	entries, err := os.ReadDir(p.landingRoot())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the landing worktrees: %w", err)
	}
	for _, e := range entries {
		r := Removed{Name: e.Name(), Path: filepath.Join(p.landingRoot(), e.Name()), Landing: true}
		if used, err := p.removeLanding(ctx, r.Path, how); err != nil {
			swept.Kept = append(swept.Kept, Kept{Name: r.Name, Path: r.Path, Reason: err.Error()})
		} else if !used {
			swept.Removed = append(swept.Removed, r)
		}
	}
	return nil
}

// removeLanding removes one landing worktree, unless it is used. A landing that begins waits for the lock.
func (p *Pool) removeLanding(ctx context.Context, path string, how Sweep) (used bool, err error) {
	defer p.locks.Lock(path)()
	if used, err := how.Landing(path); used || err != nil || how.Dry {
		return used, err
	}
	return false, p.git.RemoveCandidate(ctx, path)
}

// PrepareLanding checks out a candidate in the landing worktree of the project's default branch, copies the files that
// the project wants copied, and runs the set-up command. Nothing of an earlier candidate is left.
func (p *Pool) PrepareLanding(ctx context.Context, s Slot, commit string) error {
	s.Name = s.Project.Name + "--" + landingSlot
	w := &workspace{Slot: s, pool: p, path: p.LandingPath(s.Project)}
	defer p.locks.Lock(w.path)()
	if err := p.git.CheckOutCandidate(ctx, s.Project.Path, w.path, commit); err != nil {
		return err
	}
	var err error
	if w.git, err = p.git.RegisteredDir(ctx, s.Project.Path, w.path); err != nil {
		return err
	}
	if err := w.excludeFiles(); err != nil {
		return err
	}
	if err := w.copyIncluded(ctx); err != nil {
		return err
	}
	return w.runCommand(ctx, "setup", w.Setup)
}

// landingSlot is the number of the landing worktree for the ports of set-up commands: no pool is as large.
const landingSlot = "300"
