package verify

import "strings"

// bounds finds the loops that no person and no counter ends, and the worst that can
// happen between two moments at which a person acts. It walks the graph of steps that
// need no person; a part of it from which one can get back is a loop.
func (s *search) bounds() Bounds {
	order, part := components(s.edges)
	s.loops(order, part)
	roles := len(s.m.def.Roles)
	worst := make([]weights, len(s.edges))
	total := weights{attempts: make([]int, roles)}
	for _, at := range order { // what follows comes first
		worst[at] = s.worst(at, worst, part)
		total.raise(&worst[at])
	}
	b := Bounds{Unbounded: s.loop, Attempts: []Bound{}, Counters: []Bound{}, Crashes: total.crashes, Moves: total.moves}
	for i := range s.m.def.Roles {
		b.Attempts = append(b.Attempts, Bound{Name: s.m.def.Roles[i].Name, Max: total.attempts[i]})
	}
	for i := range s.m.def.Counters {
		b.Counters = append(b.Counters, Bound{Name: s.m.def.Counters[i].Name, Max: s.highest[i]})
	}
	return b
}

// weights are what a path without a person costs.
type weights struct {
	attempts       []int
	crashes, moves int
}

func (w *weights) raise(o *weights) {
	for i := range o.attempts {
		w.attempts[i] = max(w.attempts[i], o.attempts[i])
	}
	w.crashes, w.moves = max(w.crashes, o.crashes), max(w.moves, o.moves)
}

func (s *search) worst(at int32, known []weights, part []int32) weights {
	out := weights{attempts: make([]int, len(s.m.def.Roles))}
	for _, l := range s.edges[at] {
		if part[l.to] == part[at] {
			continue // a loop has no worst case: it is reported as such
		}
		next := weights{attempts: make([]int, len(out.attempts)), crashes: known[l.to].crashes, moves: known[l.to].moves}
		for i := range next.attempts {
			next.attempts[i] = known[l.to].attempts[i] + int(l.starts>>(4*i)&15)
		}
		if l.crash {
			next.crashes++
		}
		if l.move {
			next.moves++
		}
		out.raise(&next)
	}
	return out
}

// loops reports every part of the graph that can go round for ever.
func (s *search) loops(order, part []int32) {
	size := make(map[int32]int)
	for at := range part {
		size[part[at]]++
	}
	reported := map[string]bool{}
	seen := map[int32]bool{}
	for i := len(order) - 1; i >= 0; i-- {
		at := order[i]
		for _, l := range s.edges[at] {
			if seen[part[at]] || part[l.to] != part[at] || l.to != at && size[part[at]] == 1 {
				continue
			}
			s.loop, seen[part[at]] = true, true
			subject := s.loopStates(at, part)
			if !reported[subject] {
				reported[subject] = true
				s.findings = append(s.findings, finding{
					problem: problem{Terminates, subject, "it can go round for ever in " + subject + " without a person or a counter"},
					at:      at, via: -1, then: s.goRound(at, part),
				})
			}
		}
	}
}

// goRound is a shortest way from a node back to itself.
func (s *search) goRound(start int32, part []int32) []int32 {
	type visit struct{ from, via int32 }
	seen := map[int32]visit{}
	queue := []int32{start}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, l := range s.edges[at] {
			if _, known := seen[l.to]; known || part[l.to] != part[start] {
				continue
			}
			seen[l.to] = visit{at, l.via}
			queue = append(queue, l.to)
		}
	}
	var path []int32
	for at := start; ; {
		v, ok := seen[at]
		if !ok {
			return nil
		}
		path = append([]int32{v.via}, path...)
		if at = v.from; at == start {
			return path
		}
	}
}

// loopStates names the states of a loop, in the order of the file.
func (s *search) loopStates(at int32, part []int32) string {
	in := make([]bool, len(s.m.def.States)+1)
	for n := range part {
		if part[n] == part[at] {
			in[s.nodes[n].status] = true
		}
	}
	var names []string
	for i := range s.m.def.States {
		if in[i+1] {
			names = append(names, s.m.def.States[i].Name)
		}
	}
	return strings.Join(names, ", ")
}

// components finds the strongly connected parts of a graph (Tarjan's algorithm,
// without recursion). order lists nodes so that what follows a node comes before it.
func components(edges [][]link) (order, part []int32) {
	n := len(edges)
	index, low := make([]int32, n), make([]int32, n)
	part = make([]int32, n)
	onStack := make([]bool, n)
	var stack []int32
	type frame struct{ at, next int32 }
	var calls []frame
	count, parts := int32(0), int32(0)
	for root := range edges {
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
			for int(f.next) < len(edges[v]) {
				to := edges[v][f.next].to
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
			f.next = int32(len(edges[v])) + 1
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
