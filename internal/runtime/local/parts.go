package local

import (
	"fmt"
	"slices"
	"sync"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// cache holds the records of recently used tasks.
type cache struct {
	mu    sync.Mutex
	tasks map[task.ID]task.Task
}

// maxCached bounds the number of records in memory; a dropped record is read again.
const maxCached = 2048

func (c *cache) init() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tasks = make(map[task.ID]task.Task)
}

func (c *cache) get(id task.ID) (task.Task, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.tasks[id]
	return t, ok
}

func (c *cache) put(t task.Task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tasks) >= maxCached {
		clear(c.tasks)
	}
	c.tasks[t.ID] = t
}

func (c *cache) forget(id task.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tasks, id)
}

// definitions holds the workflows that running tasks are pinned to.
type definitions struct {
	mu     sync.Mutex
	byHash map[string]*workflow.Definition

	// By file, as it was last checked without a finding: to parse and check a text takes longer than to create a task.
	checked map[string]*workflow.Definition
}

func (d *definitions) init() {
	d.byHash, d.checked = make(map[string]*workflow.Definition), make(map[string]*workflow.Definition)
}

func (d *definitions) loadPinned(hash string, notes Notes) (*workflow.Definition, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if def := d.byHash[hash]; def != nil {
		return def, nil
	}
	name, file, text, ok, err := notes.Workflow(hash)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read workflow %.12s: %w", hash, err)
	case !ok || workflow.HashOf(text) != hash:
		return nil, fmt.Errorf("the text of workflow %.12s is missing or damaged: run orange doctor", hash)
	}
	def, err := workflow.Parse(file, text)
	if err != nil {
		return nil, fmt.Errorf("workflow %s, pinned by a task: %w", name, err)
	}
	d.byHash[hash] = def
	return def, nil
}

// findChecked returns the workflow of a file, nil if its text was not checked or has changed since.
func (d *definitions) findChecked(file, text string) *workflow.Definition {
	d.mu.Lock()
	defer d.mu.Unlock()
	if def := d.checked[file]; def != nil && def.Text == text {
		return def
	}
	return nil
}

// putChecked keeps a workflow that has no finding.
func (d *definitions) putChecked(def *workflow.Definition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byHash[def.Hash], d.checked[def.File] = def, def
}

// pool knows which workspaces of which project are bound.
type pool struct {
	mu    sync.Mutex
	list  []task.Project
	names map[string][]string // workspaces of a project
	bound map[string]task.ID
	atOne serialGroups
}

func (p *pool) init(projects []task.Project, bound map[string]task.ID) {
	p.setProjects(projects)
	p.bound, p.atOne = bound, serialGroups{}
	if p.bound == nil {
		p.bound = make(map[string]task.ID)
	}
}

// freeWorkspaces lists the project's workspaces that no task holds. The caller holds mu.
func (p *pool) freeWorkspaces(project string) []string {
	var out []string
	for _, name := range p.names[project] {
		if _, taken := p.bound[name]; !taken {
			out = append(out, name)
		}
	}
	return out
}

// updateSerials records in which serial groups a task works, and reports whether one became free.
func (p *pool) updateSerials(def *workflow.Definition, t *task.Task) (freed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.atOne.updateGroups(def, t)
}

// bindWorkspace binds a workspace. The caller holds mu.
func (p *pool) bindWorkspace(name string, id task.ID) { p.bound[name] = id }

func (p *pool) releaseWorkspace(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.bound, name)
}

// findHolder finds a task that holds a workspace of the project.
func (p *pool) findHolder(project string) (id task.ID, workspace string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range p.names[project] {
		if id, taken := p.bound[name]; taken {
			return id, name, true
		}
	}
	return "", "", false
}

func (p *pool) listProjects() []task.Project {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.list)
}

func (p *pool) findProject(name string) (task.Project, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, have := range p.list {
		if have.Name == name {
			return have, true
		}
	}
	return task.Project{}, false
}

func (p *pool) setProjects(list []task.Project) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = list
	p.names = make(map[string][]string, len(list))
	for _, have := range list {
		p.names[have.Name] = have.WorkspaceNames()
	}
}

// workspaceHold is a workspace bound by a decision that is not durable yet.
type workspaceHold struct {
	pool *pool
	name string
}

func (h workspaceHold) undo() {
	if h.name != "" {
		h.pool.releaseWorkspace(h.name)
	}
}

// commitNotifier wakes the followers of the journal.
type commitNotifier struct {
	mu sync.Mutex
	ch chan struct{}
}

func (n *commitNotifier) init() { n.ch = make(chan struct{}) }

// nextCommit returns a channel that is closed by the next commit.
func (n *commitNotifier) nextCommit() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ch
}

func (n *commitNotifier) wakeFollowers() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.ch)
	n.ch = make(chan struct{})
}
