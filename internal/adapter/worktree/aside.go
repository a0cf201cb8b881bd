package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/view/humanize"
)

// asideName is the folder, beside the workspaces, of files that can neither stay in a workspace
// nor be saved in the repository: files that only an earlier task's branch ignored, such as
// packages it installed, settings of a harness, and the ignored files of a workspace that was
// removed. They are in <workspace>/<task>/.
const asideName = ".aside"

// purgedName is the folder in asideName that holds what is being deleted.
const purgedName = ".purged"

// wholeName is the name, in a folder of files set aside, of a workspace that was moved there with
// everything in it. A number follows if there are several.
const wholeName = "folder"

// An Aside is a folder of files that were set aside.
type Aside struct {
	Name string // of the workspace that they were in
	Path string
	Age  time.Duration // since the last of them was set aside

	// Folders in it with work that may exist nowhere else, because git could not save it. The
	// other files were ignored, or come from elsewhere.
	Workspaces   []string // whole workspaces
	Repositories []string // repositories that were inside a workspace
}

// Describe says in a few words what was set aside.
func (a Aside) Describe() string {
	var said []string
	switch n := len(a.Workspaces); {
	case n == 1:
		said = append(said, "a whole workspace")
	case n > 1:
		said = append(said, strconv.Itoa(n)+" whole workspaces")
	}
	var inside []string
	for _, path := range a.Repositories {
		if name, err := filepath.Rel(a.Path, path); err == nil {
			inside = append(inside, name)
		}
	}
	switch n := len(inside); {
	case n == 1:
		said = append(said, "a repository ("+inside[0]+")")
	case n > 1:
		said = append(said, fmt.Sprintf("%d repositories (%s)", n, humanize.FirstFew(inside, 5)))
	}
	if len(said) == 0 {
		return "files"
	}
	return strings.Join(said, " and ")
}

// isWhole reports whether it may hold work that exists nowhere else.
func (a Aside) isWhole() bool { return len(a.Workspaces)+len(a.Repositories) > 0 }

// Verb is the form of "to be" that goes with Describe.
func (a Aside) Verb() string {
	if a.isWhole() && len(a.Workspaces)+len(a.Repositories) == 1 {
		return "was"
	}
	return "were"
}

// findWhole finds the whole workspaces and the repositories in a folder of files set aside. A
// folder that it cannot read counts as a repository.
func (a *Aside) findWhole() {
	_ = filepath.WalkDir(a.Path, func(path string, d fs.DirEntry, err error) error {
		parent := filepath.Dir(path)
		switch {
		case err != nil:
			a.Repositories = append(a.Repositories, path)
			return fs.SkipDir
		case d.IsDir() && parent == a.Path && isWholeName(d.Name()):
			a.Workspaces = append(a.Workspaces, path)
			return fs.SkipDir
		case d.Name() == ".git":
			a.Repositories = append(a.Repositories, parent)
			return fs.SkipDir // for a file, this skips the rest of its folder
		}
		return nil
	})
}

func isWholeName(name string) bool {
	rest, ok := strings.CutPrefix(name, wholeName)
	number, numbered := strings.CutPrefix(rest, "~")
	_, err := strconv.Atoi(number)
	return ok && (rest == "" || numbered && err == nil)
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
		a := Aside{Name: name, Path: path, Age: time.Since(info.ModTime())}
		a.findWhole()
		list = append(list, a)
	}
	return list, nil
}

// reportAside reports the folders with work of the task that git could not save.
func (w *workspace) reportAside() {
	if w.Aside == nil {
		return
	}
	a := Aside{Path: w.asideFolder(string(w.Task))}
	if _, err := os.Lstat(a.Path); err == nil {
		a.findWhole()
	}
	for _, folder := range slices.Concat(a.Workspaces, a.Repositories) {
		w.Aside(folder)
	}
}

// deleteAside deletes a folder of files that were set aside, or one in it. It renames the folder
// before it deletes the first file; the next call deletes what a crash has left.
func (p *Pool) deleteAside(path string) error {
	top := filepath.Join(p.root, asideName)
	purged := filepath.Join(top, purgedName)
	if err := removeAll(purged); err != nil {
		return err
	}
	if err := os.MkdirAll(purged, 0o700); err != nil {
		return err
	}
	if err := os.Rename(path, filepath.Join(purged, filepath.Base(path))); err != nil {
		return err
	}
	for dir := filepath.Dir(path); dir != top; dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil { // only if it is empty
			break
		}
	}
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
