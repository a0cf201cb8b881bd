package fakelinear

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// saveState writes the state to its file. It must return before a client learns that something
// was done.
func (s *FakeServer) saveState() error {
	if s.opts.File == "" {
		return nil
	}
	text, err := json.MarshalIndent(s.st, "", " ")
	if err != nil {
		return fmt.Errorf("keep the state: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(s.opts.File), ".state-*")
	if err != nil {
		return fmt.Errorf("keep the state: %w", err)
	}
	_, err = tmp.Write(text)
	if err := errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("keep the state: %w", err)
	}
	if err := os.Rename(tmp.Name(), s.opts.File); err != nil {
		return fmt.Errorf("keep the state: %w", err)
	}
	return nil
}

// restoreState reads the state that saveState wrote, or returns nil if there is none.
func restoreState(file string) (*state, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	var st state
	if err := json.Unmarshal(text, &st); err != nil {
		return nil, fmt.Errorf("read the state in %s: %w", file, err)
	}
	return &st, nil
}
