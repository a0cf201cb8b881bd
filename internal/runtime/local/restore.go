package local

import (
	"context"
	"fmt"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// Reconcile submits a signal about a task whose record may be older than its folder. TASK.md may then be newer than the
// record without having been tampered with.
func (r *Runtime) Reconcile(ctx context.Context, id task.ID, sig signal.Signal) (engine.Answer, error) {
	if err := r.admitCaller(); err != nil {
		return engine.Answer{}, err
	}
	defer r.wait.Done()
	defer r.locks.Lock(id)()
	t, ok, err := r.loadAndCache(id)
	if err != nil {
		return engine.Answer{}, err
	}
	if !ok {
		return engine.Answer{}, fmt.Errorf("%w: %s", task.ErrNotFound, id)
	}
	def, err := r.pinnedDefinition(&t)
	if err != nil {
		return engine.Answer{}, err
	}
	return r.decideAndCommit(ctx, def, t, sig)
}

// ImportLost imports a task that only has a folder, because the store is older. It never changes the folder. A
// workspace that another task holds stays with that task.
func (r *Runtime) ImportLost(ctx context.Context, n signal.New, workflowName string, lost signal.Lost) (engine.Answer, error) {
	if err := r.admitCaller(); err != nil {
		return engine.Answer{}, err
	}
	defer r.wait.Done()
	p, ok := r.pool.findProject(n.Project)
	if !ok {
		return engine.Answer{}, task.Mistakef("project %q is not registered: orange project add", n.Project)
	}
	def, err := r.findWorkflow(workflowName, p)
	if err != nil {
		return engine.Answer{}, err
	}
	defer r.locks.Lock(n.ID)()
	if err := r.requireUnknown(n.ID); err != nil {
		return engine.Answer{}, err
	}
	if err := r.Store.SaveWorkflow(def.Hash, def.Name, def.File, def.Text); err != nil {
		return engine.Answer{}, &StoreError{err}
	}
	sig := signal.Signal{Kind: signal.Import, Actor: task.Human, New: &n, Lost: &lost}
	if doc, err := r.Files.ReadTaskFile(n.Project, n.ID); err == nil {
		sig.Artifacts.Sections = doc.Sections()
	}
	held := workspaceHold{}
	if n.Workspace != "" {
		r.pool.mu.Lock()
		if other, taken := r.pool.bound[n.Workspace]; taken && other != n.ID {
			n.Workspace = ""
		} else {
			r.pool.bindWorkspace(n.Workspace, n.ID)
			held = workspaceHold{pool: &r.pool, name: n.Workspace}
		}
		r.pool.mu.Unlock()
	}
	answer, err := r.decideAndCommit(ctx, def, task.Task{}, sig)
	if err != nil || answer.Decision.Refused != "" {
		held.undo()
	}
	return answer, err
}
