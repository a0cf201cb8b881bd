package render

import (
	"slices"

	"orange/internal/core/workflow"
	"orange/internal/view/drawing"
)

// A graph is a workflow as it is shown to somebody who follows a task.
type graph struct {
	def    *workflow.Definition
	at     string
	chains [][]string        // successive states
	place  map[string]int    // of a state in the order of the chains
	ways   map[string][]*way // by the state they leave, in file order
	visits map[string]int    // how often the task came to a state
}

// A way is all edges from one state to another.
type way struct {
	to         string
	verbs      []string
	conditions []string
	edges      int
	taken      int
	stays      bool // the task does not move
}

func newGraph(def *workflow.Definition, at string, path []string) *graph {
	g := &graph{def: def, at: at, place: map[string]int{}, ways: map[string][]*way{}, visits: map[string]int{}}
	for i := range def.States {
		g.collectWays(&def.States[i])
	}
	for i, name := range path {
		g.visits[name]++
		if i > 0 {
			if w := g.findWay(path[i-1], name); w != nil {
				w.taken++
			}
		}
	}
	g.arrangeChains()
	return g
}

// collectWays collects the ways out of a state, one for each target.
func (g *graph) collectWays(s *workflow.State) {
	for _, i := range g.def.EdgesFrom(s.Name) {
		e := &g.def.Edges[i]
		verb, condition := drawing.EdgeLabel(e)
		g.addWay(s.Name, e.To, verb, condition, e.Hold)
	}
	if s.Reopen != "" {
		g.addWay(s.Name, s.Reopen, "reopen", "", false)
	}
}

func (g *graph) addWay(from, to, verb, condition string, stays bool) {
	w := g.findWay(from, to)
	if w == nil {
		w = &way{to: to, stays: stays}
		g.ways[from] = append(g.ways[from], w)
	}
	w.edges++
	w.stays = w.stays && stays
	if verb != "" && !slices.Contains(w.verbs, verb) {
		w.verbs = append(w.verbs, verb)
	}
	if condition != "" && !slices.Contains(w.conditions, condition) {
		w.conditions = append(w.conditions, condition)
	}
}

// findWay returns the way from one state to another, or nil.
func (g *graph) findWay(from, to string) *way {
	for _, w := range g.ways[from] {
		if w.to == to {
			return w
		}
	}
	return nil
}

// arrangeChains lines up states: each is followed by the next state of the file that it leads to.
func (g *graph) arrangeChains() {
	placed := map[string]bool{}
	put := func(chain []string) {
		for _, name := range chain {
			g.place[name] = len(g.place)
		}
		g.chains = append(g.chains, chain)
	}
	var beside []string
	for i := range g.def.States {
		name := g.def.States[i].Name
		switch {
		case placed[name]:
		case g.besidePath(i):
			beside = append(beside, name)
		default:
			var chain []string
			for at := i; at >= 0; at = g.nextOnPath(at, placed) {
				placed[g.def.States[at].Name] = true
				chain = append(chain, g.def.States[at].Name)
			}
			put(chain)
		}
	}
	for _, name := range beside {
		if !placed[name] {
			put([]string{name})
		}
	}
}

// besidePath reports whether a state is not on the main path: it is for a question, for trouble, or an end. The first
// end of the file is where the main path leads.
func (g *graph) besidePath(i int) bool {
	s := &g.def.States[i]
	if s.Kind == workflow.Terminal {
		return slices.IndexFunc(g.def.States, func(s workflow.State) bool { return s.Kind == workflow.Terminal }) != i
	}
	return s.Kind == workflow.Halt || s.Returns
}

// nextOnPath returns the next state on the main path, or -1 if there is none.
func (g *graph) nextOnPath(at int, placed map[string]bool) int {
	for i := at + 1; i < len(g.def.States); i++ {
		s := &g.def.States[i]
		if !placed[s.Name] && !g.besidePath(i) && g.findWay(g.def.States[at].Name, s.Name) != nil {
			return i
		}
	}
	return -1
}

// A branch is ways that leave a state in one direction.
type branch struct {
	heading heading
	ways    []*way
}

// heading is the direction of a way, relative to the state that it leaves.
type heading int

const (
	forward heading = iota
	back            // to what stands above it
	around          // to itself
	aside           // to where a task is stuck or over
)

// arrowSign returns the arrow of a branch.
func (b branch) arrowSign() string {
	signs := map[heading]string{forward: "→", back: "↩", around: "↻", aside: "→"}
	if b.ways[0].taken > 0 {
		signs = map[heading]string{forward: "⇒", back: "⇐", around: "⟳", aside: "⇒"}
	}
	return signs[b.heading]
}

// fewExits is how many ways of one heading are shown with their triggers.
const fewExits = 2

// listBranches lists the ways out of a state, except the one to the next. A way that was taken, or may be taken now,
// has its own line; if the others are many, they share one. Nearly every state leads to trouble and to the end: those
// ways share one as well.
func (g *graph) listBranches(name, next string) []branch {
	var single []branch
	shared := make([]branch, aside+1)
	for _, w := range g.ways[name] {
		if w.to == next {
			continue
		}
		h := g.headingOf(name, w)
		if w.taken > 0 || name == g.at {
			single = append(single, branch{h, []*way{w}})
			continue
		}
		shared[h].heading = h
		shared[h].ways = append(shared[h].ways, w)
	}
	for _, b := range shared {
		switch {
		case len(b.ways) == 0:
		case b.heading == aside || len(b.ways) > fewExits:
			single = append(single, b)
		default:
			for _, w := range b.ways {
				single = append(single, branch{b.heading, []*way{w}})
			}
		}
	}
	return single
}

func (g *graph) headingOf(from string, w *way) heading {
	to, ok := g.def.StateNamed(w.to)
	switch {
	case w.to == from:
		return around
	case ok && (to.Kind == workflow.Halt || to.Kind == workflow.Terminal):
		return aside
	case g.place[w.to] < g.place[from]:
		return back
	}
	return forward
}
