// Package library knows all workflows: those that are built in, those of the user and of the repositories of projects,
// and those that tasks are pinned to.
package library

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"orange/internal/adapter/workflowdir"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/view/ansi"
	"orange/internal/wire"
)

// Pins reads tasks and the workflow texts that they are pinned to.
type Pins interface {
	EachTask(f task.Filter, yield func(fold []byte) error) error
	EachWorkflow(ctx context.Context, yield func(hash, name, file, text string) error) error
	Workflow(hash string) (name, file, text string, ok bool, err error)
}

// Library implements api.Library and api.Workflows.
type Library struct {
	Tasks    Pins
	Files    *workflowdir.Dir
	Projects func() []task.Project
}

// ListWorkflows implements api.Library. It lists a text that tasks are pinned to as pinned only if no file has that text
// any more.
func (l Library) ListWorkflows(ctx context.Context) ([]wire.WorkflowInfo, error) {
	open, err := l.countOpenTasks()
	if err != nil {
		return nil, err
	}
	var out []wire.WorkflowInfo
	listed := map[string]bool{}
	add := func(f foundWorkflow) {
		listed[f.pinHash()] = true
		out = append(out, wire.WorkflowInfo{Name: ansi.OneLine(f.name), Hash: f.pinHash(), Origin: f.origin, File: ansi.OneLine(f.file), Tasks: open[f.pinHash()]})
	}
	l.eachWorkflow(func(f foundWorkflow) bool { add(f); return true })
	err = l.Tasks.EachWorkflow(ctx, func(hash, name, file, text string) error {
		if !listed[hash] {
			add(foundWorkflow{name: name, origin: "pinned", file: file, text: text, pinned: hash})
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b wire.WorkflowInfo) int { return cmp.Compare(a.Name, b.Name) })
	return out, err
}

// Workflow implements api.Workflows. It finds the texts that tasks are pinned to, and all that ListWorkflows lists.
func (l Library) Workflow(hash string) (name, file, text string, ok bool, err error) {
	name, file, text, ok, err = l.Tasks.Workflow(hash)
	if ok || err != nil {
		return name, file, text, ok, err
	}
	l.eachWorkflow(func(f foundWorkflow) bool {
		if f.pinHash() != hash {
			return true
		}
		name, file, text, ok = f.name, f.file, f.text, true
		return false
	})
	return name, file, text, ok, nil
}

// foundWorkflow is a workflow text with where it is from.
type foundWorkflow struct{ name, origin, file, text, pinned string }

// pinHash returns the hash that a task with this text is pinned to.
func (f *foundWorkflow) pinHash() string { return cmp.Or(f.pinned, workflow.HashOf(f.text)) }

// eachWorkflow calls yield for every workflow that a new task could follow, until yield returns false. It skips a file
// that cannot be read; using the file returns the error.
func (l Library) eachWorkflow(yield func(foundWorkflow) bool) {
	for _, name := range builtin.Names() {
		if text, _ := builtin.Text(name); !yield(foundWorkflow{name: name, origin: "built-in", file: builtin.File(name), text: text}) {
			return
		}
	}
	if !eachFile(l.Files, workflowdir.OfUser, "", workflowdir.OfUser, yield) {
		return
	}
	for _, p := range l.Projects() {
		if !eachFile(l.Files, p.Name, p.Path, workflowdir.OfRepository, yield) {
			return
		}
	}
}

// eachFile calls yield for the workflow files of one place. It returns false if yield did.
func eachFile(dir *workflowdir.Dir, origin, root, place string, yield func(foundWorkflow) bool) bool {
	seen := map[string]bool{}
	for _, f := range dir.ListFiles(root) {
		if f.Origin != place || seen[f.Name] {
			continue
		}
		seen[f.Name] = true // of several files with one name, the one that Find returns comes first
		file, text, ok, err := dir.Find(f.Name, root)
		if err == nil && ok && !yield(foundWorkflow{name: f.Name, origin: origin, file: file, text: text}) {
			return false
		}
	}
	return true
}

// countOpenTasks counts the tasks that are not over by the hash they are pinned to.
func (l Library) countOpenTasks() (map[string]int, error) {
	out := map[string]int{}
	err := l.Tasks.EachTask(task.Filter{}, func(fold []byte) error {
		var t struct {
			Setup struct {
				WorkflowHash string `json:"workflow_hash"`
			} `json:"setup"`
		}
		if err := json.Unmarshal(fold, &t); err != nil {
			return fmt.Errorf("read a task: %w", err)
		}
		out[t.Setup.WorkflowHash]++
		return nil
	})
	return out, err
}
