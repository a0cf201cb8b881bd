package verify_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
)

// without takes edges away.
func without(what func(*workflow.Edge) bool) func(*workflow.Definition) {
	return func(d *workflow.Definition) {
		d.Edges = slices.DeleteFunc(d.Edges, func(e workflow.Edge) bool { return what(&e) })
	}
}

func untrigger(kind workflow.TriggerKind) func(*workflow.Definition) {
	return func(d *workflow.Definition) {
		for i := range d.Edges {
			e := &d.Edges[i]
			e.On = slices.DeleteFunc(slices.Clone(e.On), func(tr workflow.Trigger) bool { return tr.Kind == kind })
		}
		without(func(e *workflow.Edge) bool { return len(e.On) == 0 })(d)
	}
}

func unguard(counter string) func(*workflow.Definition) {
	return func(d *workflow.Definition) {
		for i := range d.Edges {
			if e := &d.Edges[i]; e.When != nil && strings.HasPrefix(e.When.Source, counter+" <") {
				e.When = nil
			}
		}
	}
}

// leave removes the edges by which a task leaves a state: those of a verb, or all.
func leave(from, verb string) func(*workflow.Definition) {
	return func(d *workflow.Definition) {
		for i := range d.Edges {
			if e := &d.Edges[i]; verb == "" || e.As == verb {
				e.From = slices.DeleteFunc(slices.Clone(e.From), func(s string) bool { return s == from })
			}
		}
		without(func(e *workflow.Edge) bool { return len(e.From) == 0 })(d)
	}
}

// What bounds and answers the words of agents, cards and children must be missed as
// soon as it is taken out; what is only there for people must not.
func TestAMissingGuardOfAgentTextsIsFound(t *testing.T) {
	for name, tt := range map[string]struct {
		workflow string
		change   func(*workflow.Definition)
		want     string // "" for nothing
	}{
		"no edge at the limit of silence":          {"linear-sdlc", untrigger(workflow.OnSilence), "covered Started"},
		"no edge at the limit of silence of steps": {"cmat-feature", untrigger(workflow.OnSilence), "covered "},
		"no edge for a code that nobody declared":  {"cmat-feature", untrigger(workflow.OnUnexpected), ""},
		"no bound for dispatches":                  {"joan-board", unguard("dispatches"), "terminates "},
		"no bound for consultations":               {"joan-board", unguard("consults"), "terminates "},
		"no bound for sessions":                    {"linear-sdlc", unguard("sessions"), "terminates sessions"},
		"no way to end work that is held":          {"linear-sdlc", leave("Finished", "cancel"), "stoppable Finished"},
		"no way to end a parent":                   {"linear-sdlc", leave("Coordinating", "cancel"), "stoppable Coordinating"},
		"no way out for a parent":                  {"linear-sdlc", leave("Coordinating", ""), "never-stalls Coordinating"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def, err := load(t, tt.workflow).WithEdits(tt.change)
			if err != nil {
				t.Fatal(err)
			}
			r := verify.Verify(def, verify.SearchOptions{PendingLimit: 1, First: tt.want != ""})
			if tt.want == "" && !r.OK || tt.want != "" && !found(r, tt.want) {
				t.Errorf("want %q\n%s", tt.want, story(r))
			}
		})
	}
}

func TestATraceDescribesChildrenAndFiles(t *testing.T) {
	def, err := load(t, "linear-sdlc").WithEdits(leave("Finished-parent", "cancel"))
	if err != nil {
		t.Fatal(err)
	}
	r := verify.Verify(def, verify.SearchOptions{PendingLimit: 1})
	if text := story(r); !strings.Contains(text, "a child that is far enough") || !strings.Contains(text, "a child that is not far enough") {
		t.Errorf("%s", text)
	}
	def, err = load(t, "cmat-feature").WithEdits(leave("architect", "cancel"))
	if err != nil {
		t.Fatal(err)
	}
	if text := story(verify.Verify(def, verify.SearchOptions{PendingLimit: 1})); !strings.Contains(text, "analysis_summary.md holds") || strings.Contains(text, "there is file") {
		t.Errorf("%s", text)
	}
}
