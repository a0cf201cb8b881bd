// Package taskdir manages the folder of a task that people and agents see: TASK.md, whose body
// is theirs and whose frontmatter shows the record, and history.jsonl, a readable copy of the
// journal. It writes what it is given and decides nothing.
package taskdir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"orange/internal/atomicfile"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

const (
	taskName    = "TASK.md"
	historyName = "history.jsonl"
	tempPattern = ".TASK.md-*"
)

// Dir is the folder of all tasks.
type Dir struct {
	root  string
	locks sync.Map // by folder: serializes the changes of this process
}

// New returns the folder of all tasks at root. It creates nothing before it is needed.
func New(root string) *Dir { return &Dir{root: root} }

// Path returns the folder of a task.
func (d *Dir) Path(project string, id task.ID) string {
	return filepath.Join(d.root, project, string(id))
}

// checkedPath is Path for names that cannot lead out of the folder.
func (d *Dir) checkedPath(project string, id task.ID) (string, error) {
	for _, name := range [...]string{project, string(id)} {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
			return "", fmt.Errorf("%q cannot be the name of a folder", name)
		}
	}
	return d.Path(project, id), nil
}

// CreateFolder creates the folder of a task with a TASK.md. The file is synced to disk when
// CreateFolder returns. An existing TASK.md with another text is an error.
func (d *Dir) CreateFolder(project string, id task.ID, body []byte) error {
	dir, err := d.checkedPath(project, id)
	if err != nil {
		return fmt.Errorf("create the folder of a task: %w", err)
	}
	if len(body) > taskfile.MaxSize {
		return fmt.Errorf("create %s: the text has %d bytes and %d are allowed; shorten it", filepath.Join(dir, taskName), len(body), taskfile.MaxSize)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return addAdvice(fmt.Errorf("create the folder of task %s: %w", id, err))
	}
	path := filepath.Join(dir, taskName)
	temp, err := writeTemp(dir, body)
	if err != nil {
		return addAdvice(fmt.Errorf("create %s: %w", path, err))
	}
	defer func() { _ = os.Remove(temp) }()
	err = os.Link(temp, path) // unlike a rename, it replaces nothing
	if errors.Is(err, fs.ErrExist) {
		return sameText(path, body)
	}
	if err == nil {
		err = atomicfile.SyncFolder(dir)
	}
	if err != nil {
		return addAdvice(fmt.Errorf("create %s: %w", path, err))
	}
	return nil
}

func sameText(path string, body []byte) error {
	have, err := readRegular(path)
	if err == nil && !bytes.Equal(have, body) {
		err = fmt.Errorf("create %s: a file with another text exists; move it away", path)
	}
	return err
}

// RemoveFolder deletes the folder of a task with everything in it.
func (d *Dir) RemoveFolder(project string, id task.ID) error {
	if _, err := d.checkedPath(project, id); err != nil {
		return fmt.Errorf("remove the folder of a task: %w", err)
	}
	d.locks.Delete(d.Path(project, id))
	root, err := os.OpenRoot(d.root) // links below it cannot lead out of it
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return addAdvice(fmt.Errorf("remove the folder of task %s: %w", id, err))
	}
	err = root.RemoveAll(filepath.Join(project, string(id)))
	if err = errors.Join(err, root.Close()); err != nil {
		return addAdvice(fmt.Errorf("remove the folder of task %s: %w", id, err))
	}
	return nil
}

// spliceLocked changes a TASK.md while it holds the lock of the folder.
func (d *Dir) spliceLocked(dir string, made change) error {
	lock, _ := d.locks.LoadOrStore(dir, new(sync.Mutex))
	mu := lock.(*sync.Mutex)
	mu.Lock()
	defer mu.Unlock()
	return spliceTaskFile(dir, made)
}

// ReadTaskFile returns a task's TASK.md. A missing file reads as empty.
func (d *Dir) ReadTaskFile(project string, id task.ID) (taskfile.Document, error) {
	dir, err := d.checkedPath(project, id)
	if err != nil {
		return taskfile.Document{}, fmt.Errorf("read the folder of a task: %w", err)
	}
	path := filepath.Join(dir, taskName)
	src, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return taskfile.Document{}, nil
	}
	if err != nil {
		return taskfile.Document{}, err
	}
	return parseTaskFile(path, src)
}

func parseTaskFile(path string, src []byte) (taskfile.Document, error) {
	doc, err := taskfile.Parse(src)
	if err != nil {
		return taskfile.Document{}, fmt.Errorf("%s: %w", path, err)
	}
	return doc, nil
}

// ShowRecord is ProjectRecord for entries that may not follow on what history.jsonl shows: earlier returns
// those after a number.
func (d *Dir) ShowRecord(t task.Task, entries []journal.Entry, earlier func(after int) ([]journal.Entry, error)) error {
	last, err := d.LastSeq(t.Project, t.ID)
	if err == nil && (len(entries) == 0 || last+1 < entries[0].Seq) {
		entries, err = earlier(last)
	}
	if err != nil {
		return err
	}
	return d.ProjectRecord(t, entries)
}

// ProjectRecord writes the record to TASK.md's frontmatter and the last report among the
// entries to a section, and appends the entries that history.jsonl lacks. If one of these
// fails, it still does the others. A deleted task has no folder, so ProjectRecord writes
// nothing for it.
func (d *Dir) ProjectRecord(t task.Task, entries []journal.Entry) error {
	if t.Deleted {
		return nil
	}
	dir, err := d.checkedPath(t.Project, t.ID)
	if err != nil {
		return fmt.Errorf("show task: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return addAdvice(fmt.Errorf("show task %s in its folder: %w", t.ID, err))
	}
	history := addAdvice(appendHistory(filepath.Join(dir, historyName), entries))
	frontmatter := addAdvice(d.spliceLocked(dir, withFields(journal.Frontmatter(t))))
	if frontmatter == nil {
		frontmatter = addAdvice(d.showReport(dir, entries))
	}
	if history != nil && frontmatter != nil {
		return fmt.Errorf("%w; %w", history, frontmatter)
	}
	return errors.Join(history, frontmatter)
}

// addAdvice adds what to do to an error of the operating system.
func addAdvice(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; check the owner and the permissions of the folder", err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w; free some space", err)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w; a file is in the place of a folder, move it away", err)
	}
	return err
}

// openRegular opens a regular file: neither a link nor anything that could block.
func openRegular(path string, flag int) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, nil, notRegular(path, "link")
	}
	if errors.Is(err, syscall.EISDIR) {
		return nil, nil, notRegular(path, "folder")
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(path, fileKind(info.Mode()))
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func fileKind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

func notRegular(path, kind string) error {
	return fmt.Errorf("read %s: it is a %s; replace it with a regular file", path, kind)
}

// readRegular reads a TASK.md of at most the allowed size.
func readRegular(path string) ([]byte, error) {
	f, info, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	src, err := readAllowed(f, info.Size())
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return src, nil
}

func readAllowed(f io.Reader, size int64) ([]byte, error) {
	if size <= taskfile.MaxSize {
		src, err := io.ReadAll(io.LimitReader(f, taskfile.MaxSize+1))
		if err != nil || len(src) <= taskfile.MaxSize {
			return src, err
		}
		size = int64(len(src))
	}
	return nil, fmt.Errorf("it has %d bytes and %d are allowed; shorten it", size, taskfile.MaxSize)
}

// writeTemp writes a temporary file beside TASK.md. The file is synced to disk when writeTemp
// returns.
func writeTemp(dir string, text []byte) (path string, err error) {
	f, err := os.CreateTemp(dir, tempPattern)
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}
