package taskdir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"orange/internal/core/taskfile"
)

// rounds is how often spliceTaskFile includes concurrent edits before it leaves the change to
// the next projection.
const rounds = 20

// settleTimeout is how long another program may take to finish the edit that it is writing.
const settleTimeout = time.Second

// A change returns the new text of a TASK.md for the present one.
type change func(path string, src []byte) ([]byte, error)

// spliceTaskFile changes TASK.md. It replaces the file atomically. A program that edits TASK.md
// at the same time writes to the old file or replaces it, so spliceTaskFile reads the displaced
// file again: if it differs from the text that the change was made to, the edit is newer, and
// the change is made to the edit.
func spliceTaskFile(dir string, made change) error {
	path := filepath.Join(dir, taskName)
	base, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return spliceMissing(dir, made)
	}
	if err != nil {
		return err
	}
	there := base // the content expected at path
	edit := ""    // a displaced file whose text is not in TASK.md yet
	for range rounds {
		text, err := made(path, base)
		if err != nil {
			return putBack(edit, path, there, err)
		}
		if bytes.Equal(text, there) {
			return discardFile(edit)
		}
		displaced, old, err := replaceTaskFile(dir, text)
		if err != nil {
			return putBack(edit, path, there, fmt.Errorf("write %s: %w", path, err))
		}
		if err := discardFile(edit); err != nil {
			return err
		}
		if bytes.Equal(displaced, there) {
			return discardFile(old)
		}
		base, there, edit = displaced, text, old
	}
	return putBack(edit, path, there, fmt.Errorf("write %s: other programs keep changing it; close them and try again", path))
}

// putBack moves an edit that cannot be spliced back to its place: it stays on disk until its
// text is in TASK.md.
func putBack(edit, path string, text []byte, why error) error {
	if edit == "" {
		return why
	}
	return takeBack(edit, path, text, why)
}

func discardFile(file string) error {
	if file == "" {
		return nil
	}
	return os.Remove(file)
}

func spliceMissing(dir string, made change) error {
	path := filepath.Join(dir, taskName)
	text, err := made(path, nil)
	if err != nil {
		return err
	}
	temp, err := writeTemp(dir, text)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	err = os.Link(temp, path)
	if removed := os.Remove(temp); err == nil {
		err = removed
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return spliceTaskFile(dir, made)
	case err != nil:
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// withFields writes the fields into the frontmatter.
func withFields(fields []taskfile.Field) change {
	return func(path string, src []byte) ([]byte, error) {
		doc, err := parseTaskFile(path, src)
		if err != nil {
			return nil, err
		}
		doc, err = doc.WithFields(fields)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return checkSize(path, doc.Bytes())
	}
}

func checkSize(path string, text []byte) ([]byte, error) {
	if len(text) > taskfile.MaxSize {
		return nil, fmt.Errorf("write %s: it would have %d bytes and %d are allowed; shorten it", path, len(text), taskfile.MaxSize)
	}
	return text, nil
}

// replaceTaskFile replaces TASK.md with text. It returns what it displaced, and the file that
// holds it now.
func replaceTaskFile(dir string, text []byte) (displaced []byte, old string, err error) {
	temp, err := writeTemp(dir, text)
	if err != nil {
		return nil, "", err
	}
	path := filepath.Join(dir, taskName)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		err = os.Chmod(temp, info.Mode().Perm())
		if err != nil {
			return nil, "", errors.Join(err, os.Remove(temp))
		}
	}
	old, err = exchangeFiles(temp, path)
	if err != nil {
		return nil, "", errors.Join(err, os.Remove(temp))
	}
	displaced, err = readSettled(old)
	if err != nil {
		return nil, "", takeBack(old, path, text, err)
	}
	return displaced, old, nil
}

// takeBack moves a displaced file that is still being written back to its place. It keeps what
// someone wrote to the new file in the meantime beside it.
func takeBack(old, path string, text []byte, why error) error {
	undone, err := exchangeFiles(old, path)
	if err != nil {
		return fmt.Errorf("%w (and the text is in %s now: %w)", why, old, err)
	}
	newer, err := readRegular(undone)
	if err == nil && bytes.Equal(newer, text) {
		if err := os.Remove(undone); err != nil {
			return fmt.Errorf("%w; %w", why, err)
		}
		return why
	}
	kept := path + ".edited"
	if err := os.Rename(undone, kept); err != nil {
		return fmt.Errorf("%w (and another edit is in %s: %w)", why, undone, err)
	}
	return fmt.Errorf("%w (another edit made at the same time is in %s)", why, kept)
}

// readSettled reads a file once no program is writing it.
func readSettled(path string) ([]byte, error) {
	f, _, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if err := waitUntilSettled(f); err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readAllowed(f, info.Size())
}

// waitUntilSettled waits until no program has the file open for writing.
func waitUntilSettled(f *os.File) error {
	wait := time.Millisecond
	for deadline := time.Now().Add(settleTimeout); beingWritten(f); wait = min(2*wait, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("another program has it open for writing; close it there and try again")
		}
		time.Sleep(wait)
	}
	return nil
}

// exchangeByLink does what exchangeFiles does on systems that cannot swap files atomically.
func exchangeByLink(temp, path string) (old string, err error) {
	old = temp + ".old"
	if err := os.Link(path, old); err != nil {
		return "", err
	}
	if err := os.Rename(temp, path); err != nil {
		return "", errors.Join(err, os.Remove(old))
	}
	return old, nil
}
