package verify_test

import (
	"fmt"
	"math/rand/v2"
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
			if name == "literal-002" { // literal-001 has the same parts
				testneeds.Soak(t)
			}
			t.Parallel()
			judgeAlike(t, load(t, name), verify.SearchOptions{})
		})
	}
}

// Tasks have no checks here: the full search of a larger workflow with checks takes too long.
func TestTheBuiltinsAreJudgedAlikeInFull(t *testing.T) {
	for _, name := range builtin.Names() {
		t.Run(name, func(t *testing.T) {
			if name == "orange" || name == "joan-board" || name == "linear-sdlc" {
				testneeds.Soak(t)
			}
			t.Parallel()
			judgeAlike(t, load(t, name).ForTask(nil), verify.SearchOptions{PendingLimit: 1})
		})
	}
}

func TestTasksWithChecksAreJudgedAlikeInFull(t *testing.T) {
	for name, without := range map[string][]verify.Protection{
		"all protections": nil, "keys": {verify.Keys}, "per-role": {verify.PerRole}, "deadlines": {verify.Deadlines},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judgeAlike(t, load(t, "solo"), verify.SearchOptions{PendingLimit: 1, Without: without})
		})
	}
}

func TestABuiltinWithoutAProtectionIsJudgedAlikeInFull(t *testing.T) {
	for _, without := range verify.Protections() {
		t.Run(string(without), func(t *testing.T) {
			t.Parallel()
			judgeAlike(t, load(t, "orange-direct").ForTask(nil), verify.SearchOptions{PendingLimit: 1, Without: []verify.Protection{without}})
		})
	}
}

// make soak compares more workflows, of another seed.
func TestRandomWorkflowsAreJudgedAlikeInFull(t *testing.T) {
	compareRandom(t, 100, false)
}

func TestRandomWorkflowsWithChecksAreJudgedAlikeInFull(t *testing.T) {
	compareRandom(t, 20, true)
}

// compareRandom compares the searches of random workflows, or only of those with the numbers of testneeds.SoakOnly.
func compareRandom(t *testing.T, count int, checks bool) {
	testneeds.ModelChecker(t)
	seed := uint64(1)
	if n, ok := testneeds.SoakSeed(t); ok {
		seed, count = n, 10*count
	}
	var mu sync.Mutex
	compared, found, states, all := 0, 0, 0, 0
	compare := func(t *testing.T, i, maxStates int) (ok bool) {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			var full, reduced verify.Report
			if full, reduced, ok = judgeRandom(t, seed, i, checks, maxStates); ok {
				mu.Lock()
				defer mu.Unlock()
				compared, found, states, all = compared+1, found+len(full.Violations), states+reduced.States, all+full.States
			}
		})
		return ok
	}
	if only := testneeds.SoakOnly(t); len(only) > 0 {
		for _, i := range only {
			if !compare(t, i, verify.DefaultMaxStates) {
				t.Errorf("workflow %d does not load", i)
			}
		}
		return
	}
	const groups = 4
	t.Run("of a seed", func(t *testing.T) {
		for group := range groups {
			t.Run(strconv.Itoa(group), func(t *testing.T) {
				t.Parallel()
				for i, n := group, 0; n < count/groups; i += groups {
					if compare(t, i, 1500) {
						n++
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

// judgeRandom compares the searches of the i-th workflow of a seed; not ok: it does not load, or has too many states.
func judgeRandom(t *testing.T, seed uint64, i int, checks bool, maxStates int) (full, reduced verify.Report, ok bool) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, uint64(i)))
	def, err := workflow.Parse("random.yaml", randomWorkflow(random, checks))
	if err != nil {
		return full, reduced, false
	}
	o := verify.SearchOptions{PendingLimit: 1 + random.IntN(2), MaxStates: maxStates}
	if random.IntN(4) == 0 {
		list := verify.Protections()
		if checks { // what a server forgets in a check by hand is searched in full only
			list = slices.DeleteFunc(list, func(p verify.Protection) bool { return p == verify.Redrive })
		}
		o.Without = []verify.Protection{list[random.IntN(len(list))]}
	}
	full, reduced, ok = judged(t, def, o)
	if t.Failed() {
		t.Logf("ORANGE_SOAK_SEED=%d ORANGE_SOAK_ONLY=%d, without %v, patience %d:\n%s", seed, i, o.Without, o.PendingLimit, def.Text)
	}
	return full, reduced, ok
}

func judgeAlike(t *testing.T, def *workflow.Definition, o verify.SearchOptions) {
	t.Helper()
	if _, _, ok := judged(t, def, o); !ok {
		t.Fatal("it has too many states to be compared")
	}
}

// judged searches both ways and compares; not ok: there are too many states. The reduced search comes first, because it
// finds that out in less time.
func judged(t *testing.T, def *workflow.Definition, o verify.SearchOptions) (full, reduced verify.Report, ok bool) {
	t.Helper()
	testneeds.ModelChecker(t)
	few := o
	few.MaxStates = o.MaxStates / 3
	reduced = verify.Verify(def, few)
	if !reduced.Complete {
		return full, reduced, false
	}
	o.Full = true
	full = verify.Verify(def, o)
	if !full.Complete {
		return full, reduced, false
	}
	o.Full = false
	reduced = verify.Verify(def, o) // the search that counts failed checks may need more states than few
	if full.OK != reduced.OK || reduced.States > full.States {
		t.Errorf("in full: ok %v, %d states; reduced: ok %v, %d states", full.OK, full.States, reduced.OK, reduced.States)
	}
	compareBounds(t, full.Bounds, reduced.Bounds)
	if a, b := violationsOf(full), violationsOf(reduced); !slices.Equal(a, b) {
		t.Errorf("in full:\n%s\nreduced:\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
	playAll(t, def, reduced, o)
	return full, reduced, true
}

// compareBounds compares the bounds that mean something: with a loop only those of counters do. A counter that only bounds
// failed checks is not part of a reduced world; the other bounds then hold between two failed checks.
func compareBounds(t *testing.T, full, reduced verify.Bounds) {
	t.Helper()
	rounds := 0
	if reduced.FailedChecks > 0 {
		rounds = reduced.FailedChecks
		at := slices.IndexFunc(full.Counters, func(b verify.Bound) bool { return !slices.Contains(reduced.Counters, b) })
		if at >= 0 && full.Counters[at].Max <= rounds {
			full.Counters, reduced.Counters = slices.Delete(full.Counters, at, at+1), slices.Delete(reduced.Counters, at, at+1)
		}
	}
	ok := full.Unbounded == reduced.Unbounded && slices.Equal(full.Counters, reduced.Counters)
	within := func(one, other int) bool {
		return one == other || rounds > 0 && one >= other && one <= other*(rounds+1)
	}
	if ok && !full.Unbounded {
		ok = within(full.Crashes, reduced.Crashes) && within(full.Moves, reduced.Moves)
		for i := range full.Attempts {
			ok = ok && within(full.Attempts[i].Max, reduced.Attempts[i].Max)
		}
	}
	if !ok {
		t.Errorf("bounds in full: %+v; reduced: %+v", full, reduced)
	}
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
