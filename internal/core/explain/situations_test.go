package explain

import (
	"testing"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// Whatever state a task is in, some situation names its owner and a way to unblock it.
func TestEveryStateHasAnOwner(t *testing.T) {
	seen := map[workflow.Kind]bool{}
	for _, name := range builtin.Names() {
		text, _ := builtin.Text(name)
		def, err := workflow.Parse(builtin.File(name), text)
		if err != nil {
			t.Fatal(err)
		}
		for i := range def.States {
			s := &def.States[i]
			seen[s.Kind] = true
			tk := task.Task{ID: "abcdefghijklmnopqrstu", Project: "shop", Status: s.Name}
			tk.Visit = 1
			tk.Checks = task.Checks{{Name: "tests", Run: "make test"}}
			got := Task(def, tk, signal.Signal{})
			if got.Owner == "" || (got.Owner == nobody) != (s.Kind == workflow.Terminal) || got.Cheapest.Opens == "" {
				t.Errorf("%s, %s: owner %q because %q, unblocked by %+v", name, s.Name, got.Owner, got.Why, got.Cheapest)
			}
		}
	}
	if len(seen) != len(workflow.Kinds()) {
		t.Errorf("the built-in workflows have states of %d kinds, not of all %d", len(seen), len(workflow.Kinds()))
	}
}

func TestEverySituationSaysSomething(t *testing.T) {
	names := map[string]bool{}
	for _, s := range situations {
		if s.holds == nil || s.item == nil && s.owner == nil && s.unblock == nil || s.name == "" || names[s.name] {
			t.Errorf("situation %q says nothing, or has the name of another", s.name)
		}
		if (s.owner == nil) != (s.unblock == nil) && s.name != "waits for a workspace" {
			t.Errorf("situation %q names an owner or a way to unblock the task, but not both", s.name)
		}
		names[s.name] = true
	}
}
