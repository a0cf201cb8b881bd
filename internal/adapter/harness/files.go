package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orange/internal/atomicfile"
)

// WriteFiles writes the files of a plan, each completely or not at all. Merging keeps
// everything that a file already contains; a file that is not JSON is an error and stays
// unchanged.
func WriteFiles(files []File) error {
	for _, f := range files {
		if err := f.writeFile(); err != nil {
			return err
		}
	}
	return nil
}

func (f File) writeFile() error {
	text, mode := f.Text, f.Mode
	path := f.Path
	if f.Merge {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target // keep the link
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
			return fmt.Errorf("%s is not JSON, so hooks cannot be added to it: fix the file (%w)", path, err)
		}
		if info, err := os.Stat(path); err == nil {
			if string(text) == string(have) {
				return nil
			}
			mode = info.Mode().Perm()
		}
	}
	return writeSettings(path, text, mode)
}

// writeSettings writes a settings file of an agent.
func writeSettings(path string, text []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create the folder of an agent's settings: %w", err)
	}
	if err := atomicfile.Write(path, text, mode); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
