package builtin_test

import (
	"testing"

	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// TestTheRolesOfLinearSDLCLeadWhereTheirWorkEnds checks, for each kind of work, in which column it is done, where
// it leads when it passed, and whether it passes by ending. Failed work stays where it is and is held.
func TestTheRolesOfLinearSDLCLeadWhereTheirWorkEnds(t *testing.T) {
	type work struct {
		column, passed string
		auto           bool
	}
	want := map[string]work{
		"development":             {"Started", "Finished", true},
		"qa":                      {"Finished", "Delivered", false},
		"acceptance":              {"Delivered", "Accepted", false},
		"qa-coordination":         {"Finished", "Delivered", false},
		"acceptance-coordination": {"Delivered", "Accepted", false},
	}
	text, _ := builtin.Text("linear-sdlc")
	def, err := workflow.Parse("linear-sdlc.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	def = def.ForTask(nil)
	got := map[string]work{}
	for _, state := range def.States {
		if state.Kind == workflow.Agent {
			passed, auto := endsOf(t, def, state.Name)
			got[state.Role] = work{def.ProjectedColumn(state.Name), passed, auto}
		}
	}
	for role := range got {
		if _, ok := want[role]; !ok {
			t.Errorf("%s is no kind of work", role)
		}
	}
	for role, w := range want {
		if got[role] != w {
			t.Errorf("%s: %+v, want %+v", role, got[role], w)
		}
	}
}

// endsOf returns where the first edge for work that passed leads, and whether the work passes by ending.
func endsOf(t *testing.T, def *workflow.Definition, state string) (passed string, auto bool) {
	t.Helper()
	for _, i := range def.EdgesFrom(state) {
		edge := &def.Edges[i]
		for _, on := range edge.On {
			auto = auto || on.Kind == workflow.OnExit
			switch {
			case on.Kind == workflow.OnOutcome && on.Value == "PASSED" && passed == "":
				passed = def.ProjectedColumn(edge.To)
			case on.Kind == workflow.OnOutcome && on.Value == "FAILED" && (edge.To != state || !edge.Hold):
				t.Errorf("failed work leads from %s to %s and is held: %v", state, edge.To, edge.Hold)
			}
		}
	}
	return passed, auto
}
