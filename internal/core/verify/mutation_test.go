package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/testneeds"
)

// optional lists what can be taken out of a built-in workflow without breaking a
// property, and what a user would lose. Each line was read by a person.
var optional = map[string]string{
	"orange: edge new -> pending on create":                                    "tasks begin in another entry state",
	"orange: edge new -> clarification on create":                              "a task without a summary cannot begin with a question",
	"orange: edge new -> agent-review on create":                               "work done elsewhere cannot be handed in for review",
	"orange: edge new -> reviewing on create":                                  "work reviewed elsewhere cannot be handed in",
	"orange: count of new -> agent-review on create":                           "work handed in for review gets one review more",
	"orange: edge pending -> clarification on request":                         "a question must wait until the task is started",
	"orange: edge planning -> clarification on request":                        "the planning worker cannot ask; it asks from working",
	"orange: edge working -> clarification on request":                         "the implementing worker cannot ask; it asks while it plans",
	"orange: edge checking -> agent-review on request":                         "a person cannot pass over a failed check",
	"orange-direct: edge checking -> agent-review on request":                  "a person cannot pass over a failed check",
	"orange: edge stuck -> checking on request":                                "a rescued task goes back to work, or past the reviewer, first",
	"orange: gate handoff of stuck -> checking on request":                     "a rescued task goes to review without a word on what changed",
	"orange: count of checking -> agent-review on request":                     "a rescued task has no second review",
	"orange: request of reviewing -> done on request+tracker":                  "only the forge's news of the merge finishes a task",
	"orange: tracker pr:merged of reviewing -> done on request+tracker":        "a person must say that it was merged",
	"orange: gate handoff of working -> checking on request+exit":              "work that is committed goes to review without a word on it",
	"orange: gate committed of working -> checking on request+exit":            "work without commits goes to review",
	"orange: gate clean of working -> checking on request+exit":                "uncommitted files are left out of the review",
	"orange: gate committed of stuck -> checking on request":                   "a rescued task goes to review without commits",
	"orange: gate clean of stuck -> checking on request":                       "a rescued task leaves files out of the review",
	"orange: gate committed of stuck -> reviewing on request":                  "a rescued task is offered without commits",
	"orange: gate clean of stuck -> reviewing on request":                      "a rescued task is offered without some of its files",
	"orange-direct: gate committed of working -> checking on request+exit":     "work without commits goes to review",
	"orange-direct: gate clean of working -> checking on request+exit":         "uncommitted files are left out of the review",
	"orange-direct: gate committed of stuck -> checking on request":            "a rescued task goes to review without commits",
	"orange-direct: gate clean of stuck -> checking on request":                "a rescued task leaves files out of the review",
	"orange-direct: edge new -> clarification on create":                       "a task without a summary cannot begin with a question",
	"orange-direct: edge new -> agent-review on create":                        "work done elsewhere cannot be handed in for review",
	"orange-direct: edge new -> reviewing on create":                           "work reviewed elsewhere cannot be handed in",
	"orange-direct: count of new -> agent-review on create":                    "work handed in for review gets one review more",
	"orange-direct: edge pending -> clarification on request":                  "a question must wait until the task is started",
	"orange-direct: edge stuck -> working on request":                          "a rescued task can only be sent to review",
	"orange-direct: count of checking -> agent-review on request":              "a rescued task has no second review",
	"orange-direct: request of reviewing -> done on request+tracker":           "only the forge's news of the merge finishes a task",
	"orange-direct: tracker pr:merged of reviewing -> done on request+tracker": "a person must say that it was merged",
}

// TestTakingAnythingOutIsNoticed removes every single edge, gate, exit rule and bound from the
// built-in workflows. Each time either the check or the search must report it, or the part must
// be in the list above. The larger built-ins have too many states for that, and only make soak
// does it for orange; all are made of the same parts.
func TestTakingAnythingOutIsNoticed(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{"orange", "orange-direct"} {
		def := load(t, name)
		for _, m := range mutants(def) {
			seen[name+": "+m.name] = true
			t.Run(name+"/"+m.name, func(t *testing.T) {
				if name == "orange" {
					testneeds.Soak(t)
				}
				t.Parallel()
				mutant, err := def.WithEdits(m.change)
				if err != nil {
					return // the file does not load
				}
				noticed := len(mutant.Check()) > 0
				if !noticed {
					noticed = !verify.Verify(mutant, verify.SearchOptions{PendingLimit: 2, First: true}).OK
				}
				why, listed := optional[name+": "+m.name]
				switch {
				case !noticed && !listed:
					t.Errorf("nobody notices")
				case noticed && listed:
					t.Errorf("it is noticed, and listed as optional: %s", why)
				}
			})
		}
	}
	for name := range optional {
		if !seen[name] {
			t.Errorf("%s is listed as optional and is not in the workflow", name)
		}
	}
}

type mutant struct {
	name   string
	change func(*workflow.Definition)
}

func mutants(def *workflow.Definition) []mutant {
	var out []mutant
	add := func(name string, change func(*workflow.Definition)) { out = append(out, mutant{name, change}) }
	for i := range def.Edges {
		e := &def.Edges[i]
		for _, from := range e.From {
			add(fmt.Sprintf("edge %s", edgeName(e, from)), func(d *workflow.Definition) { removeEdge(d, i, from) })
		}
		label := edgeName(e, strings.Join(e.From, "+"))
		for k, gate := range e.Gates {
			add(fmt.Sprintf("gate %s of %s", gate, label), func(d *workflow.Definition) { d.Edges[i].Gates = slices.Delete(d.Edges[i].Gates, k, k+1) })
		}
		for k, tr := range e.On {
			if len(e.On) > 1 {
				add(fmt.Sprintf("%s of %s", strings.TrimSpace(string(tr.Kind)+" "+tr.Value), label), func(d *workflow.Definition) { d.Edges[i].On = slices.Delete(d.Edges[i].On, k, k+1) })
			}
		}
		if e.When != nil {
			add("guard of "+label, func(d *workflow.Definition) { d.Edges[i].When = nil })
		}
		if len(e.Count) > 0 {
			add("count of "+label, func(d *workflow.Definition) { d.Edges[i].Count = nil })
		}
	}
	for i := range def.States {
		if s := &def.States[i]; s.Wall > 0 {
			add("deadline of "+s.Name, func(d *workflow.Definition) { d.States[i].Wall = 0 })
		}
	}
	for i := range def.Gates {
		if g := &def.Gates[i]; g.Fresh == workflow.FreshUnused || g.Fresh == workflow.FreshVisit {
			add("freshness of "+g.Name, func(d *workflow.Definition) { d.Gates[i].Fresh = workflow.FreshOff })
		}
	}
	for i := range def.Counters {
		if c := &def.Counters[i]; c.Crashes {
			add("crash bound", func(d *workflow.Definition) { d.Counters[i].Crashes = false })
		}
	}
	return out
}

func edgeName(e *workflow.Edge, from string) string {
	var on []string
	for _, tr := range e.On {
		on = append(on, string(tr.Kind))
	}
	return fmt.Sprintf("%s -> %s on %s", from, e.To, strings.Join(on, "+"))
}

func removeEdge(d *workflow.Definition, i int, from string) {
	e := &d.Edges[i]
	e.From = slices.DeleteFunc(e.From, func(s string) bool { return s == from })
	if len(e.From) == 0 {
		d.Edges = slices.Delete(d.Edges, i, i+1)
	}
}
