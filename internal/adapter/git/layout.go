package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// layout is where a working tree keeps its administrative files.
type layout struct {
	git    string // of this working tree only: HEAD, index
	common string // shared by all working trees of the repository: refs, config, objects
}

// layoutOf reads the layout of the working tree whose top folder is dir.
func layoutOf(dir string) (layout, error) {
	entry := filepath.Join(dir, ".git")
	info, err := os.Stat(entry)
	if err != nil {
		return layout{}, fmt.Errorf("find the repository of %s: %w", dir, err)
	}
	l := layout{git: entry}
	if !info.IsDir() {
		if l.git, err = readPath(entry, "gitdir: ", dir); err != nil {
			return layout{}, err
		}
	}
	l.common, err = readPath(filepath.Join(l.git, "commondir"), "", l.git)
	if errors.Is(err, fs.ErrNotExist) {
		l.common, err = l.git, nil
	}
	return l, err
}

// CommonDir returns the folder that all working trees of a repository share. It reads the files
// of the working tree whose top folder is dir.
func CommonDir(dir string) (string, error) {
	l, err := layoutOf(dir)
	return l.common, err
}

// readPath reads a file that holds a path, which may be relative to base.
func readPath(file, prefix, base string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	path, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), prefix)
	if !ok || path == "" {
		return "", fmt.Errorf("read %s: it names no folder: run git worktree repair in the main checkout", file)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path), nil
}

// commonDir returns the folder that all working trees of root's repository share.
func (g *Git) commonDir(ctx context.Context, root string) (string, error) {
	dir, err := g.run(ctx, root, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return "", fmt.Errorf("find the repository of %s: %w", root, err)
	}
	return filepath.Clean(dir), nil
}

// resolveParentLinks resolves the links in the parent folder of path, so that two names of one
// place compare equal even if nothing exists there yet.
func resolveParentLinks(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, filepath.Base(path))
}

// samePlace reports whether two existing folders are the same.
func samePlace(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
