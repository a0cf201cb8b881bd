package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orange/internal/core/verify"
)

func verifyTasks(t *testing.T, name string, tasks int, o verify.SearchOptions) verify.TasksReport {
	t.Helper()
	r, err := verify.VerifyTasks(load(t, name), tasks, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each property of several tasks has a file that violates it and holds for one task, and each protection is missed.
func TestWhatSeveralTasksBreakIsFound(t *testing.T) {
	for _, c := range []struct {
		name, file string
		without    verify.Protection
		want       verify.Property
	}{
		{"a circle of benches", "tasks-deadlock", "", verify.NoDeadlock},
		{"a conflict that nobody can repair", "tasks-landing", "", verify.LandsOrReturns},
		{"a place in no queue", "tasks-starving", "", verify.NoStarvation},
		{"a workspace for everybody", "solo", verify.OneWorkspace, verify.OneWorkspaceEach},
		{"a target that moves unchecked", "solo", verify.CheckedTrees, verify.CheckedTreesOnly},
	} {
		t.Run(c.name, func(t *testing.T) {
			var o verify.SearchOptions
			if c.without != "" {
				o.Without = []verify.Protection{c.without}
			}
			r := verifyTasks(t, c.file, 2, o)
			if r.OK || len(r.Violations) == 0 || !slices.ContainsFunc(r.Violations, func(v verify.TasksViolation) bool { return v.Property == c.want }) {
				t.Fatalf("%s is not found:\n%s", c.want, tasksStory(r))
			}
			t.Logf("%d violations, %d classes\n%s", len(r.Violations), r.Classes, tasksStory(r))
		})
	}
}

func tasksStory(r verify.TasksReport) string {
	var b strings.Builder
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "%s (pool of %d): %s\n", v.Property, v.Pool, v.Message)
		for i, st := range v.Trace {
			fmt.Fprintf(&b, "  %2d  task %d  %-10s  %s -> %s  %s\n", i+1, st.Task, st.Label, st.From, st.To, st.What)
		}
	}
	return b.String()
}
