package verify_test

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/testneeds"
)

// TestMain collects garbage less often, as orange workflow verify does.
func TestMain(m *testing.M) {
	debug.SetGCPercent(verify.GCPercent)
	os.Exit(m.Run())
}

func load(t testing.TB, name string) *workflow.Definition {
	t.Helper()
	testneeds.ModelChecker(t)
	text, ok := builtin.Text(name)
	if !ok {
		b, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		text = string(b)
	}
	def, err := workflow.Parse(name+".yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func TestEveryBuiltinWorkflowVerifiesClean(t *testing.T) {
	for _, name := range builtin.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := verify.Verify(load(t, name), verify.SearchOptions{})
			t.Logf("%d states, %d transitions, %d decisions, bounds %+v", r.States, r.Transitions, r.Decisions, r.Bounds)
			if !r.OK || !r.Complete {
				t.Errorf("ok %v, complete %v\n%s", r.OK, r.Complete, story(r))
			}
		})
	}
}

func TestACheckStateAddsAtMostAQuarterOfTheStates(t *testing.T) {
	for _, name := range builtin.Names() {
		t.Run(name, func(t *testing.T) {
			if name != "solo" && name != "orange-direct" {
				testneeds.Soak(t)
			}
			t.Parallel()
			def := load(t, name)
			with, without := verify.Verify(def, verify.SearchOptions{}), verify.Verify(def.ForTask(nil), verify.SearchOptions{})
			t.Logf("%d states with checks, %d without", with.States, without.States)
			if !with.OK || !without.OK || with.States <= without.States || 4*with.States > 5*without.States {
				t.Errorf("%d states with checks (ok %v), %d without (ok %v)\n%s", with.States, with.OK, without.States, without.OK, story(without))
			}
		})
	}
}

func TestALowerLimitOfPendingEffectsReachesFewerStates(t *testing.T) {
	r := verify.Verify(load(t, "solo"), verify.SearchOptions{})
	if less := verify.Verify(load(t, "solo"), verify.SearchOptions{PendingLimit: 1}); !less.OK || less.States >= r.States {
		t.Errorf("with a limit of 1 %d states, ok %v; by default %d", less.States, less.OK, r.States)
	}
}

// Each kind of mistake in a file must be reported under its own name.
func TestTheDesignsAsTheyWereWrittenAreReported(t *testing.T) {
	for name, want := range map[string][]string{
		"literal-002": {
			"covered planning", "fresh handoff", "fresh failed", "fresh passed", "terminates review_round", "work-safe delete_remote_branch",
		},
		"literal-001":   {"fresh handoff", "fresh failed", "fresh passed", "terminates review_round"},
		"endless-steps": {"terminates test, design, implement"},
		"timer-loop":    {"terminates doing, review"},
		"check-loop":    {"terminates doing, checking, stuck"},
		"check-bound":   {"reachable checking -> stuck (line 27)"},
		"check-rest":    {"terminates doing, checking"},
	} {
		t.Run(name, func(t *testing.T) {
			r := verify.Verify(load(t, name), verify.SearchOptions{})
			for _, w := range want {
				if !found(r, w) {
					t.Errorf("%q is not reported:\n%s", w, story(r))
				}
			}
		})
	}
}

// What the engine and the runtime exclude must be found as soon as the model leaves
// that protection out.
func TestEveryProtectionIsMissedWhenItIsLeftOut(t *testing.T) {
	for without, want := range map[verify.Protection]string{
		verify.Redrive:   "crash-safe ",
		verify.Keys:      "crash-safe notify_worker",
		verify.Ensure:    "never-stalls working",
		verify.PerRole:   "covered reviewer",
		verify.Deadlines: "never-stalls working",
		verify.Origin:    "proven Delivered",
		verify.Telling:   "told working",
		verify.Author:    "own-words passed",
	} {
		t.Run(string(without), func(t *testing.T) {
			t.Parallel()
			name := "orange-direct"
			if without == verify.PerRole || without == verify.Telling {
				name = "orange"
			}
			if without == verify.Origin { // its agents report nothing that leads to a merge
				name = "linear-sdlc"
			}
			r := verify.Verify(load(t, name), verify.SearchOptions{Without: []verify.Protection{without}, PendingLimit: 2})
			if r.OK || !found(r, want) {
				t.Errorf("%q is not reported:\n%s", want, story(r))
			}
		})
	}
}

func TestACounterWithManyValuesIsSearchedWhole(t *testing.T) {
	def, err := load(t, "timer-loop").WithEdits(func(d *workflow.Definition) {
		d.Counters = append(d.Counters, workflow.Counter{Name: "rounds", Max: 300})
		for i := range d.Edges {
			if e := &d.Edges[i]; e.To == "doing" && e.From[0] == "review" {
				e.Count = []workflow.CountOp{{Counter: "rounds", Add: true, Value: 1}}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	r := verify.Verify(def, verify.SearchOptions{})
	if !found(r, "terminates rounds") || r.Bounds.Counters[1].Max != 301 {
		t.Errorf("the bound of 300 is not seen to be passed: %+v\n%s", r.Bounds, story(r))
	}
}

func TestACancelledSearchStops(t *testing.T) {
	asked := 0
	r := verify.Verify(load(t, "orange"), verify.SearchOptions{Stop: func() bool { asked++; return asked > 1 }})
	if r.OK || r.Complete || r.States > 20000 {
		t.Errorf("ok %v, complete %v, %d states", r.OK, r.Complete, r.States)
	}
}

func TestAScenarioHoldsUntilTheWorkflowIsMended(t *testing.T) {
	def := load(t, "literal-002")
	r := verify.Verify(def, verify.SearchOptions{First: true})
	s := verify.ScenarioOf(def, r.Violations[0], nil)
	if _, differs := s.Play(def); differs != nil {
		t.Errorf("the scenario does not hold where it was found: %v", differs)
	}
	mended, err := def.WithEdits(func(d *workflow.Definition) {
		for i := range d.States {
			d.States[i].Wall = time.Hour
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, differs := s.Play(mended); differs == nil {
		t.Error("the scenario still holds although every state has a deadline")
	}
}

func found(r verify.Report, want string) bool {
	return slices.ContainsFunc(r.Violations, func(v verify.Violation) bool {
		return strings.HasPrefix(string(v.Property)+" "+v.Subject, want) && (len(v.Trace) > 0 || v.Property == verify.Reachable)
	})
}

func story(r verify.Report) string {
	var b strings.Builder
	for _, v := range r.Violations {
		b.WriteString(string(v.Property) + " " + v.Subject + ": " + v.Message + "\n")
		for _, st := range v.Trace {
			b.WriteString("    " + st.What + ": " + st.From + " -> " + st.To + " (" + st.Why + ")\n")
		}
	}
	return b.String()
}
