package verify

import (
	"crypto/sha256"
	"slices"
	"time"
)

// digest identifies a canonical world. Worlds with the same digest are considered equal.
type digest [16]byte

func (s *search) digestOf(w *world) digest {
	s.key = s.m.appendKey(w, s.key[:0])
	sum := sha256.Sum256(s.key)
	return digest(sum[:16])
}

// graph is the result so far: every world that was found and the steps between them that need
// no person. It grows level by level, so that the first path to a world is a shortest one, and
// in an order that does not depend on the number of workers.
type graph struct {
	*search
	index map[digest]int32
	nodes []node
	links []link
	costs []cost // of links, each once
	open  [3][]openWorld
	depth int32 // of open[0]
	moves int
	waits int  // worlds in which the task waits for another
	cut   bool // there is more than was searched
	loop  bool // there is an infinite loop
	chose bool // a counterexample needs something that the search chose and did not reach

	visited  []bool // states
	highest  []int  // counters
	findings []finding
}

// node is a world, and how it was first reached.
type node struct {
	parent int32
	depth  int32  // steps from the beginning
	first  uint32 // of its links
	count  uint16 // of its links
	status byte
}

// openWorld is a world that was not expanded yet.
type openWorld struct {
	at int32
	w  *world
}

// link is one step that needs no person.
type link struct {
	to   int32
	cost uint32 // index into the costs
}

// finding is a problem at the end of a shortest path to it.
type finding struct {
	problem
	at    int32   // the node in which it was found, or from which a step leads to it
	steps int32   // length of that step; 0: being there is the problem
	then  []int32 // the nodes of a loop that begins there
}

func newGraph(m *model, o SearchOptions) *graph {
	return &graph{
		search: newSearch(m, o), index: map[digest]int32{}, depth: 1, costs: []cost{{}},
		visited: make([]bool, len(m.def.States)+1), highest: make([]int, len(m.def.Counters)),
	}
}

// blockSize is how many worlds are expanded before the results are stored. It limits the memory
// for results, and is the same for any number of workers.
const blockSize = 1024

// searchAll searches everything.
func (g *graph) searchAll() {
	for i := range g.possibleCreations() {
		x := g.expandCreation(g, i)
		g.keepExpansion(&x)
	}
	searches := g.newSearches()
	for len(g.open[0])+len(g.open[1])+len(g.open[2]) > 0 && !g.cut {
		level := g.open[0]
		g.open[0] = nil
		for block := range slices.Chunk(level, blockSize) {
			g.expandBlock(searches, block)
			if g.shouldStop() {
				break
			}
		}
		g.open = [3][]openWorld{g.open[1], g.open[2], nil}
		g.depth++
	}
	for _, s := range searches {
		g.decisions += s.decisions
		for i, used := range s.used {
			g.used[i] = g.used[i] || used
		}
	}
	g.deadParts()
	g.waysOn()
	g.waysBack()
}

// newSearches returns one search per worker.
func (g *graph) newSearches() []*search {
	out := make([]*search, 1)
	if g.o.Share != nil {
		out = make([]*search, max(1, g.o.Workers))
	}
	for i := range out {
		out[i] = newSearch(g.m, g.o)
	}
	return out
}

// expandBlock expands the worlds of a block, and stores the results in their order.
func (g *graph) expandBlock(searches []*search, block []openWorld) {
	found := make([]expansion, len(block))
	work := func(part int) {
		for i := part; i < len(block); i += len(searches) {
			if g.nodes[block[i].at].depth == g.depth { // otherwise a shorter path was found, and the world was expanded
				found[i] = searches[part].expandNode(g, block[i].at, block[i].w)
			}
			block[i].w = nil
		}
	}
	if len(searches) == 1 {
		work(0)
	} else {
		g.o.Share(len(searches), work)
	}
	for i := range found {
		if g.cut {
			return
		}
		g.keepExpansion(&found[i])
		found[i] = expansion{}
	}
}

// shouldStop reports whether the search must end here.
func (g *graph) shouldStop() bool {
	if g.o.Progress != nil {
		g.o.Progress(Progress{States: len(g.nodes) - g.waits, Depth: int(g.depth)})
	}
	found := g.o.First && slices.ContainsFunc(g.findings, func(f finding) bool { return g.pathLength(&f) <= g.depth+1 })
	g.cut = g.cut || found || g.o.Stop != nil && g.o.Stop()
	return g.cut
}

