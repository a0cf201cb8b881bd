package verify

import (
	"encoding/binary"
	"slices"
)

// labelled is a graph whose nodes have observations and whose steps have labels. A step with the label 0 is internal.
type labelled struct {
	seen  []observation // by node: what others can observe of a task there
	first []uint32      // by node: the first of its steps; one more than there are nodes
	steps []labelledStep
}

// labelledStep is one step of a labelled graph.
type labelledStep struct {
	label stepLabel
	to    int32
}

// stepsFrom returns the steps from a node.
func (g *labelled) stepsFrom(at int32) []labelledStep { return g.steps[g.first[at]:g.first[at+1]] }

// components finds the sets of nodes between which internal steps lead in circles, without a change of what is observed
// (Tarjan's algorithm, without recursion). They are numbered so that the targets of internal steps have lower numbers.
func (g *labelled) components() (of []int32, count int32) {
	n := len(g.seen)
	index, low := make([]int32, n), make([]int32, n)
	of = make([]int32, n)
	var stack, calls []int32
	next := slices.Clone(g.first)
	visited := int32(0)
	enter := func(at int32) {
		visited++
		index[at], low[at], of[at] = visited, visited, -1
		stack, calls = append(stack, at), append(calls, at)
	}
	for root := range int32(n) {
		if index[root] == 0 {
			enter(root)
		}
		for len(calls) > 0 {
			at := calls[len(calls)-1]
			if next[at] < g.first[at+1] {
				st := g.steps[next[at]]
				next[at]++
				switch {
				case st.label != 0 || g.seen[st.to] != g.seen[at]:
				case index[st.to] == 0:
					enter(st.to)
				case of[st.to] < 0:
					low[at] = min(low[at], index[st.to])
				}
				continue
			}
			if calls = calls[:len(calls)-1]; len(calls) > 0 {
				from := calls[len(calls)-1]
				low[from] = min(low[from], low[at])
			}
			if low[at] != index[at] {
				continue
			}
			for top := int32(-1); top != at; {
				top = stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				of[top] = count
			}
			count++
		}
	}
	return of, count
}

// collapse makes one node of the nodes of each component.
func (g *labelled) collapse(of []int32, count int32) *labelled {
	members := make([][]int32, count)
	for at, c := range of {
		members[c] = append(members[c], int32(at))
	}
	out := &labelled{seen: make([]observation, 0, count)}
	var list []uint64
	for c, nodes := range members {
		list = list[:0]
		for _, at := range nodes {
			for _, st := range g.stepsFrom(at) {
				if to := of[st.to]; st.label != 0 || to != int32(c) {
					list = append(list, uint64(st.label)<<32|uint64(to))
				}
			}
		}
		slices.Sort(list)
		out.seen = append(out.seen, g.seen[nodes[0]])
		out.first = append(out.first, uint32(len(out.steps)))
		for _, x := range slices.Compact(list) {
			out.steps = append(out.steps, labelledStep{stepLabel(x >> 32), int32(uint32(x))})
		}
	}
	out.first = append(out.first, uint32(len(out.steps)))
	return out
}

// minimized is a labelled graph in which each node stands for a class of nodes that can do the same.
type minimized struct {
	labelled
	class []int32 // by node of the graph that was minimized
}

// minimize computes the coarsest branching bisimulation of a graph, by refinement of signatures: the signature of a node is the
// set of labelled steps, with the classes to which they lead, that it can take after internal steps within its class. Nodes that
// internal steps connect in circles are made one first, so that the targets of internal steps within a class have lower numbers.
// The numbers of the classes depend only on the graph.
func (g *labelled) minimize() *minimized {
	of, count := g.components()
	p := newPartition(g.collapse(of, count))
	for p.refine() {
	}
	m := p.quotient()
	small := m.class
	m.class = make([]int32, len(of))
	for at, c := range of {
		m.class[at] = small[c]
	}
	return m
}

// partition is a partition of the nodes of a graph, with the signatures by which it was refined last.
type partition struct {
	g         *labelled
	class     []int32
	members   [][]int32 // by class, in the order of the graph
	before    [][]int32 // by node: the nodes from which a step leads there
	signature []int32   // by node
	known     map[string]int32
	texts     [][]uint64 // by signature
	dirty     []bool     // by node: its signature may have changed
}

