package stats

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"orange/internal/core/task"
)

// By is what tasks are grouped by.
type By string

// What tasks can be grouped by. A task belongs to one project and one workflow. It belongs to the group of every harness,
// model, role, prompt and day of the start (UTC) that one of its attempts had, and the group counts these attempts only.
const (
	ByHarness  By = "harness"
	ByModel    By = "model"
	ByWorkflow By = "workflow"
	ByRole     By = "role"
	ByPrompt   By = "prompt"
	ByProject  By = "project"
	ByDay      By = "day"
)

// Groupings lists what tasks can be grouped by.
func Groupings() []By {
	return []By{ByHarness, ByModel, ByWorkflow, ByRole, ByPrompt, ByProject, ByDay}
}

// GroupingNames lists the names of Groupings for people.
func GroupingNames() string {
	var names []string
	for _, b := range Groupings() {
		names = append(names, string(b))
	}
	return strings.Join(names, ", ")
}

// Valid reports whether tasks can be grouped by b.
func (b By) Valid() bool { return slices.Contains(Groupings(), b) }

// OfAttempts reports whether a group has attempts and not whole tasks.
func (b By) OfAttempts() bool { return b != ByWorkflow && b != ByProject }

// Names of groups whose attempts do not say what they are grouped by.
const (
	NoAgent = "(no agent yet)"
	Unknown = "(not reported)"
)

// A Group sums up tasks. Of a grouping by attempts, the figures are those of the attempts; tasks, outcomes and rounds are
// those of the tasks that they belong to.
type Group struct {
	Name     string          `json:"name"`
	Hint     string          `json:"hint,omitempty"` // of a prompt: its name
	Tasks    int             `json:"tasks"`
	Outcomes map[Outcome]int `json:"outcomes"`
	Rounds   int             `json:"review_rounds"` // of all tasks
	Attempts int             `json:"attempts"`

	Usage          task.Usage `json:"usage"`           // of the attempts that are measured: at least so much
	TokensMeasured int        `json:"tokens_measured"` // attempts whose tokens are known
	CostMeasured   int        `json:"cost_measured"`   // attempts whose cost is known

	Working Spread `json:"working"`
	Waiting Spread `json:"waiting"`
	Total   Spread `json:"total"`
}

// A Spread sums up durations, in seconds. The median is that of the tasks.
type Spread struct {
	Sum    float64 `json:"sum_seconds"`
	Median float64 `json:"median_seconds"`
}

// share is what one task contributes to a group.
type share struct {
	t        *TaskFigures
	attempts []*AttemptFigures
	time     Times
	hint     string
}

// GroupTasks sums up tasks by something, the groups with the most tasks first, or the newest days.
func GroupTasks(tasks []TaskFigures, by By) []Group {
	parts := map[string][]share{}
	var names []string
	add := func(name string, p share) {
		if parts[name] == nil {
			names = append(names, name)
		}
		parts[name] = append(parts[name], p)
	}
	for i := range tasks {
		t := &tasks[i]
		switch by {
		case ByWorkflow:
			add(t.Workflow, wholePart(t))
		case ByProject:
			add(t.Project, wholePart(t))
		default:
			addAttempts(t, by, add)
		}
	}
	out := make([]Group, 0, len(names))
	for _, name := range names {
		out = append(out, sumUp(name, parts[name]))
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		if by == ByDay {
			return cmp.Compare(b.Name, a.Name)
		}
		return cmp.Or(cmp.Compare(b.Tasks, a.Tasks), cmp.Compare(b.Attempts, a.Attempts), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// SumTasks sums up all tasks.
func SumTasks(tasks []TaskFigures) Group {
	parts := make([]share, 0, len(tasks))
	for i := range tasks {
		parts = append(parts, wholePart(&tasks[i]))
	}
	return sumUp("all", parts)
}

func wholePart(t *TaskFigures) share {
	p := share{t: t, time: t.Time}
	for i := range t.Attempts {
		p.attempts = append(p.attempts, &t.Attempts[i])
	}
	return p
}

// addAttempts adds the attempts of a task to their groups.
func addAttempts(t *TaskFigures, by By, add func(string, share)) {
	if len(t.Attempts) == 0 {
		add(NoAgent, share{t: t})
		return
	}
	mine := map[string]*share{}
	var names []string
	for i := range t.Attempts {
		a := &t.Attempts[i]
		name, hint := a.groupName(by)
		p := mine[name]
		if p == nil {
			p = &share{t: t, hint: hint}
			mine[name] = p
			names = append(names, name)
		}
		p.attempts = append(p.attempts, a)
		p.time.Working += a.Time.Working
		p.time.Waiting += a.Time.Waiting
		p.time.Total += a.Time.Total
	}
	for _, name := range names {
		add(name, *mine[name])
	}
}

func (a *AttemptFigures) groupName(by By) (name, hint string) {
	switch by {
	case ByHarness:
		name = a.Harness
	case ByModel:
		name = a.Model
	case ByRole:
		name = a.Role
	case ByPrompt:
		name, hint = a.PromptHash, a.Prompt
	case ByDay:
		name = a.Started.UTC().Format(time.DateOnly)
	}
	if name == "" {
		return Unknown, ""
	}
	return name, hint
}

func sumUp(name string, parts []share) Group {
	g := Group{Name: name, Tasks: len(parts), Outcomes: map[Outcome]int{}}
	for _, o := range Outcomes() {
		g.Outcomes[o] = 0
	}
	var work, wait, total []time.Duration
	for _, p := range parts {
		g.Hint = cmp.Or(g.Hint, p.hint)
		g.Outcomes[p.t.Outcome]++
		g.Rounds += p.t.Rounds
		for _, a := range p.attempts {
			g.Attempts++
			g.Usage = g.Usage.Plus(a.Usage)
			if a.Measured || a.NotBegun {
				g.TokensMeasured++
			}
			if a.Usage.HasCost() || a.NotBegun {
				g.CostMeasured++
			}
		}
		work, wait, total = append(work, p.time.Working), append(wait, p.time.Waiting), append(total, p.time.Total)
	}
	g.Working, g.Waiting, g.Total = spreadOf(work), spreadOf(wait), spreadOf(total)
	return g
}

func spreadOf(list []time.Duration) Spread {
	if len(list) == 0 {
		return Spread{}
	}
	slices.Sort(list)
	var sum time.Duration
	for _, d := range list {
		sum += d
	}
	mid := list[len(list)/2]
	if len(list)%2 == 0 {
		mid = (mid + list[len(list)/2-1]) / 2
	}
	return Spread{Sum: sum.Seconds(), Median: mid.Seconds()}
}
