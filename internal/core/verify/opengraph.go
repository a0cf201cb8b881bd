package verify

import (
	"slices"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// openGraph is everything that one task can do, with labels. Node 0 is the task before it is created.
type openGraph struct {
	*search
	labelled
	index  map[digest]int32
	status []byte // by node: the number of its state
	worlds []*world
	cut    bool // there is more than was searched
}

// openArrival is where one step leads.
type openArrival struct {
	label stepLabel
	key   digest
	world *world // nil if it is known
}

// newOpenGraph searches the open variant of a workflow.
func newOpenGraph(def *workflow.Definition, o SearchOptions) *openGraph {
	o.open = true
	m := newModel(def, o)
	g := &openGraph{search: newSearch(m, o), index: map[digest]int32{}}
	g.addNode(isUncreated, 0)
	g.keepSteps(g.findCreations())
	searches := []*search{g.search}
	if o.Share != nil {
		for range max(1, o.Workers) - 1 {
			searches = append(searches, newSearch(m, o))
		}
	}
	for depth, first := 1, 0; first < len(g.worlds) && !g.cut; depth++ {
		last := len(g.worlds)
		for ; first < last && !g.cut; first += blockSize {
			g.expandBlock(searches, first, min(first+blockSize, last))
			if o.Progress != nil {
				o.Progress(Progress{States: len(g.seen), Depth: depth})
			}
			g.cut = g.cut || o.Stop != nil && o.Stop()
		}
		first = last
	}
	for len(g.first) <= len(g.seen) { // of nodes that were not looked at
		g.first = append(g.first, uint32(len(g.steps)))
	}
	for _, s := range searches[1:] {
		g.decisions += s.decisions
	}
	return g
}

func (g *openGraph) addNode(seen observation, status byte) int32 {
	g.seen, g.status = append(g.seen, seen), append(g.status, status)
	return int32(len(g.seen) - 1)
}

// expandBlock finds the steps of some worlds, and keeps them in their order.
func (g *openGraph) expandBlock(searches []*search, first, last int) {
	found := make([][]openArrival, last-first)
	work := func(part int) {
		for i := part; i < len(found); i += len(searches) {
			found[i] = g.findSteps(searches[part], g.worlds[first+i])
			g.worlds[first+i] = nil
		}
	}
	if len(searches) == 1 {
		work(0)
	} else {
		g.o.Share(len(searches), work)
	}
	for i := range found {
		g.keepSteps(found[i])
	}
}

// findSteps returns the steps of a world. It only reads the graph.
func (g *openGraph) findSteps(s *search, w *world) []openArrival {
	var out []openArrival
	s.visitOpenSteps(w, func(st openStep) { out = g.arrive(s, st, out) })
	return out
}

// arrive adds where a step leads. It makes the world of the step canonical.
func (g *openGraph) arrive(s *search, st openStep, out []openArrival) []openArrival {
	w := *st.next
	s.m.makeCanonical(&w)
	a := openArrival{label: st.label, key: s.digestOf(&w)}
	if slices.ContainsFunc(out, func(have openArrival) bool { return have.label == a.label && have.key == a.key }) {
		return out
	}
	if _, known := g.index[a.key]; !known {
		kept := w
		a.world = &kept
	}
	return append(out, a)
}

// findCreations returns the ways in which a task can be created.
func (g *openGraph) findCreations() []openArrival {
	var out []openArrival
	g.visitCreations(func(st openStep) { out = g.arrive(g.search, st, out) })
	return out
}

// visitCreations calls visit for each way in which a task can be created, with each answer that makes a difference.
func (s *search) visitCreations(visit func(openStep)) {
	w := world{now: origin, texts: make([]text, len(s.m.sections))}
	for _, n := range s.possibleCreations() {
		a := action{kind: signal.Create, who: task.Human, newTask: n, actor: -1, human: true}
		s.visitAnswers(&w, &a, visit)
	}
}

// keepSteps adds the steps of the next node to the graph.
func (g *openGraph) keepSteps(found []openArrival) {
	g.first = append(g.first, uint32(len(g.steps)))
	at := int32(len(g.first) - 1)
	for i := range found {
		a := &found[i]
		to, known := g.index[a.key]
		if !known {
			if len(g.seen) > g.o.MaxStates {
				g.cut = true
				return
			}
			to = g.addNode(g.m.observe(a.world), g.m.stateNumber[a.world.t.Status])
			g.index[a.key] = to
			g.worlds = append(g.worlds, a.world)
		}
		if to == at && a.label == byPerson { // nobody can tell that it happened; without a person it would be a loop
			continue
		}
		g.steps = append(g.steps, labelledStep{a.label, to})
	}
}
