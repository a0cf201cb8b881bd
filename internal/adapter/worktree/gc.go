package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"orange/internal/core/task"
)

// Removed is a workspace that was removed, or would be.
type Removed struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Salvage string `json:"salvage,omitempty"` // where the work that was left in it is kept
}

// Kept is something that stays, and why.
type Kept struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// GC removes workspaces that no task has and no pool needs: those beyond the size of their
// project's pool, and those of projects that are gone. Work that is left in one is kept
// first; one whose work cannot be kept stays. With dry nothing is removed.
func (p *Pool) GC(ctx context.Context, projects []task.Project, bound map[string]task.ID, dry bool) ([]Removed, []Kept, error) {
	names, err := p.folders()
	if err != nil {
		return nil, nil, err
	}
	size := map[string]int{}
	for _, project := range projects {
		size[project.Name] = project.PoolSize
	}
	var removed []Removed
	var kept []Kept
	for _, name := range names {
		owner, n, err := parseName(name)
		if err != nil || n <= size[owner] {
			continue
		}
		r := Removed{Name: name, Path: p.Path(name)}
		if r.Salvage, err = p.remove(ctx, name, bound[name], dry); err != nil {
			kept = append(kept, Kept{Name: name, Path: r.Path, Reason: err.Error()})
			continue
		}
		removed = append(removed, r)
	}
	aside, err := p.asides()
	for _, path := range aside {
		kept = append(kept, Kept{Name: filepath.Base(filepath.Dir(path)), Path: path,
			Reason: "files that only the branch of an earlier task ignored: look at them and delete the folder"})
	}
	return removed, kept, err
}

// remove removes one workspace. An error is the reason why it stays.
func (p *Pool) remove(ctx context.Context, name string, holder task.ID, dry bool) (salvage string, err error) {
	if holder != "" {
		return "", fmt.Errorf("it is bound to task %s", holder)
	}
	defer p.hold(name)()
	owner, _, err := parseName(name)
	if err != nil {
		return "", err
	}
	// The repository of a project that is gone is known to the worktree itself.
	w, err := p.open(ctx, Slot{Project: task.Project{Name: owner, Path: p.Path(name)}, Name: name})
	if err != nil {
		return "", err
	}
	switch {
	case w.git == "":
		return "", errors.New("it is no worktree: move it away")
	case w.now.Task != "":
		return "", fmt.Errorf("it says that it is bound to task %s", w.now.Task)
	}
	if err := noRepositoryIn(w.path); err != nil || dry {
		return "", err
	}
	keeper := w.keeper()
	salvage, err = p.git.Salvage(ctx, w.path, keeper)
	if err != nil {
		return "", err
	}
	err = p.run(
		step{"clean", func() error { return p.git.Clean(ctx, w.path, keeper) }},
		step{"drop", func() error { return w.dropOwn(ctx, keeper) }},
		step{"aside", func() error { return w.asideUntracked(ctx, keeper) }},
		step{"remove", func() error { return p.git.RemoveWorktree(ctx, w.path) }},
	)
	return salvage, err
}

// noRepositoryIn says whether there is a repository somewhere below a workspace. Where git
// ignores it, it would go without a word.
func noRepositoryIn(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" && filepath.Dir(path) != dir {
			return fmt.Errorf("there is a git repository of its own in it: move away %s", filepath.Dir(path))
		}
		return nil
	})
}
