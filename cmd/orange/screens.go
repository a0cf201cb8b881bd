package main

import (
	"context"

	"orange/internal/core/task"
	"orange/internal/ui/api"
)

// screens look at the terminals of agents.
type screens struct{ s *server }

// Screen implements api.Screens.
func (v screens) Screen(ctx context.Context, t task.Task, role string) (api.Screen, error) {
	return api.Screen{}, task.Mistakef("nothing can be seen yet")
}

// Output implements api.Screens.
func (v screens) Output(ctx context.Context, t task.Task, role string) (<-chan struct{}, error) {
	return nil, nil
}

// Type implements api.Screens.
func (v screens) Type(ctx context.Context, t task.Task, role, text string) error {
	return task.Mistakef("nothing can be typed yet")
}
