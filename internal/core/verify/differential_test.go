package verify_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/testneeds"
)

// The search leaves out worlds that can do the same as others. Its report must be that of the
// search of all worlds.

func TestTheFilesAreJudgedAlikeInFull(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judgeAlike(t, load(t, name), verify.SearchOptions{})
		})
	}
}

// Tasks have no checks here: the full search of tasks with checks is not yet judged like the reduced one
// (docs/VERIFICATION.md, Checks).
func TestTheBuiltinsAreJudgedAlikeInFull(t *testing.T) {
	for _, name := range builtin.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judgeAlike(t, load(t, name).ForTask(nil), verify.SearchOptions{Patience: 1})
		})
	}
}

func TestABuiltinWithoutAProtectionIsJudgedAlikeInFull(t *testing.T) {
	for _, without := range verify.Protections() {
		t.Run(string(without), func(t *testing.T) {
			t.Parallel()
			judgeAlike(t, load(t, "orange-direct").ForTask(nil), verify.SearchOptions{Patience: 1, Without: []verify.Protection{without}})
		})
	}
}

// ORANGE_SOAK_SEED makes it more workflows, of another seed.
func TestRandomWorkflowsAreJudgedAlikeInFull(t *testing.T) {
	seed, count := uint64(1), 200
	if text := os.Getenv("ORANGE_SOAK_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed, count = n, 1000
	}
	var mu sync.Mutex
	compared, found, states, all := 0, 0, 0, 0
	const groups = 4
	t.Run("of a seed", func(t *testing.T) {
		for group := range groups {
			t.Run(strconv.Itoa(group), func(t *testing.T) {
				t.Parallel()
				for i, n := group, 0; n < count/groups; i += groups {
					random := rand.New(rand.NewPCG(seed, uint64(i)))
					def, err := workflow.Parse("random.yaml", randomWorkflow(random))
					if err != nil {
						continue
					}
					o := verify.SearchOptions{Patience: 1 + random.IntN(2), MaxStates: 1500}
					if random.IntN(4) == 0 {
						list := verify.Protections()
						o.Without = []verify.Protection{list[random.IntN(len(list))]}
					}
					full, reduced, ok := judged(t, def, o)
					if !ok {
						continue
					}
					n++
					mu.Lock()
					compared, found, states, all = compared+1, found+len(full.Violations), states+reduced.States, all+full.States
					mu.Unlock()
					if t.Failed() {
						t.Fatalf("seed %d, workflow %d, without %v, patience %d:\n%s", seed, i, o.Without, o.Patience, def.Text)
					}
				}
			})
		}
	})
	t.Logf("%d workflows, %d violations, %d states of %d", compared, found, states, all)
	if found < compared { // workflows in which nothing is wrong show little
		t.Errorf("%d violations in %d workflows", found, compared)
	}
}

func judgeAlike(t *testing.T, def *workflow.Definition, o verify.SearchOptions) {
	t.Helper()
	if _, _, ok := judged(t, def, o); !ok {
		t.Fatal("it has too many states to be compared")
	}
}

// judged searches both ways and compares; not ok: there are too many states.
func judged(t *testing.T, def *workflow.Definition, o verify.SearchOptions) (full, reduced verify.Report, ok bool) {
	t.Helper()
	testneeds.ModelChecker(t)
	o.Full = true
	full = verify.Verify(def, o)
	if !full.Complete {
		return full, reduced, false
	}
	o.Full = false
	reduced = verify.Verify(def, o)
	if full.OK != reduced.OK || !reduced.Complete || reduced.States > full.States {
		t.Errorf("in full: ok %v, %d states; reduced: ok %v, complete %v, %d states", full.OK, full.States, reduced.OK, reduced.Complete, reduced.States)
	}
	if a, b := boundsOf(full), boundsOf(reduced); a != b {
		t.Errorf("bounds in full: %s; reduced: %s", a, b)
	}
	if a, b := violationsOf(full), violationsOf(reduced); !slices.Equal(a, b) {
		t.Errorf("in full:\n%s\nreduced:\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
	playAll(t, def, reduced, o)
	return full, reduced, true
}

// boundsOf returns the bounds that mean something: with a loop only those of counters do.
func boundsOf(r verify.Report) string {
	if r.Bounds.Unbounded {
		return fmt.Sprintf("unbounded, %v", r.Bounds.Counters)
	}
	return fmt.Sprintf("%+v", r.Bounds)
}

// violationsOf returns the violations and the number of steps to each. For loops it returns the
// states of those that are in no larger one; other states on a loop are left out.
func violationsOf(r verify.Report) []string {
	var out, loops []string
	for _, v := range r.Violations {
		if isLoop(v) {
			loops = append(loops, v.Subject)
			continue
		}
		out = append(out, fmt.Sprintf("%s %s: %d steps", v.Property, v.Subject, len(v.Trace)))
	}
	for _, one := range loops {
		larger := func(other string) bool { return one != other && within(one, other) }
		if !slices.ContainsFunc(loops, larger) {
			out = append(out, "loop "+one)
		}
	}
	slices.Sort(out)
	return out
}

func isLoop(v verify.Violation) bool {
	return v.Property == verify.Terminates && strings.Contains(v.Message, "loop forever")
}

func within(one, other string) bool {
	others := strings.Split(other, ", ")
	for _, state := range strings.Split(one, ", ") {
		if !slices.Contains(others, state) {
			return false
		}
	}
	return true
}

// playAll plays every counterexample by the engine, from the creation of the task.
func playAll(t *testing.T, def *workflow.Definition, r verify.Report, o verify.SearchOptions) {
	t.Helper()
	for _, p := range o.Without {
		if p == verify.Ensure || p == verify.Redrive { // the model changes what the engine decided
			return
		}
	}
	for _, v := range r.Violations {
		if _, differs := verify.ScenarioOf(def, v, o.Without).Play(def); differs != nil {
			t.Errorf("%s %s: %v\n%s", v.Property, v.Subject, differs, story(verify.Report{Violations: []verify.Violation{v}}))
		}
	}
}
