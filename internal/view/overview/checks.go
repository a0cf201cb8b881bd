package overview

import (
	"fmt"
	"slices"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// A CheckStatus is how a check of a task stands: whether it is in progress, or its newest result. Its output is in the record of the task,
// and in the log of its attempt.
type CheckStatus struct {
	Name     string        `json:"name"`
	State    string        `json:"state"`              // CheckRunning, CheckWaiting, an outcome, or CheckNotRun
	Since    time.Time     `json:"since,omitzero"`     // when it was started or wanted, or when it ended
	Duration time.Duration `json:"duration,omitempty"` // of a run that ended
	Detail   string        `json:"detail,omitempty"`   // the reason of its result
	Tree     string        `json:"tree,omitempty"`     // what the result is about
	Attempt  int           `json:"attempt,omitempty"`  // whose log holds its output
}

// States of a check besides its outcomes.
const (
	CheckRunning = "running"
	CheckWaiting = "waiting" // until no agent is in a turn
	CheckNotRun  = "not-run"
)

// ChecksOf lists the checks of a task in their order.
func ChecksOf(t *task.Task) []CheckStatus {
	var out []CheckStatus
	for i := range t.Checks {
		c := CheckStatus{Name: cleanWord(t.Checks[i].Name), State: CheckNotRun}
		if r, ok := t.CheckResultOf(t.Checks[i].Name); ok {
			c.State, c.Since, c.Duration, c.Attempt = r.Outcome, r.At, r.Duration, r.Attempt
			c.Detail, c.Tree = cleanLine(r.Detail, maxText), cleanWord(r.Tree)
		}
		if run := t.CheckRun; run != nil && run.Name == t.Checks[i].Name && t.WorkFailed == "" {
			c = CheckStatus{Name: c.Name, State: CheckWaiting, Since: run.Since}
			if a, live := t.LiveAttempt(workflow.CheckRole); live {
				c.State, c.Since, c.Attempt = CheckRunning, a.Since, a.Number
			}
		}
		out = append(out, c)
	}
	return out
}

// InProgress reports whether the check runs or waits.
func (c *CheckStatus) InProgress() bool { return c.State == CheckRunning || c.State == CheckWaiting }

// Passed reports whether the check passed when it last ran.
func (c *CheckStatus) Passed() bool { return c.State == task.CheckPassed }

// Failed reports whether the work failed the check, or the check has no result.
func (c *CheckStatus) Failed() bool { return !c.Passed() && !c.InProgress() && c.State != CheckNotRun }

// Describe returns in words how the check stands, without its name.
func (c *CheckStatus) Describe(now time.Time) string {
	switch c.State {
	case CheckNotRun:
		return "has not run"
	case CheckRunning:
		return "runs for " + humanize.FormatAge(now, c.Since)
	case CheckWaiting:
		return "waits until no agent is in a turn"
	case task.CheckPassed:
		return "passed in " + formatTook(c.Duration)
	}
	r := task.CheckResult{Outcome: c.State, Detail: c.Detail}
	if c.Duration == 0 {
		return r.DescribeOutcome()
	}
	return fmt.Sprintf("%s, in %s", r.DescribeOutcome(), formatTook(c.Duration))
}

// formatTook returns how long a command ran.
func formatTook(d time.Duration) string {
	unit := time.Second
	switch {
	case d < time.Second:
		unit = time.Millisecond
	case d < time.Minute:
		unit = time.Second / 10
	}
	return d.Round(unit).String()
}

// NotableCheck returns the check that matters most: one in progress, else the first that failed, else nil.
func (r *Row) NotableCheck() *CheckStatus {
	for _, matters := range [...]func(*CheckStatus) bool{(*CheckStatus).InProgress, (*CheckStatus).Failed} {
		for i := range r.Checks {
			if matters(&r.Checks[i]) {
				return &r.Checks[i]
			}
		}
	}
	return nil
}

// ChecksPassed reports whether the task has checks and each passed when it last ran.
func (r *Row) ChecksPassed() bool {
	return len(r.Checks) > 0 && !slices.ContainsFunc(r.Checks, func(c CheckStatus) bool { return !c.Passed() })
}

// MayCheck reports whether a person may ask for a check of the task now. In a check state all checks of the state run
// again; elsewhere one runs, and moves nothing.
func (r *Row) MayCheck() bool {
	switch r.Kind {
	case workflow.CheckDo, workflow.HumanDo, workflow.Halt, workflow.Waiting:
		return len(r.Checks) > 0 && r.Workspace != "" && (r.NotableCheck() == nil || !r.NotableCheck().InProgress())
	}
	return false
}
