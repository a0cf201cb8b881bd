package homestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"orange/internal/adapter/sqlite"
	"orange/internal/atomicfile"
)

// Kept is a copy of a store from before a newer program opened it.
type Kept struct {
	path string // of the store
	was  sqlite.Progress
}

func (k Kept) copyPath() string { return k.path + ".previous" }

// Keep copies the store of a data folder that no server uses.
func Keep(home string) (Kept, error) {
	k := Kept{path: sqlite.ResolvePath(Path(home))}
	var err error
	if k.was, err = sqlite.ReadProgress(k.path); err != nil || k.was.Schema == 0 {
		return k, err
	}
	if err = copyFile(k.path, k.copyPath()); err != nil {
		return k, fmt.Errorf("copy the store: %w", err)
	}
	return k, nil
}

// Drop removes the copy.
func (k Kept) Drop() error {
	if err := os.Remove(k.copyPath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// PutBack puts the copy back if the newer program upgraded the store and wrote nothing else into it.
// If it wrote to the journal, PutBack returns an error and changes nothing: that must not be lost.
func (k Kept) PutBack() error {
	now, err := sqlite.ReadProgress(k.path)
	switch {
	case err != nil:
		return err
	case now.Schema == k.was.Schema:
		return k.Drop()
	case now.Row != k.was.Row:
		return fmt.Errorf("the store has new entries since it was upgraded, and an older program cannot read it; a copy from before is %s", k.copyPath())
	}
	for _, log := range []string{k.path + "-wal", k.path + "-shm"} {
		if err := os.Remove(log); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put the store back: %w", err)
		}
	}
	if err := os.Rename(k.copyPath(), k.path); err != nil {
		return fmt.Errorf("put the store back: %w", err)
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	return atomicfile.WriteFrom(to, 0o600, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}
