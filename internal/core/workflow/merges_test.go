package workflow_test

import (
	"slices"
	"testing"

	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// Which outcomes can lead to a merge although no person does anything.
func TestEdgesThatLeadToAMerge(t *testing.T) {
	for name, want := range map[string][]string{
		"orange":        nil,
		"orange-direct": nil,
		"linear-sdlc":   {"Delivered -> Merging", "Finished -> Delivered", "Started -> Checking"},
		"joan-board":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			text, _ := builtin.Text(name)
			def, err := workflow.Parse(builtin.File(name), text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range def.Edges {
				e := &def.Edges[i]
				outcome := slices.ContainsFunc(e.On, func(tr workflow.Trigger) bool { return tr.Kind == workflow.OnOutcome })
				if !outcome || !def.LeadsToMerge(e) {
					continue
				}
				for _, from := range e.From {
					if title := from + " -> " + e.To; !slices.Contains(got, title) {
						got = append(got, title)
					}
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
