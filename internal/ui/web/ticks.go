package web

import (
	"fmt"
	"strings"
)

// ticks are marks below a slider of the history, at the moments at which a task changed its state. Their coordinates are
// rows or entries of a journal, so that the page only has to change the view box when the journal grows.
type ticks struct {
	last int64 // the slider goes from 1 to it
	at   []int64
}

// ViewBox returns what the drawing of the ticks shows.
func (t ticks) ViewBox() string { return fmt.Sprintf("1 0 %d 10", max(t.last-1, 1)) }

// Path returns the drawing, or "" if there are no ticks.
func (t ticks) Path() string {
	var out strings.Builder
	for _, at := range t.at {
		fmt.Fprintf(&out, "M%d 0v10", at)
	}
	return out.String()
}
