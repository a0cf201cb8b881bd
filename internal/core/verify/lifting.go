package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// lifting turns steps of a composition into steps of real tasks.
type lifting struct {
	g     *openGraph
	one   *minimized
	chose bool // a step needs something that the search chose and did not reach
}

// realTask is one of the tasks of a counterexample.
type realTask struct {
	w  world
	at int32 // its node
}

// liftFault returns the violation that a composition found, with the steps of real tasks that lead to it.
func (l *lifting) liftFault(c *composition, f *jointFault) (TasksViolation, error) {
	l.g.tracing, l.g.pace = true, slowest(l.g.m.def)
	var path []int32
	for number := c.parent[f.at]; number >= 0; number = c.parent[c.steps[number].from] {
		path = append(path, number)
	}
	slices.Reverse(path)
	if f.step >= 0 {
		path = append(path, f.step)
	}
	real := make([]realTask, c.tasks)
	for i := range real {
		real[i].w = world{now: origin, texts: make([]text, len(l.g.m.sections))}
	}
	who := identity // by place: the task that is there
	v := TasksViolation{Property: f.property, Pool: c.pool}
	for _, number := range path {
		st := &c.steps[number]
		steps, err := l.liftMove(real, &who, &st.move)
		if err != nil {
			return v, err
		}
		v.Trace = append(v.Trace, steps...)
		was := who
		for i := range c.tasks {
			who[st.place[i]] = was[i]
		}
	}
	subject := 0
	if f.task >= 0 && f.step < 0 {
		subject = int(who[f.task]) + 1
	}
	v.Message = describeFault(c, f, &who, subject)
	return v, nil
}

// liftMove returns the steps of real tasks that a move stands for.
func (l *lifting) liftMove(real []realTask, who *[MaxTasks]int8, m *move) ([]TaskStep, error) {
	if m.task < 0 {
		return []TaskStep{{Label: "person", Step: Step{What: "a person moves the target", Signals: []signal.Signal{}}}}, nil
	}
	number := who[m.task]
	r := &real[number]
	if m.frees {
		st := l.taskStep(int(number), r, Step{What: "a person removes what the task is after", From: r.w.t.Status, To: r.w.t.Status, After: waitsFor(l.g.m.def, &r.w.t), Signals: []signal.Signal{}})
		st.Label = "resolved"
		return []TaskStep{st}, nil
	}
	path, ok := l.findPath(r.at, m)
	if !ok {
		return nil, errors.New("a step of a composition is a step of no task: the graph was minimized wrongly")
	}
	var out []TaskStep
	for _, raw := range path {
		was := l.g.seen[r.at]
		step, err := l.followStep(r, raw)
		if err != nil {
			return nil, err
		}
		st := l.taskStep(int(number), r, step)
		st.Label = raw.label.name(was, l.g.seen[r.at])
		out = append(out, st)
	}
	if first := &out[0]; m.after >= 0 && first.From == workflow.New {
		first.What += fmt.Sprintf("; it is after task %d", who[m.after]+1)
	}
	return out, nil
}

// taskStep returns a step with what can be observed of its task afterwards.
func (l *lifting) taskStep(number int, r *realTask, step Step) TaskStep {
	o := l.g.m.observe(&r.w)
	return TaskStep{Task: number + 1, Step: step, Workspace: o&hasWorkspace != 0, Queued: o&isQueued != 0, Landing: o&isLanding != 0}
}

// findPath finds a shortest path of a task from a node: internal steps within its class, and then the step of the move.
func (l *lifting) findPath(start int32, m *move) ([]labelledStep, bool) {
	type found struct {
		from int32
		step labelledStep
	}
	from := map[int32]found{start: {from: -1}}
	queue := []int32{start}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, st := range l.g.stepsFrom(at) {
			hidden := st.label &^ hiddenLabels
			if hidden == m.label && l.one.class[st.to] == m.to && (hidden != 0 || l.one.class[at] != m.to) {
				path := []labelledStep{st}
				for ; from[at].from >= 0; at = from[at].from {
					path = append(path, from[at].step)
				}
				slices.Reverse(path)
				return path, true
			}
			if _, known := from[st.to]; !known && hidden == 0 && l.one.class[st.to] == l.one.class[at] {
				from[st.to] = found{at, st}
				queue = append(queue, st.to)
			}
		}
	}
	return nil, false
}

