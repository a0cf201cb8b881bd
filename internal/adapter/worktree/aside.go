package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// asideName is the folder, beside the workspaces, of files that can neither stay in a workspace
// nor be saved in the repository: files that only an earlier task's branch ignored, such as
// packages it installed, settings of a harness, and the ignored files of a workspace that was
// removed. They are in <workspace>/<task>/.
const asideName = ".aside"

// purgedName is the folder in asideName that holds what is being deleted.
const purgedName = ".purged"

// An Aside is a folder of files that were set aside.
type Aside struct {
	Name string // of the workspace that they were in
	Path string
	Age  time.Duration // since the last of them was set aside
}

func (w *workspace) asideFolder(keeper string) string {
	return filepath.Join(w.pool.root, asideName, w.Name, keeper)
}

// setAsideUntracked sets aside what the default branch does not ignore. These files were ignored
// when the work was saved; otherwise they would have been saved and removed.
func (w *workspace) setAsideUntracked(ctx context.Context, keeper string) error {
	files, err := w.pool.git.UntrackedFiles(ctx, w.path)
	if err != nil {
		return err
	}
	return w.setAside(keeper, files)
}

// setAsideIgnored sets aside what git ignores.
func (w *workspace) setAsideIgnored(ctx context.Context, keeper string) error {
	files, err := w.pool.git.AllIgnored(ctx, w.path)
	if err != nil {
		return err
	}
	return w.setAside(keeper, files)
}

// setAside moves files out of a workspace.
func (w *workspace) setAside(keeper string, files []string) error {
	if len(files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(w.pool.root) // links in a workspace cannot lead out of it
	if err != nil {
		return fmt.Errorf("set files of workspace %s aside: %w", w.Name, err)
	}
	defer func() { _ = root.Close() }()
	for _, file := range files {
		file = strings.TrimSuffix(file, "/")
		from, to := filepath.Join(w.Name, file), filepath.Join(asideName, w.Name, keeper, file)
		if _, err := moveAside(root, from, to); err != nil {
			return fmt.Errorf("set %s of workspace %s aside: %w", file, w.Name, err)
		}
	}
	now := time.Now() // their age counts from now
	if err := root.Chtimes(filepath.Join(asideName, w.Name, keeper), now, now); err != nil {
		return fmt.Errorf("set files of workspace %s aside: %w", w.Name, err)
	}
	return nil
}

// moveAside renames a file to a free name and returns that name.
func moveAside(root *os.Root, from, to string) (free string, err error) {
	if err := root.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", err
	}
	free = to
	for n := 1; ; n++ {
		_, err := root.Lstat(free)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", err
		}
		free = to + "~" + strconv.Itoa(n)
	}
	err = root.Rename(from, free)
	if errors.Is(err, fs.ErrNotExist) {
		return free, nil
	}
	return free, err
}

// listAsides lists the folders of files set aside, as <workspace>/<task>.
func (p *Pool) listAsides() ([]Aside, error) {
	found, err := filepath.Glob(filepath.Join(escapeGlob(p.root), asideName, "*", "*"))
	if err != nil {
		return nil, fmt.Errorf("list what was set aside: %w", err)
	}
	var list []Aside
	for _, path := range found {
		name := filepath.Base(filepath.Dir(path))
		info, err := os.Lstat(path)
		if err != nil || name == purgedName {
			continue
		}
		list = append(list, Aside{Name: name, Path: path, Age: time.Since(info.ModTime())})
	}
	return list, nil
}

// deleteAside deletes a folder of files that were set aside. It renames the folder before it
// deletes the first file; the next call deletes what a crash has left.
func (p *Pool) deleteAside(a Aside) error {
	purged := filepath.Join(p.root, asideName, purgedName)
	if err := removeAll(purged); err != nil {
		return err
	}
	if err := os.MkdirAll(purged, 0o700); err != nil {
		return err
	}
	if err := os.Rename(a.Path, filepath.Join(purged, filepath.Base(a.Path))); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(a.Path)) // only if it is empty
	return removeAll(purged)
}

// removeAll deletes a folder, including read-only folders in it.
func removeAll(path string) error {
	if err := os.RemoveAll(path); err == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(at, 0o700)
		}
		return err
	})
	return os.RemoveAll(path)
}

// escapeGlob escapes a path so that as a pattern it matches only itself.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
