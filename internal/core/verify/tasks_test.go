package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/testneeds"
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

// What only several tasks break holds for one.
func TestWhatSeveralTasksBreakHoldsForOne(t *testing.T) {
	for _, file := range []string{"tasks-deadlock", "tasks-landing", "tasks-starving"} {
		t.Run(file, func(t *testing.T) {
			if r := verify.Verify(load(t, file), verify.SearchOptions{}); !r.OK {
				t.Errorf("one task:\n%s", story(r))
			}
		})
	}
}

func TestSeveralTasksOfBuiltinWorkflowsVerifyClean(t *testing.T) {
	for _, name := range builtin.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := verifyTasks(t, name, verify.DefaultTasks, verify.SearchOptions{})
			t.Logf("%d states, %d decisions, %d classes, together %v", r.States, r.Decisions, r.Classes, r.Together)
			if !r.OK || len(r.Together) != 2 || r.Classes < 5 {
				t.Errorf("complete %v, condition %q\n%s", r.Complete, r.Condition, tasksStory(r))
			}
		})
	}
}

// A task that can go on for ever by itself is not composed.
func TestTasksThatDoNotEndAreNotComposed(t *testing.T) {
	for _, file := range []string{"endless-steps", "timer-loop", "tasks-repeating"} {
		r := verifyTasks(t, file, 2, verify.SearchOptions{})
		if one := verify.Verify(load(t, file), verify.SearchOptions{}); one.OK || r.OK || !strings.HasPrefix(r.Condition, "terminates does not hold: it can loop forever in ") || len(r.Together) > 0 {
			t.Errorf("%s: ok %v, condition %q, %v", file, r.OK, r.Condition, r.Together)
		}
	}
}

// Two searches of several tasks have the same report, with one worker and with several.
func TestTheReportOfSeveralTasksDoesNotDependOnWorkers(t *testing.T) {
	one := verifyTasks(t, "tasks-deadlock", 3, verify.SearchOptions{})
	shared := verifyTasks(t, "tasks-deadlock", 3, verify.SearchOptions{Workers: 4, Share: func(parts int, work func(int)) {
		var all sync.WaitGroup
		for part := range parts {
			all.Go(func() { work(part) })
		}
		all.Wait()
	}})
	if d := cmp.Diff(one, shared); d != "" {
		t.Error(d)
	}
}

func TestALimitOfStatesProvesNothingAboutSeveralTasks(t *testing.T) {
	for _, most := range []int{50, 800} {
		if r := verifyTasks(t, "solo", 3, verify.SearchOptions{MaxStates: most}); r.OK || r.Complete {
			t.Errorf("with %d states: ok %v, complete %v", most, r.OK, r.Complete)
		}
	}
}

// One task, composed, is judged as it is alone: it can be composed if it ends, and it waits for nobody. The engine plays every
// counterexample of two, or the search of them is an error.
func TestRandomWorkflowsAreComposed(t *testing.T) {
	testneeds.ModelChecker(t)
	seed, soaks := testneeds.SoakSeed(t)
	want := 12
	if soaks {
		want = 600
	}
	composed, endless := 0, 0
	found := map[verify.Property]int{}
	for i := 0; composed+endless < want; i++ {
		def, err := workflow.Parse("random.yaml", randomWorkflow(rand.New(rand.NewPCG(seed+7, uint64(i))), i%3 == 0))
		if err != nil {
			continue
		}
		o := verify.SearchOptions{PendingLimit: 1, MaxStates: 300}
		alone := verify.Verify(def, o)
		if !alone.Complete {
			continue
		}
		o.MaxStates = 900
		one, err := verify.VerifyTasks(def, 1, o)
		switch {
		case err != nil:
			t.Fatalf("workflow %d of seed %d: %v\n%s", i, seed, err, def.Text)
		case !one.Complete:
			continue
		case alone.Bounds.Unbounded != (one.Condition != ""):
			t.Fatalf("workflow %d of seed %d: unbounded %v, condition %q\n%s", i, seed, alone.Bounds.Unbounded, one.Condition, def.Text)
		case one.Condition != "":
			endless++
			continue
		}
		composed++
		for _, v := range one.Violations {
			if v.Property != verify.LandsOrReturns {
				t.Errorf("workflow %d of seed %d: one task violates %s\n%s\n%s", i, seed, v.Property, tasksStory(one), def.Text)
			}
		}
		two, err := verify.VerifyTasks(def, 2, o)
		if err != nil {
			t.Fatalf("workflow %d of seed %d: %v\n%s", i, seed, err, def.Text)
		}
		for _, v := range two.Violations {
			found[v.Property]++
		}
	}
	t.Logf("%d workflows composed, %d endless, %v", composed, endless, found)
	if composed < want/4 || endless == 0 || len(found) == 0 {
		t.Errorf("%d workflows composed, %d endless, %v: the cases show little", composed, endless, found)
	}
}

// The full search of one task, composed, has the same violations.
func TestSeveralTasksAreJudgedAlikeInFull(t *testing.T) {
	for _, file := range []string{"tasks-deadlock", "tasks-landing", "tasks-starving"} {
		t.Run(file, func(t *testing.T) {
			reduced, full := verifyTasks(t, file, 2, verify.SearchOptions{}), verifyTasks(t, file, 2, verify.SearchOptions{Full: true})
			if full.States <= reduced.States {
				t.Errorf("%d states in full, %d reduced", full.States, reduced.States)
			}
			if d := cmp.Diff(propertiesOf(full), propertiesOf(reduced)); d != "" {
				t.Error(d)
			}
		})
	}
}

func propertiesOf(r verify.TasksReport) []verify.Property {
	var out []verify.Property
	for _, v := range r.Violations {
		out = append(out, v.Property)
	}
	return out
}
