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
)

// asideName is the folder, beside the workspaces, of files that can neither stay in a
// workspace nor be kept in the repository: those that only an earlier task's branch
// ignored, such as packages it installed. They lie in <workspace>/<task>/.
const asideName = ".aside"

// asideUntracked sets aside what the default branch does not ignore. It was ignored when
// the work was kept, or it would have been kept and removed.
func (w *workspace) asideUntracked(ctx context.Context, keeper string) error {
	files, err := w.pool.git.Untracked(ctx, w.path)
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
		if err := moveAside(root, from, to); err != nil {
			return fmt.Errorf("set %s of workspace %s aside: %w", file, w.Name, err)
		}
	}
	return nil
}

// moveAside renames a file to a name that is free.
func moveAside(root *os.Root, from, to string) error {
	if err := root.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	free := to
	for n := 1; ; n++ {
		_, err := root.Lstat(free)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		free = to + "~" + strconv.Itoa(n)
	}
	err := root.Rename(from, free)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// asides lists the folders of files set aside, as <workspace>/<task>.
func (p *Pool) asides() ([]string, error) {
	found, err := filepath.Glob(filepath.Join(escapeGlob(p.root), asideName, "*", "*"))
	return found, err
}

// escapeGlob makes a path match itself only.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
