package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/testneeds"
)

// TestTheServerIsKilledAtEachEffect lets a task go from its creation to the merge, with
// agents, again and again: each time the server dies at the next boundary of an effect.
// Whatever was under way, the task ends the same.
func TestTheServerIsKilledAtEachEffect(t *testing.T) {
	t.Parallel()
	testneeds.Server(t)
	for n := 1; n <= 40; n++ {
		survived := false
		t.Run(strconv.Itoa(n), func(t *testing.T) { survived = lifeWithCrash(t, n) })
		if survived {
			if n < 12 {
				t.Errorf("only %d boundaries: the life is too short to prove anything", n-1)
			}
			t.Logf("%d boundaries", n-1)
			return
		}
		if t.Failed() {
			return
		}
	}
	t.Error("the server still dies: the life has no end")
}

// lifeWithCrash plays one life and says whether the first server outlived it.
func lifeWithCrash(t *testing.T, n int) (survived bool) {
	s := openEnv(t, "headless")
	first := s.crashingServer(n, "effect.")
	ended := make(chan error, 1)
	go func() { ended <- first.Wait() }()

	file := s.write("scripts/feature.yaml", diligent)
	s.run("task", "create", "--project", "shop", "feature", "do it", "--harness", "script:"+file) //nolint:errcheck // the server may die before it answers
	tasks := s.list()
	if len(tasks) != 1 {
		t.Fatalf("%d tasks", len(tasks))
	}
	id := tasks[0].ID
	s.await(id, "reviewing", func(t task.Task) bool { return t.Status == "reviewing" && len(t.Pending) == 0 })
	s.await(id, "done", func(t task.Task) bool {
		if t.Status == "reviewing" && len(t.Pending) == 0 {
			s.run("task", "merge", string(id)) //nolint:errcheck // the server may die while it waits
		}
		return t.Status == "done" && len(t.Pending) == 0 && t.Workspace == ""
	})
	history := s.history(id)
	if spawned, crashed := count(history, "agent.spawned"), count(history, "agent.crashed"); spawned != 2 || crashed != 0 {
		t.Errorf("%d agents, %d crashes: %q", spawned, crashed, history)
	}
	if commits := strings.Count(s.git(s.repo, "log", "--format=%s", "main"), "do it"); commits != 1 {
		t.Errorf("%d commits of the work", commits)
	}
	if out := s.orange("doctor"); strings.Contains(out, "FAIL") {
		t.Error(out)
	}
	if left := s.orange("workspace", "salvage"); strings.Contains(left, "refs/") {
		t.Errorf("something had to be salvaged: %s", left)
	}
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(fmt.Sprint(err), "killed") {
			t.Errorf("the server left by itself: %v", err)
		}
		return false
	default:
		return true
	}
}
