package engine

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// HarnessChoices lists the agents that may run a role of a task, the preferred first: those of the task, else those of the workflow. A
// role without either has one of the task's two harnesses.
func HarnessChoices(t *task.Task, role *workflow.Role) []task.Choice {
	standard := task.Choice{Harness: t.Harness, Effort: t.Effort}
	if role.Harness == workflow.ReviewHarness {
		standard = task.Choice{Harness: t.ReviewHarness, Effort: t.ReviewEffort}
	}
	var out []task.Choice
	for _, c := range t.Roles {
		if c.Role == role.Name {
			c.Effort = cmp.Or(c.Effort, standard.Effort)
			out = append(out, c.Choice())
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, c := range role.Choices {
		switch c.Harness {
		case workflow.TaskHarness:
			c.Harness, c.Effort = t.Harness, cmp.Or(c.Effort, t.Effort)
		case workflow.ReviewHarness:
			c.Harness, c.Effort = t.ReviewHarness, cmp.Or(c.Effort, t.ReviewEffort)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		out = []task.Choice{standard}
	}
	return out
}

// ChoiceOf is the agent that an effect starts.
func ChoiceOf(t *task.Task, role *workflow.Role, e *task.Effect) task.Choice {
	if e.Choice != nil {
		return *e.Choice
	}
	return HarnessChoices(t, role)[0]
}

// choosesHarness says that it is written down which agent runs a role: the task or the workflow names it.
func choosesHarness(t *task.Task, role *workflow.Role) bool {
	return len(role.Choices) > 0 || slices.ContainsFunc(t.Roles, func(c task.RoleChoice) bool { return c.Role == role.Name })
}

// chooseHarness chooses the agent for a start of a role: the first that is installed, is not at its limit for longer than the
// role waits, and was not tried for this start. Why says what kept it from those before. If there is none, it is the one whose
// limit is over first, else the preferred one, and ok is false.
func (d *decider) chooseHarness(t *task.Task, role *workflow.Role, tried string) (c task.Choice, why string, ok bool) {
	list := HarnessChoices(t, role)
	var reasons []string
	best, soonest := list[0], time.Time{}
	for _, c := range list {
		until := d.limitOf(c)
		switch {
		case slices.Contains(strings.Split(tried, "\n"), c.String()):
			reasons = append(reasons, c.String()+" was tried")
		case slices.Contains(d.sig.Missing, c.Harness):
			reasons = append(reasons, c.String()+" is not installed")
		case until.Sub(d.sig.At) > role.FallbackAfter:
			reasons = append(reasons, c.String()+" is at its limit until "+until.UTC().Format("2006-01-02 15:04"))
			if soonest.IsZero() || until.Before(soonest) {
				best, soonest = c, until
			}
		default:
			return c, strings.Join(reasons, "; "), true
		}
	}
	return best, strings.Join(reasons, "; "), false
}

// limitOf is until when an agent is known to be at its limit, zero if nobody knows of one.
func (d *decider) limitOf(c task.Choice) time.Time {
	for _, l := range d.t.Limits {
		if l.Choice == c.String() {
			return l.Until
		}
	}
	return time.Time{}
}

// startNext lets the next agent of a role go on in place of one that ended, if there is one that this start has not tried. Why
// says what was wrong with the one that ended. The entry has its end already.
func (d *decider) startNext(s *workflow.State, e *journal.Entry, gone task.Attempt, why string) bool {
	role, _ := d.def.RoleNamed(s.Role)
	if role == nil || gone.Harness == "" || gone.Role != s.Role {
		return false
	}
	tried := withTried(&gone)
	next, _, ok := d.chooseHarness(d.t, role, tried)
	if !ok {
		return false
	}
	p := d.newPlan(e)
	p.tried, p.instead = tried, gone.Harness+" "+why
	if p.ensureAgent(s); p.starved {
		e.Effects, e.Started = nil, nil
		return false
	}
	e.Reason += "; " + next.String() + " goes on"
	return true
}

// hasFallback says that another agent could go on for one that is at its limit.
func (d *decider) hasFallback(role *workflow.Role, a *task.Attempt) bool {
	if a.Harness == "" {
		return false
	}
	_, _, ok := d.chooseHarness(d.t, role, withTried(a))
	return ok
}

// withTried lists the choices that the start of an attempt has tried, its own the last.
func withTried(a *task.Attempt) string { return strings.TrimPrefix(a.Tried+"\n"+a.Harness, "\n") }

// RecordOf is the record of a task that is to be created, as far as it says which agents run its roles.
func RecordOf(n *signal.New) *task.Task {
	return &task.Task{Setup: task.Setup{Harness: n.Harness, ReviewHarness: n.ReviewHarness, Effort: n.Effort, ReviewEffort: n.ReviewEffort, Roles: n.Roles}}
}
