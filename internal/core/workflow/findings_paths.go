package workflow

import "slices"

// checkPaths checks the graph as a whole: every state is reachable, and every task can end.
func (c *checker) checkPaths() {
	if len(c.d.edgesFrom[New]) == 0 {
		c.reportError(RuleNoEntry, c.d.States[0].Pos, "no edge is from: new, so no task can begin: add {from: new, to: %s, on: create, by: [human]}", c.d.States[0].Name)
	} else {
		c.checkReachable()
	}
	c.deadEnds()
}

func (c *checker) checkReachable() {
	reached := c.d.reachableStates([]string{New}, c.d.nextStates)
	for i := range c.d.States {
		if s := &c.d.States[i]; !reached[s.Name] {
			c.reportError(RuleUnreachable, s.Pos, "no path of edges leads from new to state %s: add an edge to it, or drop it", s.Name)
		}
	}
}

func (c *checker) deadEnds() {
	var ends []string
	for i := range c.d.States {
		if c.d.States[i].Kind == Terminal {
			ends = append(ends, c.d.States[i].Name)
		}
	}
	if len(ends) == 0 {
		c.reportError(RuleDeadEnd, c.d.States[0].Pos, "no state is terminal, so no task ever ends: add one with kind: terminal")
		return
	}
	saved := c.d.reachableStates(ends, c.d.previousStates)
	for i := range c.d.States {
		s := &c.d.States[i]
		switch {
		case saved[s.Name]:
		case len(c.d.nextStates(s.Name)) == 0:
			c.reportError(RuleDeadEnd, s.Pos, "no edge leaves state %s: add one, or make it kind: terminal", s.Name)
		default:
			c.reportError(RuleDeadEnd, s.Pos, "no path of edges leads from state %s to a terminal state: add an edge on the way out", s.Name)
		}
	}
}

// reachableStates returns every state that steps lead to from the given ones.
func (d *Definition) reachableStates(from []string, steps func(string) []string) map[string]bool {
	seen := make(map[string]bool, len(d.States)+1)
	for queue := slices.Clone(from); len(queue) > 0; queue = queue[1:] {
		if seen[queue[0]] {
			continue
		}
		seen[queue[0]] = true
		queue = append(queue, steps(queue[0])...)
	}
	return seen
}

// nextStates returns the states that edges and reopen lead to from state.
func (d *Definition) nextStates(state string) []string {
	var out []string
	for _, i := range d.edgesFrom[state] {
		out = append(out, d.Edges[i].To)
	}
	if s, ok := d.StateNamed(state); ok && s.Reopen != "" {
		out = append(out, s.Reopen)
	}
	return out
}

// previousStates returns the states from which an edge or reopen leads to state, in file order.
func (d *Definition) previousStates(state string) []string { return d.sources[state] }
