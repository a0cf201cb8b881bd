package main

import (
	"context"
	"encoding/json"
	"fmt"

	"orange/internal/core/engine"
	"orange/internal/core/overview"
	"orange/internal/core/screen"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// inbox lists what waits for a person. A task that holds a workspace while others are
// queued for one frees them.
func (s *server) inbox(ctx context.Context, project string) ([]engine.Item, error) {
	b := inbox{s: s, bound: map[task.ID]bool{}, queued: map[string]int{}}
	if s.runtime.Paused() {
		b.items = append(b.items, engine.Item{Kind: engine.ItemPaused, Text: "everything is paused: nothing starts and nothing ends", Do: "orange resume"})
	}
	for _, p := range s.runtime.Projects() {
		if project == "" || p.Name == project {
			b.items = append(b.items, engine.GitItems(p.Name, s.trust.Untrusted(ctx, p))...)
		}
	}
	err := s.store.EachTask(task.Filter{Project: project}, func(fold []byte) error {
		var t task.Task
		if err := json.Unmarshal(fold, &t); err != nil {
			return fmt.Errorf("read a task: %w", err)
		}
		b.add(t)
		return nil
	})
	if err != nil {
		return nil, err
	}
	ended, err := s.store.NeedAttention() // a task that is over may need somebody too
	for _, t := range ended {
		if _, known := b.bound[t.ID]; !known && (project == "" || t.Project == project) {
			b.add(t)
		}
	}
	for i := range b.items {
		if b.bound[b.items[i].Task] {
			b.items[i].Frees = b.queued[b.items[i].Project]
		}
	}
	return b.items, err
}

// inbox is one look at all tasks.
type inbox struct {
	s      *server
	items  []engine.Item
	bound  map[task.ID]bool // holds a workspace
	queued map[string]int   // tasks that wait for one, by project
}

func (b *inbox) add(t task.Task) {
	if t.Queued {
		b.queued[t.Project]++
	}
	b.bound[t.ID] = t.Workspace != ""
	def, err := b.s.runtime.Definition(&t)
	if err != nil {
		b.items = append(b.items, engine.Item{Task: t.ID, Project: t.Project, Status: t.Status, Kind: engine.ItemAttention, Text: err.Error(), Since: t.Since})
		return
	}
	if it, ok := engine.Inbox(def, t); ok {
		it.Text = overview.Words(it, b.s.asks(&t))
		b.items = append(b.items, it)
	}
}

// maxAsked bounds what is said of a question, in bytes.
const maxAsked = 1000

// asks is what the agent of a task asks, "" if it waits for no answer or says nothing.
func (s *server) asks(t *task.Task) string {
	def, err := s.runtime.Definition(t)
	if err != nil {
		return ""
	}
	if state, ok := def.State(t.Status); !ok || state.Kind != workflow.Waiting || def.WaitsForChildren(t.Status) {
		return ""
	}
	doc, err := s.folders.Read(t.Project, t.ID)
	if err != nil {
		return ""
	}
	section, _ := taskfile.Find(doc.Sections(), "Questions")
	return screen.OneLine(section.Text[:min(len(section.Text), maxAsked)])
}
