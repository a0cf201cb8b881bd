package explain

import (
	"fmt"
	"slices"

	"orange/internal/core/task"
)

// A PoolTask is an open task as the pool of workspaces of its project sees it.
type PoolTask struct {
	ID     task.ID
	Holds  bool               // it has a workspace
	Queued bool               // it waits for one, or for the tasks that it is after
	Works  bool               // its state is one of agents or checks, so that it goes on by itself
	After  []task.Predecessor // the tasks that it is after
}

// PoolItems returns the item of a project whose pool of workspaces is in a deadlock, or none. A person who lets work that has
// begun land after a task that has not started can cause one: the work keeps its workspace until it has landed, and the
// other task needs a workspace to start.
func PoolItems(project string, size int, tasks []PoolTask) []Item {
	stuck := map[task.ID]bool{}
	for grown := true; grown; {
		grown = false
		for i := range tasks {
			t := &tasks[i]
			if !stuck[t.ID] && t.waitsFor(stuck) {
				stuck[t.ID], grown = true, true
			}
		}
	}
	holders, deadlocked := 0, 0
	for i := range tasks {
		if tasks[i].Holds {
			holders++
			if stuck[tasks[i].ID] {
				deadlocked++
			}
		}
	}
	if deadlocked == 0 || deadlocked < holders || holders < size {
		return nil
	}
	text := fmt.Sprintf("every workspace of %s has work that waits to land after a task that waits for a workspace: add a workspace, or remove a dependency", project)
	return []Item{{Kind: ItemPool, Project: project, Text: text, Action: Action{Verb: VerbEnlargePool, Project: project, Size: holders + 1}}}
}

// waitsFor reports whether a task waits for a workspace, or for one of the tasks.
func (t *PoolTask) waitsFor(others map[task.ID]bool) bool {
	unmet := task.UnmetOf(t.After)
	if t.Queued && len(unmet) == 0 {
		return true
	}
	return (t.Queued || t.Holds && !t.Works) && slices.ContainsFunc(unmet, func(p task.Predecessor) bool { return others[p.ID] })
}
