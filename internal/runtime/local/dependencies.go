package local

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// dependencies knows which tasks are after which, and which are parts of which. It follows from the records, and is built
// again when the server starts.
type dependencies struct {
	mu    sync.Mutex
	tasks map[task.ID]dependent
}

// dependent is what a task depends on.
type dependent struct {
	after  []task.ID
	parent task.ID
	over   bool
}

func (d *dependencies) init() { d.tasks = map[task.ID]dependent{} }

// update brings what is known about a task up to date.
func (d *dependencies) update(t *task.Task, over bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t.Deleted || len(t.After) == 0 && (t.Parent == "" || over) {
		delete(d.tasks, t.ID)
		return
	}
	d.tasks[t.ID] = dependent{slices.Clone(t.After), t.Parent, over}
}

// listOpen lists the tasks that are after others and not over.
func (d *dependencies) listOpen() []task.ID {
	return d.listTasks(func(x dependent) bool { return !x.over && len(x.after) > 0 })
}

// successorsOf lists the tasks that are after one and not over.
func (d *dependencies) successorsOf(id task.ID) []task.ID {
	return d.listTasks(func(x dependent) bool { return !x.over && slices.Contains(x.after, id) })
}

// listTasks lists the tasks that are chosen, by their ids.
func (d *dependencies) listTasks(choose func(dependent) bool) (out []task.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, x := range d.tasks {
		if choose(x) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// waiting returns what each task that is not over is after.
func (d *dependencies) waiting() task.Dependencies {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := task.Dependencies{}
	for id, x := range d.tasks {
		if !x.over && len(x.after) > 0 {
			out[id] = x.after
		}
	}
	return out
}

// withParts returns what each task is after, and adds the parts of a task for whose parts waits is true: such a task waits for
// them like for tasks that it is after. A task that is over counts too, because it may be reopened.
func (d *dependencies) withParts(waits func(parent task.ID) bool) task.Dependencies {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := task.Dependencies{}
	for id, x := range d.tasks {
		out[id] = append(out[id], x.after...)
		if x.parent != "" && !x.over && waits(x.parent) {
			out[x.parent] = append(out[x.parent], id)
		}
	}
	return out
}

// loadDependencies reads from the store what tasks depend on.
func (r *Runtime) loadDependencies() error {
	tasks, err := r.Store.DependentTasks()
	if err != nil && len(tasks) == 0 {
		return fmt.Errorf("read what tasks are after: %w", err)
	}
	for i := range tasks { // one record that cannot be read must not block the others
		def, err := r.pinnedDefinition(&tasks[i])
		r.depends.update(&tasks[i], err == nil && isOver(def, &tasks[i]))
	}
	return nil
}

// loadPredecessors returns what became of the tasks that a task will be after when a signal was decided on, nil for none.
func (r *Runtime) loadPredecessors(t *task.Task, sig *signal.Signal) ([]task.Predecessor, error) {
	after, stackOn, base := t.After, t.StackOn, t.Base
	switch {
	case sig.New != nil && t.Seq == 0:
		after, stackOn = sig.New.After, sig.New.StackOn
	case engine.ChangesAfter(sig):
		after, _ = engine.AfterUpdate(after, sig.Fields)
	}
	if len(after) == 0 {
		return nil, nil
	}
	out := make([]task.Predecessor, 0, len(after))
	for _, id := range after {
		p, ok, err := r.loadRecord(id)
		if err != nil {
			return nil, err
		}
		found := task.Predecessor{ID: id, Branch: p.Branch, State: task.PredecessorDropped}
		if ok {
			def, err := r.pinnedDefinition(&p)
			if err != nil {
				return nil, err
			}
			found.State = engine.PredecessorStateOf(def, &p)
		}
		if found.Stack = id == stackOn; found.Stack {
			found.Head = headToStackOn(&p, base)
		}
		out = append(out, found)
	}
	return out, nil
}

// headToStackOn returns the commit at which a task that is stacked on p begins, or has begun; "" if p has no work yet.
func headToStackOn(p *task.Task, base string) string {
	if base != "" || p.Work == nil {
		return base
	}
	return p.Work.Head
}

// stackTask makes a new task begin at the branch of the one that it is after.
func (r *Runtime) stackTask(w *signal.NewTask) error {
	if w.StackOn = ""; !w.Stack {
		return nil
	}
	if len(w.After) != 1 {
		return task.Mistakef("a task is stacked on one other: name that one, and no more, with --after")
	}
	p, ok, err := r.loadRecord(w.After[0])
	switch {
	case err != nil || !ok:
		return err // checkAfter says that there is no such task
	case w.Actor != task.Human && w.Actor != "":
		return task.Mistakef("only a person stacks a task on another: leave stack out, and it starts when the other one has landed")
	case p.Project != w.Project:
		return task.Mistakef("task %s is of project %s: a task is stacked on one of its own project", p.ID, p.Project)
	case w.BaseBranch != "" && w.BaseBranch != p.BaseBranch:
		return task.Mistakef("task %s lands on %s, not on %s: stacked tasks land on the same branch", p.ID, p.BaseBranch, w.BaseBranch)
	}
	def, err := r.pinnedDefinition(&p)
	if err != nil {
		return err
	}
	if !def.MergesWork() {
		return task.Mistakef("task %s follows workflow %s, which merges nothing, so nothing can be stacked on it", p.ID, p.Workflow)
	}
	w.StackOn, w.BaseBranch = p.ID, p.BaseBranch
	return nil
}

func headOf(t *task.Task) string {
	if t.Work == nil {
		return ""
	}
	return t.Work.Head
}

// notifySuccessors notifies, in the background, the tasks that are after one that landed, ended without landing or was reopened, or
// whose work changed.
// A task whose own dependencies changed is notified too: what became of the others may have changed since it was decided.
func (r *Runtime) notifySuccessors(def *workflow.Definition, was, t *task.Task) {
	var notified []task.ID
	if engine.PredecessorStateOf(def, was) != engine.PredecessorStateOf(def, t) || headOf(was) != headOf(t) {
		notified = r.depends.successorsOf(t.ID)
	}
	if !slices.Equal(was.After, t.After) {
		if len(t.After) > 0 {
			notified = append(notified, t.ID)
		}
		if t.Queued {
			r.advanceQueue(t.Project)
		}
	}
	r.reportPredecessors(notified)
}

// reportPredecessors submits to tasks, in the background, what became of those that they are after. Then the tasks that may
// start have their turn, in the order of the queue.
func (r *Runtime) reportPredecessors(ids []task.ID) {
	if len(ids) == 0 || r.admitCaller() != nil {
		return
	}
	go func() {
		defer r.wait.Done()
		var projects []string
		for _, id := range ids {
			if r.ctx.Err() != nil {
				return // the next server submits it again
			}
			t, ok, err := r.loadRecord(id)
			if err != nil || !ok {
				continue // each later decision reads the predecessors again
			}
			if now, err := r.loadPredecessors(&t, &signal.Signal{}); err != nil || !slices.Equal(now, t.Predecessors) {
				r.submitOwnSignal(id, signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.PredecessorMoved}) //nolint:errcheck // logged; see above
			}
			if t.Queued && !slices.Contains(projects, t.Project) {
				projects = append(projects, t.Project)
			}
		}
		for _, name := range projects {
			r.advanceQueue(name)
		}
	}()
}

// Successors lists, by task, the tasks that are after it and not over.
func (r *Runtime) Successors() map[task.ID][]task.Reference {
	out := map[task.ID][]task.Reference{}
	for _, id := range r.depends.listOpen() {
		t, ok, err := r.loadRecord(id)
		if err != nil || !ok {
			continue
		}
		for _, p := range t.After {
			out[p] = append(out[p], task.Reference{ID: id, Branch: t.Branch, Status: t.Status})
		}
	}
	return out
}

// orderQueue lists the tasks of a project that wait for a workspace: by priority, then by what they unblock, then by age.
func (r *Runtime) orderQueue(project string) ([]task.ID, error) {
	ids, err := r.Store.QueuedTasks(project)
	if err != nil || len(ids) < 2 {
		return ids, err
	}
	list := make([]task.Queued, len(ids))
	for i, id := range ids {
		list[i].ID = id
		if r.Priority == nil {
			continue
		}
		if t, ok, err := r.loadRecord(id); err == nil && ok {
			list[i].Priority = r.Priority(&t)
		}
	}
	task.SortQueue(list, r.depends.waiting())
	for i := range list {
		ids[i] = list[i].ID
	}
	return ids, nil
}

// afterKey names the lock under which tasks get dependencies, so that two changes cannot make a cycle together. It is taken
// before every other lock, and no task can have such an id.
const afterKey = task.ID("after")

// An afterRequest asks that a task be after others.
type afterRequest struct {
	of    *task.Task
	by    task.Actor
	after []task.ID // all of them
	added []task.ID
}

// checkUpdate returns an error if an update makes a task depend on tasks that it cannot depend on.
func (r *Runtime) checkUpdate(id task.ID, sig *signal.Signal) error {
	t, ok, err := r.loadRecord(id)
	if err != nil || !ok {
		return err
	}
	after, why := engine.AfterUpdate(t.After, sig.Fields)
	if why != "" {
		return nil // the engine refuses it
	}
	added := slices.DeleteFunc(slices.Clone(after), func(id task.ID) bool { return slices.Contains(t.After, id) })
	return r.checkAfter(afterRequest{&t, sig.Actor, after, added})
}

// checkAfter returns an error if a task cannot be after others: one is not known, will not land, or waits for the task itself.
// The tasks may be of other projects.
func (r *Runtime) checkAfter(q afterRequest) error {
	for _, id := range q.added {
		p, ok, err := r.loadRecord(id)
		if err == nil && ok && id != q.of.ID {
			err = r.checkPredecessor(q, &p)
		}
		switch {
		case err != nil:
			return err
		case !ok && id.IsValid() && id != q.of.ID || p.Deleted:
			return task.Mistakef("there is no task %s to be after: see orange task list", id)
		}
	}
	if len(q.added) == 0 || slices.Contains(q.after, q.of.ID) { // the engine refuses the latter
		return nil
	}
	graph := r.depends.withParts(r.waitsForParts)
	if q.of.Parent != "" && r.waitsForParts(q.of.Parent) {
		graph[q.of.Parent] = append(graph[q.of.Parent], q.of.ID)
	}
	next := slices.Clone(q.after)
	for _, id := range graph[q.of.ID] {
		if !slices.Contains(q.of.After, id) { // a part
			next = append(next, id)
		}
	}
	if cycle := graph.FindCycle(q.of.ID, next); cycle != nil {
		return task.Mistakef("that would be a cycle, in which each task waits for the next: %s: leave one of these dependencies out", r.nameCycle(cycle, q.of))
	}
	return nil
}

// checkPredecessor returns an error if one task cannot be after another.
func (r *Runtime) checkPredecessor(q afterRequest, p *task.Task) error {
	def, err := r.pinnedDefinition(p)
	switch person := q.by == task.Human || q.by == ""; {
	case err != nil:
		return err
	case !person && q.by != task.Engine && q.by != task.Tracker && p.Project != q.of.Project:
		return task.Mistakef("task %s is of project %s: an agent names tasks of its own project", p.ID, p.Project)
	case q.by != task.Tracker && engine.PredecessorStateOf(def, p) == task.PredecessorDropped:
		return task.Mistakef("task %s is %s and did not land, so nothing can be after it: reopen it with orange task reopen %s, or leave it out", p.ID, p.Status, p.ID)
	}
	return nil
}

// waitsForParts reports whether a task is done only when its parts are.
func (r *Runtime) waitsForParts(id task.ID) bool {
	t, def, ok, err := r.TaskWithWorkflow(id)
	return err == nil && ok && def.KnowsChildren() && !isOver(def, &t)
}

// nameCycle returns the tasks of a cycle as people know them: by branch, with the project where there are several.
func (r *Runtime) nameCycle(cycle []task.ID, own *task.Task) string {
	names, several := make([]string, len(cycle)), false
	tasks := make([]task.Task, len(cycle))
	for i, id := range cycle {
		if tasks[i] = *own; id != own.ID {
			tasks[i], _, _ = r.loadRecord(id) // what cannot be read has its id as name
		}
		several = several || tasks[i].Project != own.Project
	}
	for i := range tasks {
		switch t := &tasks[i]; {
		case t.Branch == "":
			names[i] = string(cycle[i])
		case several:
			names[i] = t.Project + "/" + t.Branch
		default:
			names[i] = t.Branch
		}
	}
	return strings.Join(names, " -> ")
}
