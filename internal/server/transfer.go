package server

import (
	"context"
	"fmt"
	"io"

	"orange/internal/adapter/seedhome"
	"orange/internal/core/task"
	"orange/internal/ui/api"
	"orange/internal/wire"
)

// transfer exports and imports an installation.
type transfer struct{ s *Server }

// Export implements api.Transfer.
func (t transfer) Export(ctx context.Context, w io.Writer) error {
	return t.s.runtime.Export(ctx, t.s.store, w)
}

// Import implements api.Transfer.
func (t transfer) Import(ctx context.Context, r io.Reader) (wire.Imported, error) {
	taken, err := t.s.runtime.Restore(ctx, r)
	t.s.loadTrust(ctx)
	t.s.adoptAttempts() // attempts of another machine are over
	return wire.Imported{Tasks: taken.Tasks, Projects: taken.Projects, Skipped: taken.Skipped}, err
}

// ImportFolder implements api.Transfer.
func (t transfer) ImportFolder(ctx context.Context, path string) (wire.Imported, error) {
	home, err := seedhome.ReadHome(path)
	if err != nil {
		return wire.Imported{}, task.Mistakef("%v", err)
	}
	in := wire.Imported{Skipped: home.Problems}
	for _, p := range home.Projects {
		if err := t.s.runtime.AddProject(p); err != nil {
			in.Skipped = append(in.Skipped, fmt.Sprintf("project %s: %v", p.Name, err))
			continue
		}
		in.Projects++
	}
	t.s.loadTrust(ctx)
	for _, found := range home.Tasks {
		answer, err := t.s.runtime.ImportTask(ctx, found.New, "", found.Body, api.ViaOf(ctx))
		switch {
		case err != nil:
			in.Skipped = append(in.Skipped, fmt.Sprintf("task %s: %v", found.New.ID, err))
		case answer.Decision.Refused != "":
			in.Skipped = append(in.Skipped, fmt.Sprintf("task %s: %s", found.New.ID, answer.Decision.Refused))
		default:
			in.Tasks++
		}
	}
	return in, nil
}
