package verify

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/workflow"
)

// DefaultTasks is how many tasks are composed if nothing else is said.
const DefaultTasks = 3

// tasksPendingLimit is the limit of pending effects while an actor requests another move, when tasks are composed.
const tasksPendingLimit = 1

// pools are the sizes of the pool of workspaces with which tasks are composed.
var pools = [...]int{1, 2}

// TasksReport is the result of a search of several tasks of one workflow.
type TasksReport struct {
	OK         bool             `json:"ok"`
	Workflow   string           `json:"workflow"`
	Tasks      int              `json:"tasks"`
	States     int              `json:"states"`    // of one task, whatever it shares with others answers
	Decisions  int              `json:"decisions"` // calls of engine.Decide
	Classes    int              `json:"classes"`   // of these states, as other tasks see them
	Together   []Together       `json:"together"`
	Complete   bool             `json:"complete"`            // false: there are more states than were searched
	Condition  string           `json:"condition,omitempty"` // why nothing is claimed about several tasks; "" if it holds
	Violations []TasksViolation `json:"violations"`
}

// Together is how much tasks can do together, with a pool of some workspaces.
type Together struct {
	Pool        int `json:"pool"`
	States      int `json:"states"`
	Transitions int `json:"transitions"`
}

// TasksViolation is a property of several tasks that does not hold, with a way to the violation.
type TasksViolation struct {
	Property Property   `json:"property"`
	Pool     int        `json:"pool"` // workspaces
	Message  string     `json:"message"`
	Trace    []TaskStep `json:"trace"`
}

// TaskStep is a step of one of several tasks.
type TaskStep struct {
	Task  int    `json:"task"`            // from 1; 0: somebody moves the target
	Label string `json:"label,omitempty"` // what it is for the others; "" if nothing
	Step
	Workspace bool `json:"workspace"` // the task then has a workspace
	Queued    bool `json:"queued"`    // it then waits for its turn
	Landing   bool `json:"landing"`   // it is then in the landing queue
}

// VerifyTasks searches everything that several tasks of a workflow can do together. It searches one task with every answer that
// others can give, makes it as small as possible, and composes it. A counterexample consists of steps of real tasks that
// the engine plays again. One that it does not play is an error of the search.
func VerifyTasks(def *workflow.Definition, tasks int, o SearchOptions) (TasksReport, error) {
	if tasks < 1 || tasks > MaxTasks {
		return TasksReport{}, fmt.Errorf("%d tasks cannot be composed: give a number from 1 to %d", tasks, MaxTasks)
	}
	if o.Decide == nil {
		o.Decide = engine.Decide
	}
	if o.MaxStates == 0 {
		o.MaxStates = DefaultMaxStates
	}
	if o.PendingLimit == 0 {
		o.PendingLimit = tasksPendingLimit
	}
	if n := len(serialGroups(def)); n > maxGroups {
		return TasksReport{}, fmt.Errorf("workflow %s has %d serial groups: more than %d are not composed", def.Name, n, maxGroups)
	}
	g := newOpenGraph(def, o)
	r := TasksReport{Workflow: def.Name, Tasks: tasks, States: len(g.seen) - 1, Decisions: g.decisions, Complete: !g.cut, Together: []Together{}, Violations: []TasksViolation{}}
	if r.Complete {
		r.Condition = g.findLoop()
	}
	if !r.Complete || r.Condition != "" {
		return r, nil
	}
	shared, enabled := g.hidePeople()
	one := shared.minimize()
	r.Classes = len(one.seen)
	l := &lifting{g: g, one: one}
	for _, pool := range pools {
		c := compose(one, enabled, tasks, pool, o)
		r.Together = append(r.Together, Together{Pool: pool, States: len(c.joints), Transitions: len(c.steps)})
		r.Complete = r.Complete && !c.cut
		for _, f := range c.faults {
			if slices.ContainsFunc(r.Violations, func(v TasksViolation) bool { return v.Property == f.property }) {
				continue
			}
			v, err := l.liftFault(c, &f)
			if err == nil {
				err = v.Replay(def)
			}
			if (err != nil || l.chose) && !o.exactChecks { // it may need failures that the search chose and did not count
				o.exactChecks = true
				return VerifyTasks(def, tasks, o)
			}
			if err != nil {
				return r, fmt.Errorf("the search found a violation of %s that the engine does not play: %w", f.property, err)
			}
			r.Violations = append(r.Violations, v)
		}
	}
	slices.SortStableFunc(r.Violations, func(a, b TasksViolation) int {
		return slices.Index(TaskProperties(), a.Property) - slices.Index(TaskProperties(), b.Property)
	})
	r.OK = r.Complete && len(r.Violations) == 0
	return r, nil
}

// findLoop returns what is wrong if a task can go on for ever by itself. Then it cannot be composed: another task that waits for
// it would count as one that moves on. A step that others deny may be repeated, and what ends a landing comes from outside.
func (g *openGraph) findLoop() string {
	alone := &labelled{seen: make([]observation, len(g.seen)), first: g.first, steps: slices.Clone(g.steps)}
	for i, st := range g.steps {
		if alone.steps[i].label = 1; st.label&byPerson == 0 && !st.label.isDenial() && !st.label.isLanding() {
			alone.steps[i].label = 0
		}
	}
	of, count := alone.components()
	size := make([]int32, count)
	for _, c := range of {
		size[c]++
	}
	for at := range of {
		if size[of[at]] == 1 && !slices.Contains(alone.stepsFrom(int32(at)), labelledStep{0, int32(at)}) {
			continue
		}
		var states []string
		for k := range g.m.def.States {
			if slices.ContainsFunc(nodesOf(of, of[at]), func(n int32) bool { return int(g.status[n]) == k+1 }) {
				states = append(states, g.m.def.States[k].Name)
			}
		}
		return fmt.Sprintf("terminates does not hold: it can loop forever in %s without a person or a counter", strings.Join(states, ", "))
	}
	return ""
}

// nodesOf returns the nodes of a component.
func nodesOf(of []int32, component int32) []int32 {
	var out []int32
	for at, c := range of {
		if c == component {
			out = append(out, int32(at))
		}
	}
	return out
}

// slowest returns a pace at which no cooldown delays what a counterexample does next.
func slowest(def *workflow.Definition) time.Duration {
	pace := time.Second
	for i := range def.States {
		pace = max(pace, time.Second+def.States[i].Cooldown)
	}
	return pace
}
