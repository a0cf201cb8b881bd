package main

import (
	"orange/internal/core/overview"
	"orange/internal/core/task"
)

// sights are what is known of tasks beside their journals.
type sights struct{ s *server }

// Facts implements api.Sights.
func (v *sights) Facts(t *task.Task) overview.Facts { return overview.Facts{} }

// Since implements api.Sights.
func (v *sights) Since(mark int64) ([]task.ID, int64, <-chan struct{}) { return nil, 0, nil }
