package local

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// Explain returns why a task is in its state, with the present evidence.
func (r *Runtime) Explain(ctx context.Context, id task.ID) (explain.Explanation, error) {
	t, ok, err := r.loadRecord(id)
	if err != nil {
		return explain.Explanation{}, err
	}
	if !ok {
		return explain.Explanation{}, fmt.Errorf("%w: %s", task.ErrNotFound, id)
	}
	def, err := r.pinnedDefinition(&t)
	if err != nil {
		return explain.Explanation{}, err
	}
	sig := signal.Signal{At: r.now()}
	broken := r.syncWorkspace(ctx, def, &t, &sig)
	if r.Files != nil {
		doc, err := r.Files.ReadTaskFile(t.Project, t.ID)
		if err != nil {
			sig.Artifacts.Problem = err.Error()
		} else {
			sig.Artifacts.Sections = doc.Sections()
		}
	}
	sig.Evidence, sig.Queue = r.gatherEvidence(ctx, def, &t, &sig, broken), r.QueuePlace(t.ID)
	if r.Absent != nil {
		sig.Absent = r.Absent(&t)
	}
	if sig.Children, err = r.loadChildren(def, &t); err != nil {
		return explain.Explanation{}, err
	}
	past, err := r.loadPast(ctx, &t)
	if r.Message != nil {
		past.Message = r.Message(&t)
	}
	out := explain.TaskWithPast(def, t, sig, past)
	if p, ok := r.pool.findProject(t.Project); ok && p.Confirm.Merge == task.ConfirmCode && engine.MayMerge(def, &t) {
		out.Confirm = "a merge by a person needs a code: ask for the merge, then give back with --code what is shown by notification"
	}
	return out, err
}

// loadPast reads how a task came to its state. If the journal cannot be read, the rest of the explanation is
// unaffected.
func (r *Runtime) loadPast(ctx context.Context, t *task.Task) (explain.Past, error) {
	var past explain.Past
	entries, err := r.Store.Journal(t.ID, 0)
	if err != nil {
		past.Problem = err.Error()
	}
	past.Entries = entries[:min(len(entries), t.Seq)] // no newer than the record
	r.refusals.waitWritten(ctx)
	if past.Refusals, err = r.Store.Refusals(t.ID); err != nil {
		return past, fmt.Errorf("read what was refused to %s: %w", t.ID, err)
	}
	return past, nil
}

// FollowJournal returns the rows after one, of one task or of all, and a channel that is closed when there are more.
func (r *Runtime) FollowJournal(after int64, id task.ID, limit int) ([]journal.Row, <-chan struct{}, error) {
	more := r.commits.nextCommit() // before reading, so that no commit is missed
	rows, err := r.Store.Rows(after, id, limit)
	return rows, more, err
}

// ForgetRecords drops the cached records, after they were changed in the store.
func (r *Runtime) ForgetRecords() {
	r.records.init()
	if err := r.loadDependencies(); err != nil {
		r.Log.Error("read what tasks are after", "component", "local", "error", err)
	}
}

// SetPaused holds or releases all tasks.
func (r *Runtime) SetPaused(paused bool) error {
	if err := r.Store.SetSetting(pausedKey, strconv.FormatBool(paused)); err != nil {
		return &StoreError{err}
	}
	r.mu.Lock()
	r.paused = paused
	r.mu.Unlock()
	if paused {
		return nil
	}
	return r.checkWaitingTasks()
}

// Paused reports whether all tasks are held.
func (r *Runtime) Paused() bool { return r.isPaused() }

func (r *Runtime) isPaused() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.paused
}

// Projects lists the registered repositories.
func (r *Runtime) Projects() []task.Project { return r.pool.listProjects() }

// Project returns the project called name.
func (r *Runtime) Project(name string) (task.Project, bool) { return r.pool.findProject(name) }

// AddProject registers a repository.
func (r *Runtime) AddProject(p task.Project) error {
	r.registry.Lock()
	defer r.registry.Unlock()
	if err := p.Check(); err != nil {
		return task.Mistakef("%v", err)
	}
	for _, have := range r.pool.listProjects() {
		switch {
		case have.Path == p.Path:
			return task.Mistakef("%s is registered already: project %q already exists", p.Path, have.Name)
		case have.Name == p.Name:
			return task.Mistakef("project %q already exists, for %s: give this one another name with orange project add %s --name NAME", p.Name, have.Path, p.Path)
		case have.Confirm.Merge == task.ConfirmCode && r.Codes != nil && r.Codes.Shares(r.ctx, have, p):
			return task.Mistakef("%s belongs to the repository of project %q, which asks for a code before a merge: work on it there", p.Path, have.Name)
		}
	}
	return r.saveProject(p)
}

// UpdateProject changes a registered project. A larger pool lets queued tasks continue.
func (r *Runtime) UpdateProject(p task.Project) error {
	r.registry.Lock()
	defer r.registry.Unlock()
	if err := p.Check(); err != nil {
		return task.Mistakef("%v", err)
	}
	if err := r.saveProject(p); err != nil {
		return err
	}
	r.advanceQueue(p.Name)
	for _, id := range r.landings.firstOf(p.Name) {
		r.driveEffects(id)
	}
	return nil
}

func (r *Runtime) saveProject(p task.Project) error {
	if p.Workflow != "" {
		if _, err := r.findWorkflow(p.Workflow, p); err != nil {
			return err
		}
	}
	if err := r.Store.SaveProject(p); err != nil {
		return &StoreError{err}
	}
	list := slices.DeleteFunc(r.pool.listProjects(), func(have task.Project) bool { return have.Name == p.Name })
	list = append(list, p)
	slices.SortFunc(list, func(a, b task.Project) int { return strings.Compare(a.Name, b.Name) }) // as the store lists them
	r.pool.setProjects(list)
	return nil
}

// RemoveProject removes a project that has no open task.
func (r *Runtime) RemoveProject(name string) error {
	r.registry.Lock()
	defer r.registry.Unlock()
	if _, ok := r.pool.findProject(name); !ok {
		return task.Mistakef("project %q is not registered: see orange project list", name)
	}
	open, err := r.Store.OpenTasks(name)
	if err != nil {
		return fmt.Errorf("count the tasks of %s: %w", name, err)
	}
	if open > 0 {
		return task.Mistakef("project %q has %d open tasks: finish or cancel them first", name, open)
	}
	if id, workspace, ok := r.pool.findHolder(name); ok {
		return task.Mistakef("task %s still holds workspace %s: see orange task explain %s", id, workspace, id)
	}
	if err := r.Store.DeleteProject(name); err != nil {
		return &StoreError{err}
	}
	r.pool.setProjects(slices.DeleteFunc(r.pool.listProjects(), func(p task.Project) bool { return p.Name == name }))
	return nil
}
