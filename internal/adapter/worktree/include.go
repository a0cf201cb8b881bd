package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// includeName is the file in the main checkout that lists, in patterns like those of
// .gitignore, the ignored files that every workspace needs a copy of.
const includeName = ".worktreeinclude"

// copyIncluded copies the files that the project wants in every workspace. It copies only files
// that git ignores both in the main checkout and in the workspace, so that no copy can end up
// in a commit. It does not overwrite files.
func (w *workspace) copyIncluded(ctx context.Context) error {
	patterns := filepath.Join(w.Project.Path, includeName)
	if info, err := os.Stat(patterns); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	files, err := w.pool.git.MatchingFiles(ctx, w.Project.Path, patterns)
	for _, dir := range [...]string{w.Project.Path, w.path} {
		if err == nil {
			files, err = w.pool.git.IgnoredFiles(ctx, dir, files)
		}
	}
	if err != nil {
		return err
	}
	from, err := os.OpenRoot(w.Project.Path)
	if err != nil {
		return fmt.Errorf("copy files into workspace %s: %w", w.Name, err)
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenRoot(w.pool.root)
	if err != nil {
		return fmt.Errorf("copy files into workspace %s: %w", w.Name, err)
	}
	defer func() { _ = to.Close() }()
	for _, file := range files {
		if err := w.copyFile(from, to, file); err != nil {
			return fmt.Errorf("copy %s into workspace %s: %w", file, w.Name, err)
		}
	}
	return nil
}

// copyFile copies a regular file that does not exist in the workspace yet. The file is complete
// when it appears. An os.Root does not follow links that lead out of it.
func (w *workspace) copyFile(from, to *os.Root, file string) error {
	name := filepath.Join(w.Name, file)
	if strings.HasSuffix(file, "/") {
		return nil // a repository inside the main checkout
	}
	if _, err := to.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	info, err := from.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if err := to.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	temp := "." + w.Name + ".copy"
	if err := to.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := copyInto(from, file, to, temp, info.Mode().Perm()); err != nil {
		return joinErrors(err, to.Remove(temp))
	}
	return to.Rename(temp, name)
}

func copyInto(from *os.Root, file string, to *os.Root, temp string, mode fs.FileMode) (err error) {
	src, err := from.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	dst, err := to.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err == nil {
		err = dst.Chmod(mode)
	}
	return joinErrors(err, dst.Close())
}
