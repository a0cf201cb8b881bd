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

// Mistakef makes a Mistake. Its text says what to do instead.
func Mistakef(format string, args ...any) error {
	return &Mistake{text: fmt.Sprintf(format, args...)}
}
