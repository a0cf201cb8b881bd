package workflow_test

import (
	"slices"
	"testing"

	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

func TestFewestRoles(t *testing.T) {
	for _, c := range []struct {
		workflow, from string
		want           []string
	}{
		{"orange", "pending", []string{"worker", "reviewer"}},
		{"orange", "agent-review", []string{"reviewer"}},
		{"orange", "reviewing", nil},
		{"orange-direct", "pending", []string{"worker", "reviewer"}},
		{"solo", "pending", []string{"worker"}},
		{"solo", "nowhere", nil},
	} {
		text, _ := builtin.Text(c.workflow)
		def, err := workflow.Parse(c.workflow+".yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := def.FewestRoles(c.from); !slices.Equal(got, c.want) {
			t.Errorf("%s from %s: got %v, want %v", c.workflow, c.from, got, c.want)
		}
	}
}
