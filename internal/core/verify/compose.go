package verify

import (
	"slices"
)

// MaxTasks is the largest number of tasks that can be composed.
const MaxTasks = 4

// What a task is after, besides the number of another task.
const (
	afterNone    = -1 // no task, or one that has landed
	afterDropped = -2 // a task that was cancelled
)

// joint is what several tasks do together. Tasks that can be exchanged are: of all orders, the smallest is kept.
type joint struct {
	class [MaxTasks]int32
	after [MaxTasks]int8
	queue [MaxTasks]int8 // the tasks that wait for their turn, the oldest first; -1 at the end
	land  [MaxTasks]int8 // the landing queue, likewise
	fresh bool           // the candidate that was checked is on the tip of the target
}

// move is a step of several tasks together.
type move struct {
	task  int8 // the one that moves, -1 if it is somebody else who moves the target
	label stepLabel
	to    int32 // the class to which it leads
	after int8  // what a new task is after
	frees bool  // a person removes what the task is after
}

// jointStep is a step between two joints of a composition.
type jointStep struct {
	from, to int32
	move     move
	place    [MaxTasks]int8 // where each task is afterwards
}

// composition is everything that some tasks of a workflow can do together.
type composition struct {
	one     *minimized
	enabled [][]stepLabel // by the number of a set: the steps that a task takes as soon as others let it
	tasks   int
	pool    int
	o       SearchOptions
	without map[Protection]bool
	orders  [][]int8 // the orders of the tasks of which the smallest is kept

	index  map[joint]int32
	joints []joint
	parent []int32 // by joint: the step by which it was found, -1 for the first
	steps  []jointStep
	cut    bool
	faults []jointFault
}

// jointFault is a property that does not hold, at a joint or at a step.
type jointFault struct {
	property Property
	at       int32
	step     int32 // -1: being there is the problem
	task     int8  // the task that it is about, -1 for all
}

// compose searches everything that tasks can do together.
func compose(one *minimized, enabled [][]stepLabel, tasks, pool int, o SearchOptions) *composition {
	c := newComposition(one, enabled, tasks, pool, o)
	c.searchAll()
	return c
}

func newComposition(one *minimized, enabled [][]stepLabel, tasks, pool int, o SearchOptions) *composition {
	c := &composition{one: one, enabled: enabled, tasks: tasks, pool: pool, o: o, without: map[Protection]bool{}, index: map[joint]int32{}, orders: permutations(tasks)}
	for _, p := range o.Without {
		c.without[p] = true
	}
	return c
}

// searchAll finds every joint, breadth first, and judges them.
func (c *composition) searchAll() {
	var j joint
	for i := range MaxTasks {
		j.after[i], j.queue[i], j.land[i] = afterNone, -1, -1
	}
	j, _ = c.canonical(&j)
	c.index[j] = 0
	c.joints, c.parent = append(c.joints, j), append(c.parent, -1)
	for at := int32(0); int(at) < len(c.joints); at++ {
		if len(c.joints) > c.o.MaxStates || at%blockSize == 0 && c.o.Stop != nil && c.o.Stop() {
			c.cut = true
			return
		}
		c.expandJoint(at)
	}
	c.judge()
}

// permutations returns all orders of n tasks.
func permutations(n int) [][]int8 {
	if n == 0 {
		return [][]int8{nil}
	}
	var out [][]int8
	for _, p := range permutations(n - 1) {
		for i := range n {
			out = append(out, slices.Insert(slices.Clone(p), i, int8(n-1)))
		}
	}
	return out
}

// canonical returns the smallest of the orders of the tasks, and where each task is in it.
func (c *composition) canonical(j *joint) (best joint, place [MaxTasks]int8) {
	first := true
	for _, order := range c.orders { // order[i] is the task that comes to place i
		if len(c.orders) > 1 && !j.isSorted(order) {
			continue
		}
		var to [MaxTasks]int8
		for i, was := range order {
			to[was] = int8(i)
		}
		next := *j
		for i, was := range order {
			next.class[i], next.after[i] = j.class[was], placeOf(&to, j.after[was])
		}
		for i := range c.tasks {
			next.queue[i], next.land[i] = placeOf(&to, j.queue[i]), placeOf(&to, j.land[i])
		}
		if first || next.compare(&best, c.tasks) < 0 {
			first, best, place = false, next, to
		}
	}
	return best, place
}

// isSorted reports whether the classes of tasks in an order do not fall.
func (j *joint) isSorted(order []int8) bool {
	for i := 1; i < len(order); i++ {
		if j.class[order[i-1]] > j.class[order[i]] {
			return false
		}
	}
	return true
}

func placeOf(to *[MaxTasks]int8, task int8) int8 {
	if task < 0 {
		return task
	}
	return to[task]
}

// compare orders joints with the same classes.
func (j *joint) compare(o *joint, tasks int) int {
	for _, pair := range [...][2][]int8{{j.after[:tasks], o.after[:tasks]}, {j.queue[:tasks], o.queue[:tasks]}, {j.land[:tasks], o.land[:tasks]}} {
		if d := slices.Compare(pair[0], pair[1]); d != 0 {
			return d
		}
	}
	return 0
}

