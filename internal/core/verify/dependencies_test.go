package verify

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// A task that is after others adds the states in which it waits, and changes nothing about one that is not.
func TestDependenciesAddOnlyWaiting(t *testing.T) {
	names := []string{"solo", "orange-direct"}
	if testing.Short() {
		names = names[:1]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			text, _ := builtin.Text(name)
			def, err := workflow.Parse(builtin.File(name), text)
			if err != nil {
				t.Fatal(err)
			}
			with, without := Verify(def, SearchOptions{}), Verify(def, SearchOptions{alone: true})
			t.Logf("%d states, %d transitions, %d decisions, %d more that wait", with.States, with.Transitions, with.Decisions, with.Waiting)
			if !with.OK || with.Waiting == 0 || without.Waiting != 0 {
				t.Errorf("with dependencies ok %v and %d waiting states, without them %d: %v", with.OK, with.Waiting, without.Waiting, with.Violations)
			}
			with.Waiting = 0
			if d := cmp.Diff(without, with); d != "" {
				t.Error(d)
			}
		})
	}
}
