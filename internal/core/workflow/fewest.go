package workflow

import (
	"slices"
	"strings"
)

// FewestRoles returns the roles whose agents every task needs that goes from a state to its end without trouble: those
// of a way with the fewest. It leaves out cancellation and ways that a person takes against the rules.
func (d *Definition) FewestRoles(from string) []string {
	type step struct {
		state string
		roles []string
	}
	seen := map[string]bool{}
	level := []step{{from, d.rolesWith(nil, from)}}
	for len(level) > 0 {
		slices.SortStableFunc(level, func(a, b step) int { return len(a.roles) - len(b.roles) })
		at := level[0]
		level = level[1:]
		key := at.state + " " + strings.Join(at.roles, ",")
		if seen[key] {
			continue
		}
		seen[key] = true
		s, ok := d.StateNamed(at.state)
		if !ok {
			continue
		}
		if s.Kind == Terminal {
			return at.roles
		}
		for _, i := range d.EdgesFrom(at.state) {
			if e := &d.Edges[i]; !e.Override && e.As != VerbCancel && !e.Hold {
				level = append(level, step{e.To, d.rolesWith(at.roles, e.To)})
			}
		}
	}
	return nil
}

// rolesWith returns roles and the one that works in a state.
func (d *Definition) rolesWith(roles []string, state string) []string {
	s, ok := d.StateNamed(state)
	if !ok || s.Kind != Agent || s.Role == "" || slices.Contains(roles, s.Role) {
		return roles
	}
	return append(slices.Clone(roles), s.Role)
}