// expandJoint takes every step of a joint.
func (c *composition) expandJoint(at int32) {
	j := c.joints[at]
	created := false
	for i := range int8(c.tasks) {
		if c.seen(&j, i)&isUncreated != 0 {
			if !created { // those that are not created yet are alike
				c.createTask(at, i)
			}
			created = true
			continue
		}
		for _, st := range c.one.stepsFrom(j.class[i]) {
			if c.isEnabled(&j, i, st.label) {
				c.takeMove(at, move{task: i, label: st.label, to: st.to})
			}
		}
		if j.after[i] != afterNone {
			c.takeMove(at, move{task: i, to: j.class[i], frees: true, label: byPerson})
		}
	}
	if head := j.land[0]; head >= 0 && j.fresh && c.seen(&j, head)&isChecked != 0 {
		c.takeMove(at, move{task: -1, label: byPerson})
	}
}

// createTask creates a task, after no other or after one that is not over.
func (c *composition) createTask(at int32, i int8) {
	j := c.joints[at]
	for _, st := range c.one.stepsFrom(j.class[i]) {
		for after := int8(afterNone); after < int8(c.tasks); after++ {
			if after != afterNone && (after == i || c.seen(&j, after)&(isUncreated|hasLanded|isCancelled) != 0) {
				continue
			}
			with := j
			if with.after[i] = after; c.isEnabled(&with, i, st.label) {
				c.takeMove(at, move{task: i, label: st.label, to: st.to, after: after})
			}
		}
	}
}

// seen returns what can be observed of a task.
func (c *composition) seen(j *joint, i int8) observation { return c.one.seen[j.class[i]] }

// enabledOf returns the steps that a task takes as soon as others let it.
func (c *composition) enabledOf(j *joint, i int8) []stepLabel {
	return c.enabled[c.seen(j, i)>>enabledShift]
}

// isEnabled reports whether others let a task take a step.
func (c *composition) isEnabled(j *joint, i int8, l stepLabel) bool {
	if !c.isGranted(j, i, l) {
		return false
	}
	if l&byTurn == 0 || l.isDenial() {
		return true
	}
	for _, k := range j.queue[:c.tasks] { // the queue ages: an older task that can go goes first
		if k == i || k < 0 {
			break
		}
		if slices.ContainsFunc(c.enabledOf(j, k), func(l stepLabel) bool { return l&byTurn != 0 && c.isGranted(j, k, l) }) {
			return false
		}
	}
	return true
}

// heldBy returns how many tasks have a workspace.
func (c *composition) heldBy(j *joint) (held int) {
	for k := range int8(c.tasks) {
		if c.seen(j, k)&hasWorkspace != 0 {
			held++
		}
	}
	return held
}

// isGranted reports whether a task gets what a step needs from others, without regard to who has waited longer.
func (c *composition) isGranted(j *joint, i int8, l stepLabel) bool {
	held, groups := c.heldBy(j), observation(0)
	for k := range int8(c.tasks) {
		if k != i {
			groups |= c.seen(j, k).groups()
		}
	}
	unmet := j.after[i] != afterNone
	switch {
	case l&needsFree != 0 && held >= c.pool && !c.without[OneWorkspace], l&needsNone != 0 && held < c.pool:
		return false
	case l.tokens()&groups != 0, l.busyTokens() != 0 && l.busyTokens()&groups == 0:
		return false
	case l&needsMet != 0 && unmet, l&needsUnmet != 0 && !unmet:
		return false
	case l.isLanding() && (j.land[0] != i || unmet):
		return false
	case l&landTask != 0:
		return j.fresh || c.without[CheckedTrees]
	case l&retryTask != 0:
		return !j.fresh
	}
	return true
}

// applyMove returns the joint to which a move leads, before tasks are exchanged.
func (c *composition) applyMove(j joint, m move) joint {
	if m.task < 0 {
		j.fresh = false
		return j
	}
	i := m.task
	if m.frees {
		j.after[i] = afterNone
		return j
	}
	was, is := c.seen(&j, i), c.one.seen[m.to]
	if was&isUncreated != 0 {
		j.after[i] = m.after
	}
	head := j.land[0] == i
	j.class[i] = m.to
	updateOrder(&j.queue, i, was&isQueued != 0, is&isQueued != 0)
	updateOrder(&j.land, i, was&isLanding != 0, is&isLanding != 0)
	switch {
	case m.label&checkPass != 0:
		j.fresh = true
	case head && (j.land[0] != i || m.label.isLanding()):
		j.fresh = false
	}
	for k := range j.after {
		switch {
		case j.after[k] != i:
		case is&hasLanded != 0:
			j.after[k] = afterNone
		case is&isCancelled != 0:
			j.after[k] = afterDropped
		}
	}
	return j
}

