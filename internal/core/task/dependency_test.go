package task_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"orange/internal/core/task"
)

func TestACycleIsFoundIfThereIsOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := []task.ID{"a", "b", "c", "d", "e", "f"}
		some := rapid.SliceOfDistinct(rapid.SampledFrom(names), func(id task.ID) task.ID { return id })
		deps := task.Dependencies{}
		for range rapid.IntRange(1, 12).Draw(rt, "changes") {
			id, after := rapid.SampledFrom(names).Draw(rt, "task"), some.Draw(rt, "after")
			cycle := deps.FindCycle(id, after)
			if cycle == nil {
				deps[id] = after
				if reaches(deps, id, id) {
					rt.Fatalf("%v has a cycle through %s", deps, id)
				}
				continue
			}
			deps := mapsWith(deps, id, after)
			if cycle[0] != id || cycle[len(cycle)-1] != id || len(cycle) < 2 {
				rt.Fatalf("%v is no cycle through %s", cycle, id)
			}
			for i := range cycle[1:] {
				if !slices.Contains(deps[cycle[i]], cycle[i+1]) {
					rt.Fatalf("%v: %s is not after %s in %v", cycle, cycle[i], cycle[i+1], deps)
				}
			}
		}
		for _, id := range names {
			n := 0
			for _, other := range names {
				if reaches(deps, other, id) {
					n++
				}
			}
			if got := deps.CountUnblocked(id); got != n {
				rt.Fatalf("%s unblocks %d in %v, and %d was counted", id, n, deps, got)
			}
		}
	})
}

func mapsWith(d task.Dependencies, id task.ID, after []task.ID) task.Dependencies {
	out := task.Dependencies{id: after}
	for k, v := range d {
		if k != id {
			out[k] = v
		}
	}
	return out
}

// reaches reports whether a task is after another, directly or through others.
func reaches(d task.Dependencies, from, to task.ID) bool {
	seen := map[task.ID]bool{}
	var walk func(task.ID) bool
	walk = func(at task.ID) bool {
		for _, next := range d[at] {
			if next == to || !seen[next] && func() bool { seen[next] = true; return walk(next) }() {
				return true
			}
		}
		return false
	}
	return walk(from)
}

func TestTheOrderOfAQueue(t *testing.T) {
	deps := task.Dependencies{"x": {"b"}, "y": {"x"}, "z": {"c"}}
	list := []task.Queued{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d", Priority: 3}, {ID: "e", Priority: 1}, {ID: "f"}}
	task.SortQueue(list, deps)
	got := ""
	for _, q := range list {
		got += string(q.ID)
	}
	if got != "edbcaf" {
		t.Error(got)
	}
}