// followStep takes the step of a real task that leads to a node. The graph contains canonical worlds: a step of one of them is a
// step of every world that it stands for, with other numbers.
func (l *lifting) followStep(r *realTask, raw labelledStep) (Step, error) {
	g := l.g
	for _, forget := range [...]func(*world){func(*world) {}, g.m.forgetPast, g.m.makeCanonical} {
		var took *openStep
		visit := func(st openStep) {
			if took != nil || st.label != raw.label {
				return
			}
			c := st.next.copy()
			g.m.makeCanonical(&c)
			if number, known := g.index[g.digestOf(&c)]; known && number == raw.to {
				action, next, made := *st.action, *st.next, *st.made
				took = &openStep{&action, st.answer, st.label, &next, &made}
			}
		}
		if r.at == 0 {
			g.visitCreations(visit)
		} else {
			forget(&r.w)
			g.visitOpenSteps(&r.w, visit)
		}
		if took == nil {
			continue
		}
		what, from := "a person creates the task", workflow.New
		if r.at != 0 {
			what, from = whatHappens(&r.w, took.action)+describeChoices(g.m, took.action.choice), r.w.t.Status
		}
		step := g.stepOf(what+took.answer.describe(), from, took.next, took.made)
		r.w, r.at, l.chose = *took.next, raw.to, l.chose || g.m.isChosen(took.action)
		return step, nil
	}
	return Step{}, errors.New("a step of a counterexample cannot be taken")
}

// describe returns what others deny, in words.
func (a answer) describe() string {
	switch {
	case a.full:
		return "; no workspace is free"
	case len(a.busy) > 0:
		return "; another task is at " + strings.Join(a.busy, ", ")
	case a.unmet:
		return "; the task that it is after has not landed"
	}
	return ""
}

// labelLand is the name of the step that moves the target.
const labelLand = "land"

// name returns what a step is for other tasks, "" if nothing.
func (l stepLabel) name(was, is observation) string {
	switch {
	case l&landTask != 0:
		return labelLand
	case l&checkPass != 0:
		return "check-pass"
	case l&checkFail != 0:
		return "check-fail"
	case l&(giveBack|retryTask) != 0:
		return "return"
	case l&endsTask != 0 || was&^is&isLanding != 0:
		return "abort"
	case l&needsUnmet != 0:
		return "wait"
	case l.isDenial():
		return "denied"
	case l&needsFree != 0 || l.tokens() != 0:
		return "acquire"
	case was&^is&hasWorkspace != 0:
		return "release"
	case is&^was&isLanding != 0:
		return "enqueue"
	case l&byPerson != 0:
		return "person"
	}
	return ""
}

// describeFault says what is wrong, for people.
func describeFault(c *composition, f *jointFault, who *[MaxTasks]int8, subject int) string {
	j := &c.joints[f.at]
	switch f.property {
	case NoDeadlock:
		var waiting []int
		for i := range int8(c.tasks) {
			if c.seen(j, i).waits() {
				waiting = append(waiting, int(who[i])+1)
			}
		}
		slices.Sort(waiting)
		if len(waiting) == 1 {
			return fmt.Sprintf("task %d waits for others, nothing moves on, and nobody is asked", waiting[0])
		}
		return fmt.Sprintf("tasks %s wait for each other, nothing moves on, and nobody is asked", strings.Trim(strings.ReplaceAll(fmt.Sprint(waiting), " ", " and "), "[]"))
	case LandsOrReturns:
		return fmt.Sprintf("the work of task %d neither lands nor comes to an agent again, unless a person cancels it", subject)
	case NoStarvation:
		return fmt.Sprintf("task %d waits for its turn and never gets it, whatever people do with the others", subject)
	case OneWorkspaceEach:
		return fmt.Sprintf("%d tasks have a workspace, and the pool has %d: two of them share one", c.heldBy(j), c.pool)
	}
	return "the target moves to a tree on which no check ran, because it had moved after the checks"
}

// Replay sends the signals of each task to the engine again, and returns an error if a task does not get where the counterexample
// says.
func (v *TasksViolation) Replay(def *workflow.Definition) error {
	m := newModel(def, SearchOptions{open: true, exactChecks: true})
	records := map[int]task.Task{}
	for i, st := range v.Trace {
		if st.Task == 0 {
			continue
		}
		t := records[st.Task]
		if st.Label == labelLand && !(t.Landing.InProgress() && t.Landing.Checked) {
			return fmt.Errorf("step %d lands task %d, whose candidate did not pass its checks", i+1, st.Task)
		}
		for _, sig := range st.Signals {
			next, err := journal.Fold(t, engine.Decide(def, &t, sig).Entries)
			if err != nil {
				return err
			}
			t = next
		}
		records[st.Task] = t
		if now := waitsFor(def, &t); now != st.After {
			return fmt.Errorf("step %d (%s) leads task %d to %s, and the search to %s", i+1, st.What, st.Task, now, st.After)
		}
		if name, now, then := differentCounter(countersOf(&t), st.Counters); name != "" {
			return fmt.Errorf("step %d (%s) leaves %s of task %d at %d, and the search at %d", i+1, st.What, name, st.Task, now, then)
		}
		o := m.observe(&world{t: t})
		if o&hasWorkspace != 0 != st.Workspace || o&isQueued != 0 != st.Queued || o&isLanding != 0 != st.Landing {
			return fmt.Errorf("after step %d (%s) the engine disagrees about what task %d has", i+1, st.What, st.Task)
		}
	}
	return nil
}
