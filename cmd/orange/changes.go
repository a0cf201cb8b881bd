package main

import (
	"context"

	"orange/internal/core/task"
	"orange/internal/ui/api"
)

// changes say what tasks changed.
type changes struct{ s *server }

// Diff implements api.Changes.
func (c changes) Diff(ctx context.Context, t task.Task) (base, text string, cut bool, err error) {
	return "", "", false, task.Mistakef("nothing can be compared yet")
}

// library knows all workflows.
type library struct{ s *server }

// Known implements api.Library.
func (l library) Known(ctx context.Context) ([]api.WorkflowInfo, error) { return nil, nil }
