package verify

import (
	"encoding/binary"
	"maps"
	"slices"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// counterGraph is what the states, guards and counters of a file alone allow: agents, gates and effects are left out. It
// shows in little time whether another counter keeps checks, or landings, from failing as often as their bound.
type counterGraph struct {
	def    *workflow.Definition
	chosen []int // counters whose values are chosen where guards compare them, not counted
	env    workflow.Env
	places map[string]bool
	open   []counterPlace
	taken  map[takenEdge]bool
}

// counterPlace is a task in a state, with the values of its counters.
type counterPlace struct {
	state  string
	values []int
}

// takenEdge is an edge that can be taken from a state.
type takenEdge struct {
	edge int
	from string
}

// maxCounterPlaces limits the graph. A file with more places is searched with all of its counters.
const maxCounterPlaces = 100_000

// hidesNothing reports whether tasks can take the same edges if the values of these counters are chosen as if they were
// counted.
func hidesNothing(def *workflow.Definition, chosen []int) bool {
	counted, ok := findTaken(def, nil)
	if !ok {
		return false
	}
	free, ok := findTaken(def, chosen)
	return ok && maps.Equal(counted, free)
}

// findTaken returns the edges that tasks can take; not ok: there are too many places.
func findTaken(def *workflow.Definition, chosen []int) (taken map[takenEdge]bool, ok bool) {
	g := &counterGraph{def: def, chosen: chosen, env: def.NewEnv(), places: map[string]bool{}, taken: map[takenEdge]bool{}}
	g.addPlace(workflow.New, make([]int, len(def.Counters)))
	for len(g.open) > 0 && len(g.places) <= maxCounterPlaces {
		at := g.open[len(g.open)-1]
		g.open = g.open[:len(g.open)-1]
		g.leavePlace(at)
	}
	return g.taken, len(g.open) == 0
}

func (g *counterGraph) addPlace(state string, values []int) {
	key := []byte(state)
	for _, v := range values {
		key = binary.AppendVarint(key, int64(v))
	}
	if !g.places[string(key)] {
		g.places[string(key)] = true
		g.open = append(g.open, counterPlace{state, values})
	}
}

// leavePlace takes every edge that a task can take there, by itself and by a person, and lets a person decide something
// that leaves the task where it is.
func (g *counterGraph) leavePlace(at counterPlace) {
	reset := g.resetByPerson(at.values)
	g.addPlace(at.state, reset)
	state, known := g.def.StateNamed(at.state)
	if known && state.Reopen != "" {
		g.addPlace(state.Reopen, reset)
	}
	for _, i := range g.def.EdgesFrom(at.state) {
		e := &g.def.Edges[i]
		if e.AnswersTo(workflow.OnRequest, "") || e.Hold {
			g.takeEdge(i, at.state, reset)
		}
		if !known || takenAlone(e, state.Role) {
			for _, values := range g.comparedValues(e, at.values) {
				g.takeEdge(i, at.state, values)
			}
		}
	}
}

// takenAlone reports whether a task can take the edge without a person who decides. Agents of other roles may not live.
func takenAlone(e *workflow.Edge, role string) bool {
	return !e.Hold && slices.ContainsFunc(e.On, func(tr workflow.Trigger) bool {
		return tr.Kind != workflow.OnRequest || e.PermitsActor(task.Engine) || e.PermitsActor(task.Actor(role))
	})
}

func (g *counterGraph) resetByPerson(values []int) []int {
	out := slices.Clone(values)
	for i := range out {
		if g.def.Counters[i].ByPerson {
			out[i] = 0
		}
	}
	return out
}

// comparedValues returns the values with which the guard of an edge is tried: below and at the bound of a chosen counter.
func (g *counterGraph) comparedValues(e *workflow.Edge, values []int) [][]int {
	out := [][]int{values}
	for _, counter := range g.chosen {
		if c := &g.def.Counters[counter]; e.When != nil && slices.Contains(e.When.Names, c.Name) {
			atBound := slices.Clone(values)
			atBound[counter] = c.Max
			out = append(out, atBound)
		}
	}
	return out
}

// takeEdge takes an edge whose guard holds.
func (g *counterGraph) takeEdge(edge int, from string, values []int) {
	e := &g.def.Edges[edge]
	if !g.guardHolds(e, values) {
		return
	}
	g.taken[takenEdge{edge, from}] = true
	next := slices.Clone(values)
	for i := range next {
		c := &g.def.Counters[i]
		for _, op := range e.Count {
			switch {
			case op.Counter != c.Name:
			case op.Add:
				next[i] = min(next[i]+op.Value, c.Max+1)
			default:
				next[i] = op.Value
			}
		}
		if c.PerState || slices.Contains(g.chosen, i) {
			next[i] = 0
		}
	}
	g.addPlace(e.To, next)
}

// guardHolds reports whether the guard of an edge can hold. One that reads something else than the counters of edges can.
func (g *counterGraph) guardHolds(e *workflow.Edge, values []int) bool {
	if e.When == nil {
		return true
	}
	for _, name := range e.When.Names {
		at := slices.IndexFunc(g.def.Counters, func(c workflow.Counter) bool { return c.Name == name })
		if at < 0 || g.def.Counters[at].PerState || g.def.Counters[at].Crashes || g.def.Counters[at].Silence {
			return true
		}
		g.env[name] = values[at]
	}
	ok, err := e.When.Holds(g.env)
	return ok && err == nil
}
