package task

import (
	"errors"
	"fmt"
)

// ErrNotFound says that there is no such task.
var ErrNotFound = errors.New("task not found")

// ErrClosing says that the server takes no more signals.
var ErrClosing = errors.New("the server is shutting down: try again")

// ErrNotNow says that something waits for somebody else and is tried again later; nothing
// went wrong.
var ErrNotNow = errors.New("not now")

// A Mistake is an error of the one who asks: asking differently helps.
type Mistake struct{ text string }

func (m *Mistake) Error() string { return m.text }

// A Conflict is what keeps a branch from being merged: lines that the branch and its target
// have both changed.
type Conflict struct {
	Onto  string   `json:"onto"`  // the target
	Files []string `json:"files"` // as they may be shown
}

// A ConflictError is a Mistake that a Conflict explains.
type ConflictError struct {
	Mistake
	Conflict Conflict
}

// Unwrap makes it a Mistake.
func (e *ConflictError) Unwrap() error { return &e.Mistake }

// NewConflict makes a ConflictError from the error of a merge.
func NewConflict(why error, c Conflict) error {
	return &ConflictError{Mistake: Mistake{text: why.Error()}, Conflict: c}
}

// Mistakef makes a Mistake. Its text says what to do instead.
func Mistakef(format string, args ...any) error {
	return &Mistake{text: fmt.Sprintf(format, args...)}
}
