package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// A submodule is a repository inside a working tree that is registered in the repository around
// it.
type submodule struct {
	name   string // path in the working tree around it
	dir    string
	commit string // the commit in the index
}

// insideOf returns an error unless git, when it runs in a submodule, works on the submodule and
// on nothing outside the working tree around it.
func (g *Git) insideOf(ctx context.Context, dir string, sub submodule) error {
	outer, err := layoutOf(dir)
	if err != nil {
		return err
	}
	inner, err := layoutOf(sub.dir)
	if err != nil {
		return fmt.Errorf("submodule %s: %w", sub.name, err)
	}
	top, err := g.run(ctx, sub.dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return fmt.Errorf("submodule %s: %w", sub.name, err)
	}
	realDir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if top != filepath.Join(realDir, sub.name) {
		return fmt.Errorf("submodule %s in %s points to %s: repair or remove it, then try again", sub.name, dir, top)
	}
	absorbed := isWithin(outer.git, inner.git)
	if absorbed || inner.git == filepath.Join(sub.dir, ".git") && g.inHead(ctx, dir, sub.name) {
		return nil
	}
	return nestedError(dir, sub.name)
}

// submoduleDirs returns the folders of submodules, recursively.
func (g *Git) submoduleDirs(ctx context.Context, known index) (dirs []string, err error) {
	for _, sub := range known.submodules {
		nested, err := g.readIndex(ctx, sub.dir)
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", sub.name, err)
		}
		deep, err := g.submoduleDirs(ctx, nested)
		if err != nil {
			return nil, err
		}
		dirs = append(append(dirs, sub.dir), deep...)
	}
	return dirs, nil
}

func (g *Git) inHead(ctx context.Context, dir, name string) bool {
	out, err := g.run(ctx, dir, "ls-tree", "-z", "HEAD", "--", name)
	return err == nil && strings.HasPrefix(out, gitlink+" ")
}

// A NestedError names a repository inside a worktree that is not a submodule of it.
type NestedError struct{ dir, name string }

// Error implements error.
func (e *NestedError) Error() string {
	return fmt.Sprintf("%s in %s is a separate git repository, which Orange cannot save: move it elsewhere, then try again", makePrintable(e.name), e.dir)
}

// NestedRepository returns the folder of the repository.
func (e *NestedError) NestedRepository() string { return filepath.Join(e.dir, e.name) }

func nestedError(dir, name string) error { return &NestedError{dir: dir, name: name} }

// noneNested returns an error if there is a repository inside a working tree that the
// repository around it does not know. The remains of a submodule of another commit do not
// count: their repository is saved with the worktree's.
func (g *Git) noneNested(ctx context.Context, dir string, l layout) error {
	out, err := g.runQuietly(ctx, dir, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return fmt.Errorf("list the untracked files of %s: %w", dir, err)
	}
	for _, name := range splitNulTerminated(out) {
		if !strings.HasSuffix(name, "/") {
			continue
		}
		inner, err := layoutOf(filepath.Join(dir, name))
		if err != nil || !isWithin(l.git, inner.git) {
			return nestedError(dir, strings.TrimSuffix(name, "/"))
		}
	}
	return nil
}

// isWithin reports whether path is in folder, after links are resolved.
func isWithin(folder, path string) bool {
	folder, errF := filepath.EvalSymlinks(folder)
	path, errP := filepath.EvalSymlinks(path)
	if errF != nil || errP != nil {
		return false
	}
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel) && rel != "."
}