// updateOrder adds a task that begins to wait at the end, and takes out one that does not wait any more.
func updateOrder(list *[MaxTasks]int8, i int8, was, is bool) {
	if was == is {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(list[:]), func(k int8) bool { return k < 0 || k == i })
	if is {
		kept = append(kept, i)
	}
	for k := range list {
		if list[k] = -1; k < len(kept) {
			list[k] = kept[k]
		}
	}
}

// takeMove adds a move to the composition.
func (c *composition) takeMove(at int32, m move) {
	next, place := c.canonical(ptrTo(c.applyMove(c.joints[at], m)))
	to, known := c.index[next]
	if known && to == at && m.label.isDenial() && place == identity {
		return
	}
	number := int32(len(c.steps))
	if !known {
		to = int32(len(c.joints))
		c.index[next] = to
		c.joints, c.parent = append(c.joints, next), append(c.parent, number)
	}
	c.steps = append(c.steps, jointStep{at, to, m, place})
	if m.label&landTask != 0 && !c.joints[at].fresh {
		c.noteFault(jointFault{CheckedTreesOnly, at, number, m.task})
	}
}

// identity leaves every task where it is.
var identity = func() (out [MaxTasks]int8) {
	for i := range out {
		out[i] = int8(i)
	}
	return out
}()

func ptrTo(j joint) *joint { return &j }

// noteFault keeps the first fault of each property.
func (c *composition) noteFault(f jointFault) {
	if !slices.ContainsFunc(c.faults, func(have jointFault) bool { return have.property == f.property }) {
		c.faults = append(c.faults, f)
	}
}

// judge judges the properties of joints, in the order in which they were found.
func (c *composition) judge() {
	for at := range c.joints {
		j := &c.joints[at]
		if c.heldBy(j) > c.pool {
			c.noteFault(jointFault{OneWorkspaceEach, int32(at), -1, -1})
		}
		if c.isDeadlock(j) {
			c.noteFault(jointFault{NoDeadlock, int32(at), -1, -1})
		}
	}
	c.judgeAlways(LandsOrReturns,
		func(j *joint, i int8) bool { return c.seen(j, i)&(isLanding|isReturned) != 0 },
		func(j *joint, i int8) bool { return c.seen(j, i)&(isLanding|isReturned) == 0 },
		func(m *move, i int8) bool { return m.task != i || m.label&(endsTask|handMerge) == 0 })
	c.judgeAlways(NoStarvation,
		func(j *joint, i int8) bool { return c.seen(j, i).waits() && c.seen(j, i)&movesOn == 0 },
		c.goesOn,
		func(m *move, i int8) bool { return m.frees || m.task != i && m.label&endsTask == 0 })
}

// goesOn reports whether a task moves on without other tasks. A person is asked about one that waits for a cancelled task.
func (c *composition) goesOn(j *joint, i int8) bool {
	return c.seen(j, i)&movesOn != 0 || j.after[i] == afterDropped || slices.ContainsFunc(c.enabledOf(j, i), func(l stepLabel) bool { return c.isEnabled(j, i, l) })
}

// isDeadlock reports whether a task waits for others, and no task moves on.
func (c *composition) isDeadlock(j *joint) bool {
	waits := false
	for i := range int8(c.tasks) {
		if c.seen(j, i)&isUncreated != 0 {
			continue
		}
		waits = waits || c.seen(j, i).waits()
		if c.goesOn(j, i) {
			return false
		}
	}
	return waits
}

// judgeAlways checks that, from each joint in which something is owed to a task, steps that count lead to one in which it is not.
// A task that can always still get there gets there in the end, if people act.
func (c *composition) judgeAlways(p Property, owed, met func(*joint, int8) bool, counts func(*move, int8) bool) {
	n := c.tasks
	reached := make([]bool, len(c.joints)*n)
	var open []int
	for at := range c.joints {
		for i := range n {
			if met(&c.joints[at], int8(i)) {
				reached[at*n+i] = true
				open = append(open, at*n+i)
			}
		}
	}
	first, before := c.reverse()
	for len(open) > 0 {
		at, i := open[len(open)-1]/n, open[len(open)-1]%n
		open = open[:len(open)-1]
		for _, number := range before[first[at]:first[at+1]] {
			st := &c.steps[number]
			was := slices.Index(st.place[:n], int8(i))
			if pair := int(st.from)*n + was; !reached[pair] && counts(&st.move, int8(was)) {
				reached[pair] = true
				open = append(open, pair)
			}
		}
	}
	for at := range c.joints {
		for i := range n {
			if !reached[at*n+i] && owed(&c.joints[at], int8(i)) {
				c.noteFault(jointFault{p, int32(at), -1, int8(i)})
				return
			}
		}
	}
}

// reverse returns the steps that lead to each joint.
func (c *composition) reverse() (first, before []int32) {
	first, before = make([]int32, len(c.joints)+1), make([]int32, len(c.steps))
	for i := range c.steps {
		first[c.steps[i].to+1]++
	}
	for at := range c.joints {
		first[at+1] += first[at]
	}
	next := slices.Clone(first)
	for i := range c.steps {
		to := c.steps[i].to
		before[next[to]] = int32(i)
		next[to]++
	}
	return first, before
}