func newPartition(g *labelled) *partition {
	n := len(g.seen)
	p := &partition{g: g, class: make([]int32, n), before: make([][]int32, n), signature: make([]int32, n), known: map[string]int32{}, dirty: make([]bool, n)}
	numbers := map[observation]int32{}
	counts := make([]int32, n)
	for _, st := range g.steps {
		counts[st.to]++
	}
	for at := range n {
		number, ok := numbers[g.seen[at]]
		if !ok {
			number = int32(len(p.members))
			numbers[g.seen[at]] = number
			p.members = append(p.members, nil)
		}
		p.class[at] = number
		p.members[number] = append(p.members[number], int32(at))
		p.signature[at], p.dirty[at], p.before[at] = -1, true, make([]int32, 0, counts[at])
	}
	for at := range n {
		for _, st := range g.stepsFrom(int32(at)) {
			p.before[st.to] = append(p.before[st.to], int32(at))
		}
	}
	return p
}

// refine computes the signatures that may have changed, splits the classes whose nodes differ, and reports whether it split one.
func (p *partition) refine() bool {
	touched := map[int32]bool{}
	for at := range int32(len(p.class)) {
		if !p.dirty[at] {
			continue
		}
		p.dirty[at] = false
		if now := p.signatureOf(at); now != p.signature[at] {
			p.signature[at] = now
			touched[p.class[at]] = true
			for _, from := range p.before[at] { // those that inherit its signature come later
				p.dirty[from] = p.dirty[from] || p.class[from] == p.class[at]
			}
		}
	}
	classes := make([]int32, 0, len(touched))
	for class := range touched {
		classes = append(classes, class)
	}
	slices.Sort(classes)
	split := false
	for _, class := range classes {
		split = p.splitClass(class) || split
	}
	return split
}

// signatureOf returns the number of the signature of a node.
func (p *partition) signatureOf(at int32) int32 {
	var list []uint64
	for _, st := range p.g.stepsFrom(at) {
		if st.label == 0 && p.class[st.to] == p.class[at] {
			list = append(list, p.texts[p.signature[st.to]]...)
			continue
		}
		list = append(list, uint64(st.label)<<32|uint64(uint32(p.class[st.to])))
	}
	slices.Sort(list)
	list = slices.Compact(list)
	key := make([]byte, 0, 8*len(list))
	for _, x := range list {
		key = binary.LittleEndian.AppendUint64(key, x)
	}
	number, ok := p.known[string(key)]
	if !ok {
		number = int32(len(p.texts))
		p.known[string(key)] = number
		p.texts = append(p.texts, list)
	}
	return number
}

// splitClass divides a class by the signatures of its nodes. The largest part keeps its number, so that few nodes have to be
// looked at again.
func (p *partition) splitClass(class int32) bool {
	parts := map[int32][]int32{}
	var found []int32
	for _, at := range p.members[class] {
		s := p.signature[at]
		if parts[s] == nil {
			found = append(found, s)
		}
		parts[s] = append(parts[s], at)
	}
	if len(found) == 1 {
		return false
	}
	largest := found[0]
	for _, s := range found {
		if len(parts[s]) > len(parts[largest]) {
			largest = s
		}
	}
	p.members[class] = parts[largest]
	for _, s := range found {
		if s == largest {
			continue
		}
		number := int32(len(p.members))
		p.members = append(p.members, parts[s])
		for _, at := range parts[s] {
			p.class[at] = number
		}
		for _, at := range parts[s] {
			p.dirty[at] = true
			for _, from := range p.before[at] {
				p.dirty[from] = true
			}
		}
	}
	return true
}

// quotient returns the graph of the classes, numbered in the order of their first nodes.
func (p *partition) quotient() *minimized {
	number := make([]int32, len(p.members))
	for i := range number {
		number[i] = -1
	}
	m := &minimized{class: make([]int32, len(p.class))}
	var example []int32
	for at, class := range p.class {
		if number[class] < 0 {
			number[class] = int32(len(example))
			example = append(example, int32(at))
		}
		m.class[at] = number[class]
	}
	for _, at := range example {
		m.seen = append(m.seen, p.g.seen[at])
		m.first = append(m.first, uint32(len(m.steps)))
		for _, x := range p.texts[p.signature[at]] {
			m.steps = append(m.steps, labelledStep{stepLabel(x >> 32), number[int32(uint32(x))]})
		}
	}
	m.first = append(m.first, uint32(len(m.steps)))
	return m
}
