package workflow

import (
	"slices"
	"time"

	"orange/internal/core/task"
)

// CheckRole is the built-in role of checks: commands that Orange runs itself. No agent has it, and no file can name it
// as an actor.
const CheckRole = "check"

// builtinCheck is the role of the attempts that run checks.
var builtinCheck = Role{Name: CheckRole, Session: PerVisit, Access: "read-only", Describe: "runs a command of the project's owner"}

// CheckIdle is how long a check waits for the turns of agents to end in a state that sets no deadline.
const CheckIdle = 30 * time.Minute

// HasCheckStates reports whether the file has a state of kind check.
func (d *Definition) HasCheckStates() bool {
	return slices.ContainsFunc(d.States, func(s State) bool { return s.Kind == CheckDo })
}

// ForTask returns the definition that a task with these checks follows. Without checks it has no check states: an edge
// that leads to one leads where the check would have passed to. It is nil for a nil definition.
func (d *Definition) ForTask(checks task.Checks) *Definition {
	if d != nil && len(checks) == 0 && d.unchecked != nil {
		return d.unchecked
	}
	return d
}

// PassedEdge returns the edge that a passed check takes out of a state, or nil for a state of another kind.
func (d *Definition) PassedEdge(state string) *Edge {
	if s, ok := d.StateNamed(state); !ok || s.Kind != CheckDo {
		return nil
	}
	for _, i := range d.edgesFrom[state] {
		if e := &d.Edges[i]; e.AnswersTo(OnCheck, task.CheckPassed) {
			return e
		}
	}
	return nil
}

// LeadsTo reports whether a request for a state means the edge: it leads there, or to the check before it.
func (d *Definition) LeadsTo(e *Edge, state string) bool {
	if e.To == state {
		return true
	}
	passed := d.PassedEdge(e.To)
	return passed != nil && passed.To == state && !slices.ContainsFunc(e.From, func(from string) bool { return d.leadsDirectly(from, state) })
}

// leadsDirectly reports whether an edge on request leads from one state to another.
func (d *Definition) leadsDirectly(from, to string) bool {
	return slices.ContainsFunc(d.edgesFrom[from], func(i int) bool { return d.Edges[i].To == to && d.Edges[i].AnswersTo(OnRequest, "") })
}

// StateChecks returns the checks that a state runs, in order: those that it names, or all.
func (d *Definition) StateChecks(s *State, all task.Checks) task.Checks {
	if len(s.Checks) == 0 {
		return all
	}
	var out task.Checks
	for _, name := range s.Checks {
		if c, ok := all.Named(name); ok {
			out = append(out, *c)
		}
	}
	return out
}

