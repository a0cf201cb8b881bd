package local

import (
	"fmt"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// checkBudget returns an error if the project's budget does not allow another agent. The effect is then given up with
// the reason, and a person resumes the task when the budget allows it.
func (r *Runtime) checkBudget(t *task.Task, e *task.Effect) error {
	p, ok := r.pool.findProject(t.Project)
	if !e.Start || e.Do == workflow.RunCheck || !ok || p.Budget == (task.Budget{}) {
		return nil
	}
	b, attempted := p.Budget, t.AttemptCount()
	if len(t.Checks) > 0 { // a check costs no agent
		attempted -= t.AttemptsOfRole(workflow.CheckRole)
	}
	switch {
	case b.TaskAttempts > 0 && attempted > b.TaskAttempts:
		return overBudget(t, "the task has had %d attempts of %d", attempted-1, b.TaskAttempts)
	case b.TaskMicros > 0 && t.Spent.CostMicroUSD >= b.TaskMicros:
		return overBudget(t, "the task has cost %s of %s", formatDollars(t.Spent.CostMicroUSD), formatDollars(b.TaskMicros))
	case !b.HasDailyLimit() || r.SpendQuery == nil:
		return nil
	}
	attempts, micros, err := r.SpendQuery.SpentOn(p.Name, task.DayOf(r.now()))
	switch {
	case err != nil:
		return fmt.Errorf("add up what project %s has cost today: %w", p.Name, err)
	case b.DayAttempts > 0 && attempts > b.DayAttempts: // this attempt is counted already
		return overBudget(t, "project %s has had %d attempts of %d today", p.Name, attempts-1, b.DayAttempts)
	case b.DayMicros > 0 && micros >= b.DayMicros:
		return overBudget(t, "project %s has cost %s of %s today", p.Name, formatDollars(micros), formatDollars(b.DayMicros))
	}
	return nil
}

func overBudget(t *task.Task, format string, args ...any) error {
	return task.Mistakef("budget: %s: raise it with orange project update %s, or wait; then run orange resume %s",
		fmt.Sprintf(format, args...), t.Project, t.ID)
}

func formatDollars(micros int64) string { return fmt.Sprintf("$%.2f", float64(micros)/1e6) }
