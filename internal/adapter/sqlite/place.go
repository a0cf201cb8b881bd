package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// placedFile is a file of an open store, and where it was when the store was opened.
type placedFile struct {
	path string
	info os.FileInfo
}

// rememberFiles remembers where the database and its write-ahead log are, which exist as long as the
// store is open.
func (s *Store) rememberFiles() {
	for _, path := range s.Paths() {
		if info, err := os.Stat(path); err == nil {
			s.files = append(s.files, placedFile{path, info})
		}
	}
}

// Paths returns the paths of the database, by its own name and by that of a link to it, and of its
// write-ahead log.
func (s *Store) Paths() []string {
	if len(s.files) > 0 { // a link may lead elsewhere by now
		out := make([]string, len(s.files))
		for i, f := range s.files {
			out[i] = f.path
		}
		return out
	}
	file := ResolvePath(s.path)
	return slices.Compact([]string{file, s.path, file + "-wal"})
}

// CheckPlace returns an error if a file of the open store was removed or replaced. What is committed
// from then on is lost when the store is closed, unless WriteBackup copies it.
func (s *Store) CheckPlace() error {
	for _, f := range s.files {
		now, err := os.Stat(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return fmt.Errorf("%s was removed while it is in use: run orange stop, then orange doctor --restore", f.path)
		case err == nil && !os.SameFile(now, f.info):
			return fmt.Errorf("another file is in the place of %s, which is in use: run orange stop, then orange doctor --restore", f.path)
		}
	}
	return nil
}
