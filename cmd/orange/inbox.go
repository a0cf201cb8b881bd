package main

import (
	"context"
	"encoding/json"
	"fmt"

	"orange/internal/core/engine"
	"orange/internal/core/task"
)

// inbox lists what waits for a person. A task that holds a workspace while others are
// queued for one frees them.
func (s *server) inbox(_ context.Context, project string) ([]engine.Item, error) {
	var items []engine.Item
	bound := map[task.ID]bool{}
	queued := map[string]int{}
	err := s.store.EachTask(task.Filter{Project: project}, func(fold []byte) error {
		var t task.Task
		if err := json.Unmarshal(fold, &t); err != nil {
			return fmt.Errorf("read a task: %w", err)
		}
		if t.Queued {
			queued[t.Project]++
		}
		bound[t.ID] = t.Workspace != ""
		def, err := s.runtime.Definition(&t)
		if err != nil {
			items = append(items, engine.Item{Task: t.ID, Project: t.Project, Status: t.Status, Kind: engine.ItemAttention, Text: err.Error(), Since: t.Since})
			return nil
		}
		if it, ok := engine.Inbox(def, t); ok {
			items = append(items, it)
		}
		return nil
	})
	for i := range items {
		if bound[items[i].Task] {
			items[i].Frees = queued[items[i].Project]
		}
	}
	return items, err
}
