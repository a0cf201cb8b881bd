package task

import (
	"errors"
	"fmt"
)

// ErrNotFound means that the task does not exist.
var ErrNotFound = errors.New("task not found")

// ErrClosing means that the server accepts no more signals.
var ErrClosing = errors.New("the server is shutting down: try again")

// ErrNotNow means that something must wait and is tried again later. It is not a failure.
var ErrNotNow = errors.New("not now")

// A Mistake is an error that the caller can correct by a different request.
type Mistake struct{ text string }

func (m *Mistake) Error() string { return m.text }

// A Conflict describes why a branch cannot be merged: lines that both the branch and its target changed.
type Conflict struct {
	Onto  string   `json:"onto"`  // the target
	Files []string `json:"files"` // safe to show
}

// A ConflictError is a Mistake with a Conflict that explains it.
type ConflictError struct {
	Mistake
	Conflict Conflict
}

// Unwrap returns the Mistake.
func (e *ConflictError) Unwrap() error { return &e.Mistake }

// NewConflict returns a ConflictError for the error of a merge.
func NewConflict(why error, c Conflict) error {
	return &ConflictError{Mistake: Mistake{text: why.Error()}, Conflict: c}
}

// Mistakef returns a Mistake. Its text must say what to do instead.
func Mistakef(format string, args ...any) error {
	return &Mistake{text: fmt.Sprintf(format, args...)}
}
