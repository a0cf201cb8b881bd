package verify

import (
	"slices"
	"strings"
)

// findBounds finds the loops that no person and no counter ends, and the worst cases between
// two actions of people. It works on the graph of steps that need no person; a strongly
// connected component of it is a loop.
func (g *graph) findBounds() Bounds {
	order, part := g.findComponents()
	g.reportLoops(order, part)
	roles := len(g.m.def.Roles)
	worst := make(weights, len(g.nodes)*(roles+2))
	total := make(weights, roles+2)
	for _, at := range order { // successors come first
		g.computeWorst(at, worst, part)
		total.raiseTo(worst.ofNode(at, roles))
	}
	b := Bounds{Unbounded: g.loop, Attempts: []Bound{}, Counters: []Bound{}, Crashes: int(total[roles]), Moves: int(total[roles+1])}
	if at := g.m.checks.rounds; at >= 0 {
		b.FailedChecks = g.m.def.Counters[at].Max
	}
	for i := range g.m.def.Roles {
		b.Attempts = append(b.Attempts, Bound{Name: g.m.def.Roles[i].Name, Max: int(total[i])})
	}
	for i := range g.m.def.Counters {
		highest := g.highest[i]
		if i == g.m.checks.rounds && g.visitsChecks() || i == g.m.checks.landed && highest == 0 && g.visitsLandings() {
			highest = g.m.def.Counters[i].Max
		}
		b.Counters = append(b.Counters, Bound{Name: g.m.def.Counters[i].Name, Max: highest})
	}
	return b
}

// weights are the costs of a path without a person, per node: attempts by role, crashes, moves.
type weights []int32

func (w weights) ofNode(at int32, roles int) weights {
	return w[int(at)*(roles+2) : int(at+1)*(roles+2)]
}

func (w weights) raiseTo(o weights) {
	for i := range o {
		w[i] = max(w[i], o[i])
	}
}

func (g *graph) computeWorst(at int32, known weights, part []int32) {
	roles := len(g.m.def.Roles)
	out := known.ofNode(at, roles)
	next := make(weights, roles+2)
	for _, l := range g.linksFrom(at) {
		if part[l.to] == part[at] {
			continue // a loop has no worst case: it is reported as a loop
		}
		copy(next, known.ofNode(l.to, roles))
		c := &g.costs[l.cost]
		for i := range roles {
			next[i] += int32(c.starts >> (4 * i) & 15)
		}
		if c.crash {
			next[roles]++
		}
		if c.move {
			next[roles+1]++
		}
		out.raiseTo(next)
	}
}

// reportLoops reports every component of the graph that can loop forever, where a shortest path
// leads into it.
func (g *graph) reportLoops(order, part []int32) {
	size, nearest := make([]int32, len(order)+1), make([]int32, len(order)+1)
	for at := range part {
		p := part[at]
		if size[p]++; size[p] == 1 || g.nodes[at].depth < g.nodes[nearest[p]].depth {
			nearest[p] = int32(at)
		}
	}
	reported := map[string]bool{}
	seen := make([]bool, len(order)+1)
	for i := len(order) - 1; i >= 0; i-- {
		p := part[order[i]]
		if seen[p] {
			continue
		}
		seen[p] = true
		at := nearest[p]
		round := size[p] > 1 || slices.ContainsFunc(g.linksFrom(at), func(l link) bool { return l.to == at })
		if !round {
			continue
		}
		g.loop = true
		subject := g.loopStates(at, part)
		if !reported[subject] {
			reported[subject] = true
			g.findings = append(g.findings, finding{
				problem: problem{Terminates, subject, "it can loop forever in " + subject + " without a person or a counter"},
				at:      at, then: g.goRound(at, part),
			})
		}
	}
}

// goRound returns a shortest path from a node back to itself.
func (g *graph) goRound(start int32, part []int32) []int32 {
	from := map[int32]int32{}
	queue := []int32{start}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, l := range g.linksFrom(at) {
			if _, known := from[l.to]; known || part[l.to] != part[start] {
				continue
			}
			from[l.to] = at
			queue = append(queue, l.to)
		}
	}
	path := []int32{start}
	for at := from[start]; at != start; at = from[at] {
		path = append(path, at)
	}
	slices.Reverse(path)
	return path
}

// loopStates returns the names of the states of a loop, in file order.
func (g *graph) loopStates(at int32, part []int32) string {
	in := make([]bool, len(g.m.def.States)+1)
	for n := range part {
		if part[n] == part[at] {
			in[g.nodes[n].status] = true
		}
	}
	var names []string
	for i := range g.m.def.States {
		if in[i+1] {
			names = append(names, g.m.def.States[i].Name)
		}
	}
	return strings.Join(names, ", ")
}

// findComponents finds the strongly connected components of a graph (Tarjan's algorithm,
// without recursion). order lists nodes so that the successors of a node come before it.
func (g *graph) findComponents() (order, part []int32) {
	n := len(g.nodes)
	index, low := make([]int32, n), make([]int32, n)
	part = make([]int32, n)
	onStack := make([]bool, n)
	var stack []int32
	type frame struct{ at, next int32 }
	var calls []frame
	count, parts := int32(0), int32(0)
	for root := range n {
		if index[root] != 0 {
			continue
		}
		calls = append(calls, frame{at: int32(root)})
		for len(calls) > 0 {
			f := &calls[len(calls)-1]
			v := f.at
			if f.next == 0 {
				count++
				index[v], low[v] = count, count
				stack, onStack[v] = append(stack, v), true
			}
			descended := false
			for int(f.next) < len(g.linksFrom(v)) {
				to := g.linksFrom(v)[f.next].to
				f.next++
				if index[to] == 0 {
					calls = append(calls, frame{at: to})
					descended = true
					break
				}
				if onStack[to] {
					low[v] = min(low[v], index[to])
				}
			}
			if descended {
				continue
			}
			f.next = int32(len(g.linksFrom(v))) + 1
			if low[v] == index[v] {
				parts++
				for {
					top := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					onStack[top] = false
					part[top] = parts
					order = append(order, top)
					if top == v {
						break
					}
				}
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				p := calls[len(calls)-1].at
				low[p] = min(low[p], low[v])
			}
		}
	}
	return order, part
}
