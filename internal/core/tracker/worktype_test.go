package tracker_test

import (
	"slices"
	"testing"

	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

func TestWorkTypes(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range tracker.WorkTypes() {
		if w.Name == "" || w.Suffix == "" || seen[w.Name] || seen[w.Suffix] {
			t.Errorf("%+v has no name or suffix of its own", w)
		}
		seen[w.Name], seen[w.Suffix] = true, true
		if got, ok := tracker.WorkTypeNamed(w.Name); !ok || got.Suffix != w.Suffix {
			t.Errorf("WorkTypeNamed(%s) = %+v, %v", w.Name, got, ok)
		}
		for _, status := range w.In {
			if !w.Takes(status) || w.Takes("Parked") {
				t.Errorf("%s does not begin in %s alone", w.Name, w.In)
			}
		}
	}
	if _, ok := tracker.WorkTypeNamed("gardening"); ok {
		t.Error("gardening is known")
	}
	if w, _ := tracker.WorkTypeNamed("ga-readiness"); !w.Takes("Parked") {
		t.Error("ga-readiness does not begin anywhere")
	}
	tracker.WorkTypes()[0].In[0] = "changed"
	if w := tracker.WorkTypes()[0]; w.In[0] == "changed" {
		t.Error("a caller can change the table")
	}
}

func TestWorkTypeFor(t *testing.T) {
	for status, want := range map[string]string{
		tracker.Icebox: "research", tracker.Backlog: "development", tracker.Started: "inflight", tracker.Finished: "qa",
		tracker.Delivered: "acceptance", tracker.Rejected: "refinement",
	} {
		w, ok := tracker.WorkTypeNamed(tracker.WorkTypeFor(status))
		if !ok || w.Name != want || w.Parent || !slices.Equal(w.In, []string{status}) || tracker.Ended(status) {
			t.Errorf("an issue in %s asks for %+v, want %s", status, w, want)
		}
	}
	for _, status := range []string{tracker.Accepted, tracker.Canceled, tracker.Duplicate} {
		if !tracker.Ended(status) {
			t.Errorf("%s has not ended", status)
		}
	}
	if got := tracker.WorkTypeFor("Parked"); got != "development" || tracker.Ended("Parked") {
		t.Errorf("an unknown status asks for %q", got)
	}
}

// The workflow that comes with Orange is a second place that knows where work begins and
// ends. What both know is the same.
func TestTheBuiltInWorkflowAgrees(t *testing.T) {
	text, _ := builtin.Text("linear-sdlc")
	def, err := workflow.Parse("linear-sdlc.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range def.States {
		if state.Kind != workflow.Agent {
			continue
		}
		w, ok := tracker.WorkTypeNamed(state.Role)
		if !ok {
			t.Errorf("%s is no type of work", state.Role)
			continue
		}
		if shown := def.Projected(state.Name); shown != w.Start && !(w.Start == "" && w.Takes(shown)) {
			t.Errorf("%s is done in %s, which shows as %s: want %s or one of %q", w.Name, state.Name, shown, w.Start, w.In)
		}
		agreesOn(t, def, state.Name, w)
	}
}

// agreesOn checks the ends of one work: the first way on after it passed leads to where
// it should, and a failed one stays.
func agreesOn(t *testing.T, def *workflow.Definition, state string, w tracker.WorkType) {
	t.Helper()
	passed, auto := "", false
	for _, i := range def.EdgesFrom(state) {
		edge := &def.Edges[i]
		for _, on := range edge.On {
			auto = auto || on.Kind == workflow.OnExit
			switch {
			case on.Kind == workflow.OnOutcome && on.Value == "PASSED" && passed == "":
				passed = def.Projected(edge.To)
			case on.Kind == workflow.OnOutcome && on.Value == "FAILED" && (w.Fail != "" || edge.To != state || !edge.Hold):
				t.Errorf("failed %s leads from %s to %s: want %q", w.Name, state, edge.To, w.Fail)
			}
		}
	}
	if passed != w.Pass {
		t.Errorf("passed %s leads from %s to %s, want %s", w.Name, state, passed, w.Pass)
	}
	if auto != w.Auto {
		t.Errorf("%s passes by ending: %v, want %v", w.Name, auto, w.Auto)
	}
}
