package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"orange/internal/atomicfile"
	"orange/internal/core/taskfile"
)

// origSuffix ends the name of a task's file that another edit has replaced.
const origSuffix = ".orig"

// RestoreTaskLink restores the link to the task's file. An editor that saves by rename leaves a
// regular file in place of the link: its content becomes the task's file. If the task's file
// has changed since, RestoreTaskLink keeps that version beside it as TASK.md.orig.
func (p *Pool) RestoreTaskLink(ctx context.Context, s Slot) error {
	if target, err := os.Readlink(filepath.Join(p.Path(s.Name), TaskFileName)); err == nil && target == s.TaskFile {
		return nil
	}
	if err := s.checkSlot(); err != nil {
		return err
	}
	w, err := p.openWorkspace(ctx, s)
	if err != nil || w.now.Task != s.Task || !w.isAttached(ctx) {
		return err
	}
	return w.restoreLink()
}

// linkTaskFile creates the link in a workspace whose branch is checked out.
func (w *workspace) linkTaskFile(ctx context.Context) error {
	tracked, err := w.pool.git.TrackedFiles(ctx, w.path, TaskFileName)
	if err != nil {
		return err
	}
	if len(tracked) > 0 {
		return fmt.Errorf("branch %s of project %s already tracks a file %s, where the task's file must be: rename it there (git mv) and try again", w.Branch, w.Project.Name, TaskFileName)
	}
	return w.healLink()
}

// restoreLink creates the link, whatever is in its place. It moves a regular file out of the
// workspace before it reads it, so that nobody can replace the file in the meantime.
func (w *workspace) restoreLink() error {
	defer w.pool.locks.Lock(w.Name + "/" + TaskFileName)()
	link := filepath.Join(w.path, TaskFileName)
	taken := filepath.Join(w.pool.root, "."+w.Name+"."+TaskFileName)
	for range 10 {
		done, err := w.restoreLinkOnce(link, taken)
		if err != nil {
			return fmt.Errorf("restore the link %s: %w", link, err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("restore the link %s: other programs keep replacing it; close them and try again", link)
}

func (w *workspace) restoreLinkOnce(link, taken string) (done bool, err error) {
	if target, err := os.Readlink(link); err == nil && target == w.TaskFile {
		return true, nil
	}
	if _, err := os.Lstat(taken); err == nil {
		return false, adoptEdit(taken, w.TaskFile)
	}
	info, err := os.Lstat(link)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.Symlink(w.TaskFile, link)
		if errors.Is(err, fs.ErrExist) {
			return false, nil
		}
		return err == nil, err
	case err != nil:
		return false, err
	case info.Mode().IsRegular():
		return false, os.Rename(link, taken)
	case info.Mode()&fs.ModeSymlink != 0:
		return false, os.Remove(link)
	}
	return false, errors.New("something other than a file is in its place; move it away")
}

// healLink is restoreLink while no agent works in the workspace. It sets aside a folder, a pipe or
// anything else in the place of the link, which must not hold the workspace.
func (w *workspace) healLink() error {
	info, err := os.Lstat(filepath.Join(w.path, TaskFileName))
	if err == nil && !w.Busy && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
		if err := w.setAside(string(w.Task), []string{TaskFileName}); err != nil {
			return err
		}
		w.reportNote("%s in workspace %s, which is not a file, was moved to %s and is kept there", TaskFileName, w.Name, w.asideFolder(string(w.Task)))
	}
	return w.restoreLink()
}

// adoptEdit replaces the task's file with an edit.
func adoptEdit(edit, file string) error {
	text, edited, err := readPlainFile(edit)
	if err != nil {
		return err
	}
	old, changed, err := readPlainFile(file)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return err
	case missing:
		return moveFile(edit, file, 0o600)
	case bytes.Equal(text, old):
		return os.Remove(edit)
	}
	mode := changed.Mode().Perm()
	newer := changed.ModTime().After(edited.ModTime())
	if newer || len(bytes.TrimSpace(text)) == 0 {
		if err := atomicfile.Write(file+origSuffix, old, mode); err != nil {
			return err
		}
	}
	if !newer {
		return moveFile(edit, file, mode)
	}
	if err := atomicfile.Write(file, withFrontmatter(text, old), mode); err != nil {
		return err
	}
	return os.Remove(edit)
}

func readPlainFile(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file: replace it with one", path)
	}
	if err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(path)
	return text, info, err
}

// moveFile renames a file, so that a program that is still writing continues to write to the
// same file. To another disk it copies the file.
func moveFile(from, to string, mode fs.FileMode) error {
	err := os.Chmod(from, mode)
	if err == nil {
		err = os.Rename(from, to)
	}
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	text, err := os.ReadFile(from)
	if err == nil {
		err = atomicfile.Write(to, text, mode)
	}
	if err != nil {
		return err
	}
	return os.Remove(from)
}

// withFrontmatter returns text with the frontmatter of a newer text. It returns text unchanged
// if the frontmatter cannot be parsed.
func withFrontmatter(text, newer []byte) []byte {
	edited, err := taskfile.Parse(text)
	if err != nil {
		return text
	}
	owned, err := taskfile.Parse(newer)
	if err != nil {
		return text
	}
	return owned.WithBody(edited.Body()).Bytes()
}
