package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"orange/internal/core/task"
)

// LandingPath returns the folder of the landing worktree of a branch. It is beside the pool: a landing waits for no
// workspace.
func (p *Pool) LandingPath(project task.Project) string {
	sum := sha256.Sum256([]byte(project.DefaultBranch))
	return filepath.Join(filepath.Dir(p.root), "landing", project.Name+"--"+hex.EncodeToString(sum[:4]))
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
