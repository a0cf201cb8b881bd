package workflow

import "slices"

// checkUnused finds what is declared and never used.
func (c *checker) checkUnused() {
	for i := range c.d.Counters {
		if n := &c.d.Counters[i]; !n.Crashes && !n.Silence && !c.d.usesCounter(n.Name) {
			c.reportError(RuleCounterUnused, n.Pos, "counter %s is neither counted nor asked for: use it in count:, when: or a prompt, or drop it", n.Name)
		}
	}
	for i := range c.d.Gates {
		g := &c.d.Gates[i]
		if !slices.ContainsFunc(c.d.Edges, func(e Edge) bool { return slices.Contains(e.Gates, g.Name) }) {
			c.reportError(RuleGateUnused, g.Pos, "gate %s is on no edge: use it, or drop it", g.Name)
		}
	}
	for i := range c.d.Roles {
		if r := &c.d.Roles[i]; !c.d.startsRole(r.Name) {
			c.reportError(RuleRoleUnused, r.Pos, "nothing starts role %s: give it a state or a spawn_agent, or drop it", r.Name)
		}
	}
}

func (d *Definition) usesCounter(name string) bool {
	for i := range d.Edges {
		e := &d.Edges[i]
		counted := slices.ContainsFunc(e.Count, func(op CountOp) bool { return op.Counter == name })
		if counted || e.When != nil && slices.Contains(e.When.Names, name) {
			return true
		}
	}
	return slices.ContainsFunc(d.Prompts, func(p Prompt) bool { return slices.Contains(PromptVariables(p.Text), name) }) ||
		slices.ContainsFunc(d.Roles, func(r Role) bool { return slices.Contains(PromptVariables(r.Window), name) })
}

func (d *Definition) startsRole(name string) bool {
	return slices.ContainsFunc(d.States, func(s State) bool { return s.Role == name }) ||
		slices.ContainsFunc(d.allEffects(), func(e Effect) bool {
			info, _ := EffectNamed(e.Name)
			return e.Role == name && (info.Spawns || info.Notifies)
		})
}
