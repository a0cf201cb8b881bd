package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFiles writes the files of a plan, each whole or not at all. What is merged keeps
// everything that is there; a file to merge into that is not JSON is left alone.
func WriteFiles(files []File) error {
	for _, f := range files {
		if err := f.write(); err != nil {
			return err
		}
	}
	return nil
}

func (f File) write() error {
	text, mode := f.Text, f.Mode
	path := f.Path
	if f.Merge {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target // the link stays
		}
		have, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			have = []byte("{}")
		case err != nil:
			return fmt.Errorf("read the settings of an agent: %w", err)
		}
		if len(have) == 0 {
			have = []byte("{}")
		}
		if text, err = mergeJSON(have, f.Text); err != nil {
			return fmt.Errorf("%s is not JSON, so hooks cannot be added to it: mend it (%w)", path, err)
		}
		if info, err := os.Stat(path); err == nil {
			if string(text) == string(have) {
				return nil
			}
			mode = info.Mode().Perm()
		}
	}
	return replace(path, text, mode)
}

// replace writes beside a file and renames, so that nobody reads half of it.
func replace(path string, text []byte, mode fs.FileMode) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of an agent's settings: %w", err)
	}
	temp, err := os.CreateTemp(dir, ".orange-*")
	if err != nil {
		return fmt.Errorf("write the settings of an agent: %w", err)
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // gone after the rename
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Chmod(mode), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
