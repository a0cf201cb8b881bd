package cli

import (
	"fmt"
	"strings"

	"orange/internal/ui/chart"
)

// plotSimulation draws how durations and costs are distributed.
func plotSimulation(s *simulation) string {
	c := chart.Simulation{Workflow: s.Workflow, Runs: s.Runs, Seed: s.Seed, Variants: []chart.Variant{{Result: s.result, Summary: s.Summary}}}
	if s.WhatIf != nil {
		var words []string
		for _, x := range s.WhatIf.Changes {
			words = append(words, fmt.Sprintf("%s = %d", x.Counter, x.To))
		}
		c.Variants = append(c.Variants, chart.Variant{Changes: strings.Join(words, ", "), Result: s.other, Summary: s.WhatIf.Summary})
	}
	return c.SVG()
}