// keepExpansion adds the expansion of a node to the graph.
func (g *graph) keepExpansion(x *expansion) {
	for i := range x.faults {
		g.noteFinding(finding{problem: x.faults[i].problem, at: x.at, steps: x.faults[i].steps})
	}
	first := len(g.links)
	for i := range x.arrivals {
		a := &x.arrivals[i]
		to := g.addArrival(a, x.at)
		if x.at < 0 {
			continue
		}
		if !a.waits {
			g.moves++
		}
		if to < 0 || a.human {
			continue
		}
		l := link{to: to, cost: g.costNumber(a.cost)}
		if !slices.Contains(g.links[first:], l) {
			g.links = append(g.links, l)
		}
	}
	if x.at >= 0 && len(x.arrivals) > 0 {
		n := &g.nodes[x.at]
		n.first, n.count = uint32(first), uint16(len(g.links)-first)
	}
}

// addArrival stores a world that is new, or was reached by a shorter path, and returns its
// number.
func (g *graph) addArrival(a *arrival, parent int32) int32 {
	depth := a.steps
	if parent >= 0 {
		depth += g.nodes[parent].depth
	}
	at, known := g.index[a.key]
	if known && g.nodes[at].depth <= depth {
		return at
	}
	if known {
		g.nodes[at].parent, g.nodes[at].depth = parent, depth
		g.scheduleWorld(depth, openWorld{at, a.world})
		return at
	}
	if len(g.nodes)-g.waits >= g.o.MaxStates {
		g.cut = true
		return -1
	}
	at = int32(len(g.nodes))
	g.index[a.key] = at
	status := g.m.stateNumber[a.world.t.Status]
	g.nodes = append(g.nodes, node{parent: parent, depth: depth, status: status})
	g.scheduleWorld(depth, openWorld{at, a.world})
	g.visited[status] = true
	if a.world.t.Queued {
		g.waits++
	}
	for i := range a.world.t.Counters {
		g.highest[i] = max(g.highest[i], a.world.t.Counters[i].Value)
	}
	return at
}

// scheduleWorld queues a world for expansion.
func (g *graph) scheduleWorld(depth int32, o openWorld) {
	at := depth - g.depth
	g.open[at] = append(g.open[at], o)
}

func (g *graph) costNumber(c cost) uint32 {
	at := slices.Index(g.costs, c)
	if at < 0 {
		at = len(g.costs)
		g.costs = append(g.costs, c)
	}
	return uint32(at)
}

// linksFrom returns the steps from a node that need no person.
func (g *graph) linksFrom(at int32) []link {
	n := &g.nodes[at]
	return g.links[n.first : n.first+uint32(n.count)]
}

// noteFinding records the first of the shortest paths to each kind of problem.
func (g *graph) noteFinding(f finding) {
	at := slices.IndexFunc(g.findings, func(have finding) bool { return have.property == f.property && have.subject == f.subject })
	switch {
	case at < 0:
		g.findings = append(g.findings, f)
	case g.pathLength(&f) < g.pathLength(&g.findings[at]):
		g.findings[at] = f
	}
}

// pathLength returns how many steps lead to a finding.
func (g *graph) pathLength(f *finding) int32 {
	if f.at < 0 {
		return f.steps
	}
	return g.nodes[f.at].depth + f.steps
}

func (g *graph) buildReport() Report {
	r := Report{
		Workflow: g.m.def.Name, States: len(g.nodes) - g.waits, Waiting: g.waits, Transitions: g.moves, Decisions: g.decisions, Complete: !g.cut,
		Violations: []Violation{},
	}
	r.Bounds = g.findBounds()
	g.tracing = true
	for i := range g.m.def.States { // no cooldown delays what a counterexample does next
		g.pace = max(g.pace, time.Second+g.m.def.States[i].Cooldown)
	}
	for _, p := range Properties() {
		for i := range g.findings {
			if f := &g.findings[i]; f.property == p {
				r.Violations = append(r.Violations, Violation{Property: p, Subject: f.subject, Message: f.message, Trace: g.traceFinding(f)})
			}
		}
	}
	r.OK = r.Complete && len(r.Violations) == 0
	return r
}
