package narrate

import (
	"strings"
	"time"

	"orange/internal/core/task"
	"orange/internal/view/humanize"
)

// DescribeCondition describes the condition of a living agent. The text may contain the agent's own
// words.
func DescribeCondition(c task.Condition, now time.Time) string {
	text := c.Words()
	if !c.Until.IsZero() {
		text += " until " + humanize.FormatTime(now, c.Until)
	}
	if c.Detail != "" {
		text += ": " + c.Detail
	}
	return text
}

// DescribeCounters lists counters with their values.
func DescribeCounters(list []task.Counter) string {
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = c.DescribeCount()
	}
	return strings.Join(out, ", ")
}

// DescribeHarness names a harness with the model and the effort that were chosen for it.
func DescribeHarness(c task.Choice) string {
	if c.Harness == "" || c.Effort == "" {
		return c.String()
	}
	return c.String() + ", effort " + c.Effort
}
