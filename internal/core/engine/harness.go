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

// HarnessChoices lists the agents that may run a role of a task, preferred first: those of the task, else those of the
// workflow. A role without either gets one of the task's two harnesses.
func HarnessChoices(t *task.Task, role *workflow.Role) []task.Choice {
	own, review := t.OwnChoice(), t.ReviewChoice()
	standard := own
	if role.Harness == workflow.ReviewHarness {
		standard = review
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
			c = c.Resolve(own)
		case workflow.ReviewHarness:
			c = c.Resolve(review)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		out = []task.Choice{standard}
	}
	return out
}

// ChoiceOf returns the agent that an effect starts.
func ChoiceOf(t *task.Task, role *workflow.Role, e *task.Effect) task.Choice {
	if e.Choice != nil {
		return *e.Choice
	}
	return HarnessChoices(t, role)[0]
}

// choosesHarness reports whether the task or the workflow names the agent that runs a role.
func choosesHarness(t *task.Task, role *workflow.Role) bool {
	return len(role.Choices) > 0 || slices.ContainsFunc(t.Roles, func(c task.RoleChoice) bool { return c.Role == role.Name })
}

// chooseHarness returns the agent for a start of a role: the first that is installed, is not limited for longer than
// the role waits, and was not tried for this start. why says what ruled out those before it. If there is none, it
// returns the one whose limit ends first, else the preferred one, and ok is false.
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

// limitOf returns until when an agent is known to be at its limit, or zero if no limit is known.
func (d *decider) limitOf(c task.Choice) time.Time {
	for _, l := range d.t.Limits {
		if l.Choice == c.String() {
			return l.Until
		}
	}
	return time.Time{}
}

// startNext starts the role's next agent in place of one that ended, if there is one that this start has not tried. why
// says what was wrong with the one that ended. The entry already records that end.
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
	if p.ensureAgent(s); p.unavailable {
		e.Effects, e.Started = nil, nil
		return false
	}
	e.Reason += "; " + next.String() + " goes on"
	return true
}

// hasFallback reports whether another agent could replace one that is at its limit.
func (d *decider) hasFallback(role *workflow.Role, a *task.Attempt) bool {
	if a.Harness == "" {
		return false
	}
	_, _, ok := d.chooseHarness(d.t, role, withTried(a))
	return ok
}

// withTried lists the choices that the start of an attempt has tried, its own last.
func withTried(a *task.Attempt) string { return strings.TrimPrefix(a.Tried+"\n"+a.Harness, "\n") }

// RecordOf returns the record of a task that is to be created, with only the fields that select the agents of its
// roles.
func RecordOf(n *signal.New) *task.Task {
	return &task.Task{Setup: task.Setup{Harness: n.Harness, ReviewHarness: n.ReviewHarness, Effort: n.Effort, ReviewEffort: n.ReviewEffort, Model: n.Model, ReviewModel: n.ReviewModel, Roles: n.Roles}}
}
