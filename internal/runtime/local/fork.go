package local

import (
	"context"
	"fmt"
	"strconv"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// Definition returns the workflow a task is pinned to.
func (r *Runtime) Definition(t *task.Task) (*workflow.Definition, error) {
	return r.pinnedDefinition(t)
}

// TaskWithWorkflow returns a task as the last commit left it, and the workflow that it follows.
func (r *Runtime) TaskWithWorkflow(id task.ID) (t task.Task, def *workflow.Definition, ok bool, err error) {
	if t, ok, err = r.loadRecord(id); ok && err == nil {
		def, err = r.pinnedDefinition(&t)
	}
	return t, def, ok, err
}

// ForkTask creates a new task from the state of another one at an entry of its journal: on its own branch, at the
// commit that was recorded there.
func (r *Runtime) ForkTask(ctx context.Context, id task.ID, seq int, by signal.NewTask) (engine.Answer, error) {
	t, ok, err := r.loadRecord(id)
	if err != nil {
		return engine.Answer{}, err
	}
	if !ok {
		return engine.Answer{}, fmt.Errorf("%w: %s", task.ErrNotFound, id)
	}
	if seq < 1 || seq > t.Seq {
		return engine.Answer{}, task.Mistakef("task %s has entries 1 to %d, and no %d: see orange task history %s", id, t.Seq, seq, id)
	}
	entries, err := r.Store.Journal(id, 0)
	if err != nil {
		return engine.Answer{}, err
	}
	commit := commitAt(entries[:min(seq, len(entries))])
	if commit == "" {
		return engine.Answer{}, task.Mistakef("no commit is recorded up to entry %d of task %s: choose a later one", seq, id)
	}
	w := signal.NewTask{Actor: by.Actor, Attempt: by.Attempt, Via: by.Via, Workflow: t.Workflow}
	w.Requirements, w.Context = r.forkTexts(&t, seq)
	w.New = signal.New{
		Project: t.Project, Summary: t.Summary, Harness: t.Harness, ReviewHarness: t.ReviewHarness, Effort: t.Effort, ReviewEffort: t.ReviewEffort, Roles: t.Roles,
		Model: t.Model, ReviewModel: t.ReviewModel, AgentFlags: t.AgentFlags, Permissions: t.Permissions, Delivery: t.Delivery, Base: commit, BaseBranch: t.BaseBranch, ForkOf: string(id) + "@" + strconv.Itoa(seq), Spawn: by.Spawn,
	}
	if by.Actor == task.Human { // an agent sets no variables, not even those of a person
		w.Vars = t.Vars
	}
	if w.Branch, err = r.forkBranch(&t, by.Branch); err != nil {
		return engine.Answer{}, err
	}
	return r.createTask(ctx, w)
}

// commitAt returns the last commit that the entries recorded.
func commitAt(entries []journal.Entry) string {
	for i := len(entries) - 1; i >= 0; i-- {
		if h := entries[i].Snapshot; h != nil && h.Commit != "" {
			return h.Commit
		}
	}
	return ""
}

// forkTexts returns the requirements of the original task, and a text that says where the fork comes from.
func (r *Runtime) forkTexts(t *task.Task, seq int) (requirements, text string) {
	text = fmt.Sprintf("Forked from task %s at entry %d, on branch %s.", t.ID, seq, t.Branch)
	if r.Files == nil {
		return "", text
	}
	doc, err := r.Files.ReadTaskFile(t.Project, t.ID)
	if err != nil || len(doc.Body()) == 0 {
		return "", text
	}
	for _, s := range doc.Sections() { // the first one, because agents may have written another
		if s.Name == taskfile.RequirementsSection {
			requirements = s.Text
			break
		}
	}
	return requirements, text + " Its TASK.md as it was when the fork was made:\n\n" + string(doc.Body())
}

// forkBranch returns the requested branch, or one that no task has.
func (r *Runtime) forkBranch(t *task.Task, wanted string) (string, error) {
	if wanted != "" {
		return wanted, nil
	}
	for n := 1; n < 1000; n++ {
		name := fmt.Sprintf("%s-fork-%d", t.Branch, n)
		_, taken, err := r.Store.TaskByBranch(t.Project, name)
		if err != nil {
			return "", err
		}
		if !taken {
			return name, nil
		}
	}
	return "", task.Mistakef("branch %s has too many forks: name one with --branch", t.Branch)
}