// NamedChecks returns the names of the checks that states and gates require, in file order.
func (d *Definition) NamedChecks() []string {
	var out []string
	add := func(name string) {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for i := range d.States {
		for _, name := range d.States[i].Checks {
			add(name)
		}
	}
	for i := range d.Gates {
		add(d.Gates[i].Check)
	}
	return out
}

// buildUnchecked builds the definition for tasks without checks. The numbers of edges stay those of the file.
func (d *Definition) buildUnchecked() {
	d.unchecked = nil
	unpassed := func(s State) bool { return s.Kind == CheckDo && d.PassedEdge(s.Name) == nil } // Check reports it
	if !d.HasCheckStates() || slices.ContainsFunc(d.States, unpassed) {
		return
	}
	u := *d
	u.States = slices.DeleteFunc(slices.Clone(d.States), func(s State) bool { return s.Kind == CheckDo })
	u.Edges, u.visitGates = slices.Clone(d.Edges), nil
	for i := range u.Edges {
		e := &u.Edges[i]
		e.From = slices.DeleteFunc(slices.Clone(e.From), func(from string) bool { return d.PassedEdge(from) != nil || d.isCheckState(from) })
		if u.returnsToNoState(e.When) {
			e.From = nil
		}
		for range d.States { // one check state may follow another
			passed := d.PassedEdge(e.To)
			if passed == nil {
				break
			}
			e.To = passed.To
			e.Count = append(slices.Clone(e.Count), passed.Count...)
			e.Do = append(slices.Clone(e.Do), passed.Do...)
		}
	}
	u.Counters = slices.DeleteFunc(slices.Clone(d.Counters), func(c Counter) bool { return d.countsChecks(&c) })
	u.Projections = slices.DeleteFunc(slices.Clone(d.Projections), func(p Projection) bool { return d.isCheckState(p.State) })
	u.indexEdges()
	d.unchecked = &u
}

// returnsToNoState reports whether a guard on return_to alone holds for no state of d.
func (d *Definition) returnsToNoState(g *Guard) bool {
	if g == nil || !slices.Equal(g.Names, []string{returnTo}) {
		return false
	}
	env := d.NewEnv()
	return !guardHolds(g, env) && !slices.ContainsFunc(d.States, func(s State) bool {
		env[returnTo] = s.Name
		return guardHolds(g, env)
	})
}

// countsChecks reports whether only edges out of check states use a counter.
func (d *Definition) countsChecks(c *Counter) bool {
	used := false
	for i := range d.Edges {
		e := &d.Edges[i]
		uses := slices.ContainsFunc(e.Count, func(op CountOp) bool { return op.Counter == c.Name }) || e.When != nil && slices.Contains(e.When.Names, c.Name)
		if uses && slices.ContainsFunc(e.From, func(from string) bool { return !d.isCheckState(from) }) {
			return false
		}
		used = used || uses
	}
	return used && !c.Crashes && !c.Silence
}

func (d *Definition) isCheckState(name string) bool {
	s, ok := d.StateNamed(name)
	return ok && s.Kind == CheckDo
}

// readChecks reads the checks of a file: NAME: COMMAND, or NAME with keys.
func (d *Definition) readChecks(v value) {
	for _, p := range v.readPairs("checks") {
		c := task.CheckDefinition{Name: declaredName(v.r, p)}
		if p.val.describeKind() != "a mapping" {
			c.Run = p.val.readText("check " + p.key)
		} else {
			for _, q := range p.val.readPairs("check " + p.key) {
				what := "check " + p.key + ": " + q.key
				switch q.key {
				case "run":
					c.Run = q.val.readText(what)
				case "timeout":
					c.Timeout = q.val.readDuration(what)
				case "retries":
					c.Retries = q.val.readInteger(what)
				case "env":
					for _, e := range q.val.readPairs(what) {
						c.Env = append(c.Env, e.key+"="+e.val.readText(what+" "+e.key))
					}
				case "folder":
					c.Folder = q.val.readText(what)
				case "setup":
					c.Setup = q.val.readText(what)
				default:
					unknownKey(v.r, q, "a check", "run", "timeout", "retries", "env", "folder", "setup")
				}
			}
		}
		if err := c.Validate(); err != nil {
			v.r.failAt(p.pos, "%v", err)
		}
		d.Checks = append(d.Checks, c)
	}
	if err := d.Checks.Validate(); err != nil {
		v.r.failAt(v.pos, "%v", err)
	}
}

// checkCheckStates checks the states of kind check: how they are left, and that no loop goes through one without a
// bound.
func (c *checker) checkCheckStates() {
	for i := range c.d.States {
		s := &c.d.States[i]
		if s.Kind != CheckDo {
			continue
		}
		passed := 0
		for _, k := range c.d.edgesFrom[s.Name] {
			e := &c.d.Edges[k]
			if e.AnswersTo(OnCheck, task.CheckPassed) {
				if passed++; e.When != nil || len(e.Gates) > 0 {
					c.reportError(RuleCheckUncovered, e.Pos, "edge %s is taken when the checks passed, or when there are none, and has a guard or a gate: put it on the edge that leads to %s", e.edgeTitle(), s.Name)
				}
			}
			if e.AnswersTo(OnCheck, task.CheckFailed) {
				c.checkLoop(s, e)
			}
		}
		if passed != 1 {
			c.reportError(RuleCheckUncovered, s.Pos, "state %s needs one edge with on: {check: passed} and has %d: give it one", s.Name, passed)
		}
		c.checkFailedCovered(s)
	}
}

// checkFailedCovered requires that an edge answers to a failed check whatever the counters are.
func (c *checker) checkFailedCovered(s *State) {
	answers := func(e *Edge) bool { return e.AnswersTo(OnCheck, task.CheckFailed) && len(e.Gates) == 0 }
	switch values, missing, some := c.findUncovered(s, answers); {
	case missing && !some:
		c.reportError(RuleCheckUncovered, s.Pos, "state %s has no edge with on: {check: failed}: add one", s.Name)
	case missing:
		c.reportError(RuleCheckUncovered, s.Pos, "no edge answers when a check fails in %s, %s: add one with on: {check: failed}", s.Name, values)
	}
}

// findUncovered searches for values of the counters with which no edge of a state answers to an event. It reports
// whether there are such values, and whether any edge answers at all.
func (c *checker) findUncovered(s *State, answers func(*Edge) bool) (values string, missing, some bool) {
	var guards []*Guard
	for _, k := range c.d.edgesFrom[s.Name] {
		if e := &c.d.Edges[k]; answers(e) {
			if e.When == nil {
				return "", false, true
			}
			guards = append(guards, e.When)
		}
	}
	if len(guards) == 0 {
		return "", true, false
	}
	values, uncovered, known := c.searchValues(s.Name, guards, func(env Env) bool {
		return !slices.ContainsFunc(guards, func(g *Guard) bool { return guardHolds(g, env) })
	})
	return values, uncovered && known, true
}

// checkLoop requires a counter on an edge from which the task can come back to the same checks without a person.
func (c *checker) checkLoop(s *State, e *Edge) {
	if c.leadsBack(s, e) && !c.isBounded(e) {
		c.reportError(RuleCheckUnbounded, e.Pos, "edge %s -> %s leads back to the checks of %s, and no counter bounds that: count one, and compare it in when:", s.Name, e.To, s.Name)
	}
}

// leadsBack reports whether a task can come back to a state, after it left by an edge, without a person and without
// an edge that a counter bounds.
func (c *checker) leadsBack(s *State, e *Edge) bool {
	back := c.d.reachableStates([]string{e.To}, func(name string) []string {
		st, ok := c.d.StateNamed(name)
		if !ok || name == s.Name || st.Kind == Waiting || st.Kind == HumanDo || st.Kind == Halt || st.Kind == Terminal {
			return nil
		}
		var out []string
		for _, k := range c.d.edgesFrom[name] {
			if next := &c.d.Edges[k]; !c.isBounded(next) {
				out = append(out, next.To)
			}
		}
		return out
	})
	return back[s.Name]
}

// isBounded reports whether an edge raises a counter that its guard compares.
func (c *checker) isBounded(e *Edge) bool {
	return e.When != nil && slices.ContainsFunc(e.Count, func(op CountOp) bool {
		return op.Add && op.Value > 0 && slices.Contains(e.When.Names, op.Counter)
	})
}

// StateBehindCheck returns where an edge leads, or the state behind the check there.
func (d *Definition) StateBehindCheck(e *Edge) string {
	if passed := d.PassedEdge(e.To); passed != nil {
		return passed.To
	}
	return e.To
}

// AskedState returns the state that a request for an edge names: where it leads to, or the state behind the check there.
func (d *Definition) AskedState(e *Edge) string {
	if e.AnswersTo(OnRequest, "") {
		return d.StateBehindCheck(e)
	}
	return e.To
}
