package workflowdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orange/internal/atomicfile"
)

// A batch is a set of new files of a folder, written together.
type batch struct {
	folder string
	force  bool // replace existing files
	drafts []draft
	placed []string // files that did not exist before
}

// A draft is a file that does not have its final name yet.
type draft struct{ temporary, file string }

// A File is a workflow file to write: its name without extension, and JSON.
type File struct{ Name, Text string }

// SaveFiles writes workflows into the repository, or among the user's own if repoRoot is empty:
// all of them or none. It replaces files only if force is set. It returns their paths.
func (d *Dir) SaveFiles(files []File, repoRoot string, force bool) ([]string, error) {
	b := batch{folder: d.user, force: force}
	if repoRoot != "" {
		b.folder = filepath.Join(repoRoot, ".orange", "workflows")
	}
	if b.folder == "" {
		return nil, errors.New("there is no folder for workflows of the user: set HOME or XDG_CONFIG_HOME")
	}
	out := make([]string, len(files))
	for i, f := range files {
		if !isPlainName(f.Name) {
			return nil, fmt.Errorf("%q is not the name of a workflow: give a plain name without slashes", f.Name)
		}
		out[i] = filepath.Join(b.folder, f.Name+stepFile)
		if err := b.checkFree(f.Name); err != nil {
			return nil, err
		}
	}
	if err := b.writeFiles(files); err != nil {
		b.removeWritten()
		return nil, fmt.Errorf("write workflows to %s: %w", b.folder, err)
	}
	return out, nil
}

// checkFree returns an error if a new file would replace another or be hidden by it.
func (b *batch) checkFree(name string) error {
	for _, extension := range fileExtensions() {
		file := filepath.Join(b.folder, name+extension)
		info, err := os.Lstat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("check for %s: %w", file, err)
		case extension != stepFile:
			return fmt.Errorf("%s exists and takes precedence: remove it, or choose another name with --name", file)
		case info.IsDir():
			return fmt.Errorf("%s is a folder: remove it, or choose another name with --name", file)
		case !b.force:
			return fmt.Errorf("%s already exists: replace it with --force, or choose another name with --name", file)
		}
	}
	return nil
}

// writeFiles writes every text to disk before any file gets its final name.
func (b *batch) writeFiles(files []File) error {
	if err := os.MkdirAll(b.folder, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		temporary, err := b.writeDraft(f.Text)
		b.drafts = append(b.drafts, draft{temporary, filepath.Join(b.folder, f.Name+stepFile)})
		if err != nil {
			return err
		}
	}
	for _, d := range b.drafts {
		_, err := os.Lstat(d.file)
		isNew := errors.Is(err, fs.ErrNotExist)
		if err := os.Rename(d.temporary, d.file); err != nil {
			return err
		}
		if isNew {
			b.placed = append(b.placed, d.file)
		}
	}
	return atomicfile.SyncFolder(b.folder)
}

func (b *batch) writeDraft(text string) (string, error) {
	f, err := os.CreateTemp(b.folder, ".import-*")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
}

// removeWritten removes what was written before an error. What it cannot remove does no harm:
// drafts are hidden files.
func (b *batch) removeWritten() {
	for _, d := range b.drafts {
		if d.temporary != "" {
			_ = os.Remove(d.temporary)
		}
	}
	for _, file := range b.placed {
		_ = os.Remove(file)
	}
}
