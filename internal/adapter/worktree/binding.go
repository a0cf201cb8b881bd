package worktree

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orange/internal/atomicfile"
	"orange/internal/core/task"
)

// Files in the administrative folder of a worktree. The first names the task that the workspace
// is bound to; it is renamed to the second when the workspace is released.
const (
	bindingName = "orange-binding.json"
	lastName    = "orange-last.json"
)

// A binding is what a workspace records about the task that has it, or had it last.
type binding struct {
	Task     task.ID `json:"task"`
	Branch   string  `json:"branch"`
	Ready    bool    `json:"ready,omitempty"`     // the task has it completely prepared
	TornDown bool    `json:"torn_down,omitempty"` // the teardown command has run
	Cleaned  bool    `json:"cleaned,omitempty"`   // the work in it is saved, and it was reset to its HEAD
	Salvage  string  `json:"salvage,omitempty"`   // the ref that holds that work
}

// readBinding reads one of the two files. A file that does not exist gives a binding without a
// task.
func readBinding(gitDir, name string) (binding, error) {
	var b binding
	if gitDir == "" {
		return b, nil
	}
	path := filepath.Join(gitDir, name)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return b, fmt.Errorf("read %s: %w", path, err)
	}
	if err = json.Unmarshal(text, &b); err == nil && !b.Task.IsValid() {
		err = errors.New("it names no task")
	}
	if err != nil {
		return binding{}, &damagedError{path: path, err: err}
	}
	return b, nil
}

// A damagedError is about a file of a binding that cannot be understood.
type damagedError struct {
	path string
	err  error
}

// Error implements error.
func (e *damagedError) Error() string {
	return fmt.Sprintf("read %s: %v: remove the file if no task uses the workspace", e.path, e.err)
}

func (b binding) write(gitDir string) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(gitDir, bindingName), append(text, '\n'), 0o600)
}

// retireBinding turns the present binding into the last one, atomically.
func retireBinding(gitDir string) error {
	err := os.Rename(filepath.Join(gitDir, bindingName), filepath.Join(gitDir, lastName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
