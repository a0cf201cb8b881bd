package builtin_test

import (
	"testing"

	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

func TestEveryBuiltinWorkflowIsCleanAndNamedLikeItsFile(t *testing.T) {
	for _, name := range builtin.Names() {
		text, _ := builtin.Text(name)
		d, err := workflow.Parse(builtin.File(name), text)
		if err != nil {
			t.Fatal(err)
		}
		if d.Name != name {
			t.Errorf("%s is called %q inside", builtin.File(name), d.Name)
		}
		for _, f := range d.Check() {
			t.Error(f)
		}
	}
}

// A task without checks follows the file without its check states.
func TestEveryBuiltinWorkflowIsCleanWithoutChecks(t *testing.T) {
	for _, name := range builtin.Names() {
		text, _ := builtin.Text(name)
		d, err := workflow.Parse(builtin.File(name), text)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.ForTask(nil).Check() {
			t.Error(name, f)
		}
	}
}
