// Package runtimetest is the contract of a runtime: one suite that every runtime
// passes, and the small fakes it plays with. Only tests use it.
package runtimetest

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// MemoryStore is a store in memory.
type MemoryStore struct {
	mu       sync.Mutex
	rows     []journal.Row
	tasks    map[task.ID]journal.Commit
	order    []task.ID
	journals map[task.ID][]journal.Entry
	projects []task.Project
	texts    map[string][3]string
	settings map[string]string
	refused  []journal.Refusal
}

// NewMemoryStore returns a store that holds projects and nothing else.
func NewMemoryStore(projects ...task.Project) *MemoryStore {
	return &MemoryStore{
		tasks: map[task.ID]journal.Commit{}, journals: map[task.ID][]journal.Entry{},
		texts: map[string][3]string{}, settings: map[string]string{}, projects: projects,
	}
}

// Commit implements the store's port.
func (m *MemoryStore) Commit(_ context.Context, commits []journal.Commit) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := int64(len(m.rows) + 1)
	for _, c := range commits {
		if _, known := m.tasks[c.Task.ID]; !known {
			m.order = append(m.order, c.Task.ID)
		}
		m.tasks[c.Task.ID] = c
		m.journals[c.Task.ID] = append(m.journals[c.Task.ID], c.Entries...)
		for _, e := range c.Entries {
			raw, err := journal.Encode(&e)
			if err != nil {
				return 0, err
			}
			m.rows = append(m.rows, journal.Row{ID: int64(len(m.rows) + 1), Entry: raw})
		}
	}
	return first, nil
}

// Task implements the store's port.
func (m *MemoryStore) Task(id task.ID) (task.Task, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.tasks[id]
	return c.Task.Clone(), ok, nil
}

// Journal implements the store's port.
func (m *MemoryStore) Journal(id task.ID, after int) ([]journal.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.journals[id]
	return slices.Clone(list[min(after, len(list)):]), nil
}

// Rows implements the store's port.
func (m *MemoryStore) Rows(after int64, id task.ID, limit int) ([]journal.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []journal.Row
	for _, r := range m.rows {
		mine := id == "" || strings.Contains(string(r.Entry), strconv.Quote(string(id)))
		if r.ID > after && mine && len(out) < limit {
			out = append(out, r)
		}
	}
	return out, nil
}

// EachRow implements the store's port.
func (m *MemoryStore) EachRow(_ context.Context, yield func(journal.Row) error) error {
	rows, _ := m.Rows(0, "", math.MaxInt)
	for _, r := range rows {
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}

// ID names the store.
func (m *MemoryStore) ID() (string, error) { return "memory", nil }

// EachWorkflow implements the store's port.
func (m *MemoryStore) EachWorkflow(_ context.Context, yield func(hash, name, file, text string) error) error {
	m.mu.Lock()
	texts := maps.Clone(m.texts)
	m.mu.Unlock()
	for _, hash := range slices.Sorted(maps.Keys(texts)) {
		if err := yield(hash, texts[hash][0], texts[hash][1], texts[hash][2]); err != nil {
			return err
		}
	}
	return nil
}

// UnsettledTasks implements the store's port.
func (m *MemoryStore) UnsettledTasks() ([]task.Task, error) {
	return m.chooseTasks(func(c journal.Commit) bool {
		return len(c.Task.Pending)+len(c.Task.Attempts) > 0 || !c.Due.IsZero() || c.Task.Queued
	}), nil
}

// DependentTasks implements the store's port.
func (m *MemoryStore) DependentTasks() ([]task.Task, error) {
	return m.chooseTasks(func(c journal.Commit) bool { return len(c.Task.After) > 0 || c.Task.Parent != "" }), nil
}

// QueuedTasks implements the store's port.
func (m *MemoryStore) QueuedTasks(project string) ([]task.ID, error) {
	var ids []task.ID
	for _, t := range m.chooseTasks(func(c journal.Commit) bool { return c.Task.Queued && c.Task.Project == project }) {
		ids = append(ids, t.ID)
	}
	return ids, nil
}

func (m *MemoryStore) chooseTasks(want func(journal.Commit) bool) []task.Task {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []task.Task
	for _, id := range m.order {
		if c := m.tasks[id]; !c.Task.Deleted && want(c) {
			out = append(out, c.Task.Clone())
		}
	}
	return out
}

// BoundWorkspaces implements the store's port.
func (m *MemoryStore) BoundWorkspaces() (map[string]task.ID, error) {
	bound := map[string]task.ID{}
	for _, t := range m.chooseTasks(func(c journal.Commit) bool { return c.Task.Workspace != "" }) {
		bound[t.Workspace] = t.ID
	}
	return bound, nil
}

// TaskByBranch implements the store's port.
func (m *MemoryStore) TaskByBranch(project, branch string) (task.ID, bool, error) {
	for _, t := range m.chooseTasks(func(c journal.Commit) bool { return !c.Over && c.Task.Project == project && c.Task.Branch == branch }) {
		return t.ID, true, nil
	}
	return "", false, nil
}

// TaskBeside implements the store's port.
func (m *MemoryStore) TaskBeside(project, branch string) (task.ID, bool, error) {
	for _, t := range m.chooseTasks(func(c journal.Commit) bool {
		have := c.Task.Branch
		return !c.Over && c.Task.Project == project && (strings.HasPrefix(have, branch+"/") || strings.HasPrefix(branch, have+"/"))
	}) {
		return t.ID, true, nil
	}
	return "", false, nil
}

// Projects implements the store's port.
func (m *MemoryStore) Projects() ([]task.Project, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.projects), nil
}

// SaveProject implements the store's port.
func (m *MemoryStore) SaveProject(p task.Project) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.projects = append(slices.DeleteFunc(m.projects, func(q task.Project) bool { return q.Name == p.Name }), p)
	return nil
}

// DeleteProject implements the store's port.
func (m *MemoryStore) DeleteProject(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.projects = slices.DeleteFunc(m.projects, func(q task.Project) bool { return q.Name == name })
	return nil
}

// OpenTasks implements the store's port.
func (m *MemoryStore) OpenTasks(project string) (int, error) {
	return len(m.chooseTasks(func(c journal.Commit) bool { return !c.Over && c.Task.Project == project })), nil
}

// SaveWorkflow implements the store's port.
func (m *MemoryStore) SaveWorkflow(hash, name, file, text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.texts[hash] = [3]string{name, file, text}
	return nil
}

// Workflow implements the store's port.
func (m *MemoryStore) Workflow(hash string) (name, file, text string, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.texts[hash]
	return t[0], t[1], t[2], ok, nil
}

// Setting implements the store's port.
func (m *MemoryStore) Setting(key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.settings[key], nil
}

// SetSetting implements the store's port.
func (m *MemoryStore) SetSetting(key, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settings[key] = value
	return nil
}

// SaveRefusals implements the store's port.
func (m *MemoryStore) SaveRefusals(list []journal.Refusal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = append(m.refused, list...)
	return nil
}

// Refusals implements the store's port.
func (m *MemoryStore) Refusals(id task.ID) ([]journal.Refusal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []journal.Refusal
	for _, r := range m.refused {
		if r.Task == id {
			out = append(out, r)
		}
	}
	return out[max(0, len(out)-journal.MaxRefusals):], nil
}
