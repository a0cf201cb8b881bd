package verify_test

import (
	"testing"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

func load(t testing.TB, name string) *workflow.Definition {
	t.Helper()
	text, _ := builtin.Text(name)
	def, err := workflow.Parse(name+".yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func TestEveryBuiltinWorkflowVerifiesClean(t *testing.T) {
	for _, name := range builtin.Names() {
		r := verify.Verify(load(t, name), verify.Options{MaxStates: 300000})
		t.Logf("%s: %d states, %d transitions, %d decisions, bounds %+v", name, r.States, r.Transitions, r.Decisions, r.Bounds)
		if !r.Complete {
			t.Errorf("%s: the search is not complete", name)
		}
		for _, v := range r.Violations {
			t.Errorf("%s: %s: %s", name, v.Property, v.Message)
			for _, st := range v.Trace {
				t.Logf("   %s: %s -> %s (%s)", st.What, st.From, st.To, st.Why)
			}
		}
	}
}
