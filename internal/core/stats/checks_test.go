package stats_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/stats"
	"orange/internal/core/task"
)

func TestGroupChecks(t *testing.T) {
	ran := func(name, outcome string, seconds int) stats.CheckFigures {
		return stats.CheckFigures{Name: name, Outcome: outcome, Duration: time.Duration(seconds) * time.Second}
	}
	got := stats.GroupChecks([]stats.TaskFigures{
		{ID: "1", Checks: []stats.CheckFigures{ran("tests", task.CheckFailed, 4), ran("tests", task.CheckPassed, 6), ran("lint", task.CheckPassed, 1)}},
		{ID: "2", Checks: []stats.CheckFigures{ran("tests", task.CheckTimeout, 8), ran("lint", task.CheckInvalid, 3)}},
		{ID: "3"},
	})
	want := []stats.CheckGroup{
		{Name: "tests", Tasks: 2, Runs: 3, Failed: 2, Time: stats.Spread{Sum: 18, Median: 6}},
		{Name: "lint", Tasks: 2, Runs: 2, NoResult: 1, Time: stats.Spread{Sum: 4, Median: 2}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
