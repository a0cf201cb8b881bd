package web

import (
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/ansi"
	"orange/internal/view/overview"
)

// A taskCheck is a check of a task, as the page shows it.
type taskCheck struct {
	overview.CheckStatus
	How   string
	Class string // good, bad or busy
	Last  string // the last lines of its output
	Act   *taskAct
}

// taskChecks describes the checks of a task. In a check state the actions of the page run them again; elsewhere each can
// be run by itself.
func taskChecks(t *task.Task, row *overview.Row, now time.Time) []taskCheck {
	var out []taskCheck
	for i, c := range row.Checks {
		one := taskCheck{CheckStatus: c, How: c.Describe(now)}
		switch {
		case c.Passed():
			one.Class = "good"
		case c.Failed():
			one.Class = "bad"
		case c.InProgress():
			one.Class = "busy"
		}
		if r, ok := t.CheckResultOf(t.Checks[i].Name); ok && !c.InProgress() {
			one.Last = ansi.SafeText(r.Last)
		}
		if row.MayCheck() && row.Kind != workflow.CheckDo {
			one.Act = &taskAct{Do: engine.VerbCheck + ":" + t.Checks[i].Name, Label: "Run it again"}
			if c.State == overview.CheckNotRun {
				one.Act.Label = "Run it"
			}
		}
		out = append(out, one)
	}
	return out
}
