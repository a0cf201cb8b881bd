package chart

import (
	"fmt"

	"orange/internal/core/stats"
)

// NotMeasured stands in place of a figure that nobody measured.
const NotMeasured = "not measured"

// DescribeCost returns the cost of a group for people. A cost that no harness reported is not measured; one that some
// reported is at least so much.
func DescribeCost(g *stats.Group) string {
	return describeMeasured(g.Attempts, g.CostMeasured, fmt.Sprintf("$%.2f", float64(g.Usage.CostMicroUSD)/1e6))
}

// DescribeTokens returns the tokens of a group for people, cached ones included.
func DescribeTokens(g *stats.Group) string {
	return describeMeasured(g.Attempts, g.TokensMeasured, formatShort(float64(g.Usage.InputTokens+g.Usage.OutputTokens+g.Usage.CachedTokens)))
}

func describeMeasured(attempts, measured int, figure string) string {
	switch {
	case attempts == 0:
		return "-"
	case measured == 0:
		return NotMeasured
	case measured < attempts:
		return "at least " + figure
	}
	return figure
}

// DescribeRounds returns the review rounds of a task on average.
func DescribeRounds(g *stats.Group) string {
	if g.Tasks == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(g.Rounds)/float64(g.Tasks))
}

// OutcomeName returns an outcome as a heading.
func OutcomeName(o stats.Outcome) string {
	if o == stats.Completed {
		return "no merge"
	}
	return string(o)
}
