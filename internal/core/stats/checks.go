package stats

import (
	"cmp"
	"slices"
	"time"

	"orange/internal/core/task"
)

// CheckGroup sums up the runs of the checks of one name.
type CheckGroup struct {
	Name     string `json:"name"`
	Tasks    int    `json:"tasks"`
	Runs     int    `json:"runs"`
	Failed   int    `json:"failed"`    // runs that the work failed, by exit code or by time
	NoResult int    `json:"no_result"` // runs without a result: broken off, invalid, or not found
	Time     Spread `json:"time"`      // the median is that of the runs
}

// GroupChecks sums up the runs of checks by name, those with the most runs first.
func GroupChecks(tasks []TaskFigures) []CheckGroup {
	groups, times, last := map[string]*CheckGroup{}, map[string][]time.Duration{}, map[string]task.ID{}
	out := []CheckGroup{}
	for i := range tasks {
		for _, c := range tasks[i].Checks {
			g := groups[c.Name]
			if g == nil {
				g = &CheckGroup{Name: c.Name}
				groups[c.Name] = g
			}
			if last[c.Name] != tasks[i].ID {
				last[c.Name] = tasks[i].ID
				g.Tasks++
			}
			g.Runs++
			switch r := (task.CheckResult{Outcome: c.Outcome}); {
			case r.Failed():
				g.Failed++
			case c.Outcome != task.CheckPassed:
				g.NoResult++
			}
			times[c.Name] = append(times[c.Name], c.Duration)
		}
	}
	for name, g := range groups {
		g.Time = spreadOf(times[name])
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b CheckGroup) int { return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Name, b.Name)) })
	return out
}
