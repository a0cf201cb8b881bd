package workflow

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxCombinations = 100_000   // of values tried for one check
	maxEvaluations  = 5_000_000 // of guards in one check
)

// A domain is the set of values that the names in some guards can have in one state.
type domain struct {
	names  []string
	values [][]any
}

// searchValues tries every combination of values that the guards' names can have in a state,
// until test returns true. It returns those values as text. known is false if there are too
// many combinations.
func (c *checker) searchValues(state string, guards []*Guard, test func(Env) bool) (values string, found, known bool) {
	dm := c.domainOf(state, guards)
	size := dm.combinationCount()
	c.budget -= size * max(len(guards), 1)
	if size > maxCombinations || c.budget < 0 {
		return "", false, false
	}
	env := c.d.NewEnv()
	at := make([]int, len(dm.names))
	for {
		for i, name := range dm.names {
			env[name] = dm.values[i][at[i]]
		}
		if test(env) {
			return dm.describeValues(env), true, true
		}
		if !dm.nextCombination(at) {
			return "", false, true
		}
	}
}

func (c *checker) domainOf(state string, guards []*Guard) domain {
	var dm domain
	if s, ok := c.d.StateNamed(state); ok && s.Returns {
		dm.addName(returnTo, c.d.returnValues(state))
	}
	for _, g := range guards {
		if g == nil {
			continue
		}
		for _, name := range g.Names {
			dm.addName(name, c.d.valuesOf(state, name))
		}
	}
	return dm
}

func (dm *domain) addName(name string, values []any) {
	if !slices.Contains(dm.names, name) {
		dm.names = append(dm.names, name)
		dm.values = append(dm.values, values)
	}
}

// combinationCount returns the number of combinations, or a number above maxCombinations if
// there are more.
func (dm *domain) combinationCount() int {
	n := 1
	for _, v := range dm.values {
		if n *= len(v); n > maxCombinations {
			return n
		}
	}
	return n
}

// nextCombination advances to the next combination. It returns false after the last.
func (dm *domain) nextCombination(at []int) bool {
	for i := range at {
		if at[i]++; at[i] < len(dm.values[i]) {
			return true
		}
		at[i] = 0
	}
	return false
}

func (dm *domain) describeValues(env Env) string {
	if len(dm.names) == 0 {
		return "always"
	}
	words := make([]string, len(dm.names))
	for i, name := range dm.names {
		words[i] = fmt.Sprintf("%s = %#v", name, env[name])
	}
	return "when " + strings.Join(words, ", ")
}

// valuesOf returns the values that a name can have while a task is in state. A counter may be
// one above its bound, because only guards keep it below.
func (d *Definition) valuesOf(state, name string) []any {
	if name == returnTo {
		return d.returnValues(state)
	}
	if name == children {
		out := []any{}
		for n := range d.MostChildren() + 1 {
			out = append(out, n)
		}
		return out
	}
	c, ok := d.CounterNamed(name)
	if !ok || state == New {
		return []any{0}
	}
	out := make([]any, c.Max+2)
	for i := range out {
		out[i] = i
	}
	return out
}

// returnValues returns the values that return_to can have: the states that the task may have
// come from in a state that remembers it, and nothing elsewhere.
func (d *Definition) returnValues(state string) []any {
	out := []any{""}
	if s, ok := d.StateNamed(state); ok && s.Returns {
		for _, name := range d.previousStates(state) {
			if !slices.Contains(out, any(name)) {
				out = append(out, name)
			}
			for _, other := range d.modesBeside(name, state) {
				if !slices.Contains(out, any(other)) {
					out = append(out, other)
				}
			}
		}
	}
	return out
}

// modesBeside returns the states in which a role that asks for advice in a state may want to
// continue: its own states with a mode.
func (d *Definition) modesBeside(state, advice string) []string {
	here, ok := d.StateNamed(state)
	asks := ok && slices.ContainsFunc(d.EdgesFrom(state), func(i int) bool {
		e := &d.Edges[i]
		return e.To == advice && slices.ContainsFunc(e.On, func(tr Trigger) bool { return tr.Kind == OnConsult })
	})
	var out []string
	for i := range d.States {
		if s := &d.States[i]; asks && s.Kind == Agent && s.Role == here.Role && s.Mode != "" && !s.Returns {
			out = append(out, s.Name)
		}
	}
	return out
}

// guardHolds reports whether a guard holds. A guard that cannot be evaluated does not.
func guardHolds(g *Guard, env Env) bool {
	if g == nil {
		return true
	}
	ok, _ := g.Holds(env)
	return ok
}
