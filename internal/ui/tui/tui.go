// Package tui is the dashboard: all tasks on a terminal, kept up to date by the event
// stream. It is a client like every other, and decides nothing.
package tui

import (
	"context"
	"errors"
	"io"

	"orange/internal/ui/client"
)

// Options say what the dashboard shows.
type Options struct {
	Client  *client.Client
	In      io.Reader
	Out     io.Writer
	Environ []string                                        // of the terminal
	Project string                                          // "" for all
	All     bool                                            // tasks that are over, too
	Once    bool                                            // leave after a terminal was attached to
	NoColor bool                                            // NO_COLOR is set
	Bell    bool                                            // ring when something waits for a person
	Attach  func(argv []string) ([]string, []string, error) // argv and environment of a terminal's client
}

// Run shows the dashboard until the person leaves.
func Run(ctx context.Context, o Options) error { return errors.New("there is no dashboard yet") }
