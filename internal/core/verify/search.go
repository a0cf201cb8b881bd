package verify

import (
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// search applies actions to worlds, one at a time. Several searches can work on the same graph
// concurrently.
type search struct {
	m         *model
	o         SearchOptions
	free      []string // workspaces that the pool has
	busy      []string // serial groups in which other tasks work
	labels    []taskfile.LabelField
	key       []byte
	acts      []action
	record    task.Task // the record that the engine decides about: a world stays on the stack
	decisions int
	used      []bool // edges of the file that were taken, by edge and state
	tracing   bool   // record every signal
	pace      time.Duration
}

// expansion is everything that can happen in a node.
type expansion struct {
	at       int32
	arrivals []arrival
	faults   []fault
}

// arrival is where one action leads.
type arrival struct {
	key   digest
	world *world // nil if a path there is known that is not longer
	steps int32
	cost  cost
	human bool
	waits bool // it is a step of a task that waits for another
}

// fault is a problem that was found in a node, or on the way from it.
type fault struct {
	problem
	steps int32 // from the node; 0: being there is the problem
}

func newSearch(m *model, o SearchOptions) *search {
	def := m.def
	s := &search{m: m, o: o, free: []string{"w"}, pace: time.Second, used: make([]bool, len(def.Edges)*(len(def.States)+1))}
	for i := range def.Gates {
		for _, label := range def.Gates[i].AnyOf {
			if label == workflow.NothingLabel { // it has the same effect as commits, which the search chooses
				continue
			}
			s.labels = append(s.labels, taskfile.LabelField{Label: label, Line: 1})
		}
	}
	return s
}

// possibleCreations returns the ways in which a task can be created.
func (s *search) possibleCreations() []*signal.New {
	var out []*signal.New
	for _, i := range s.m.def.EdgesFrom(workflow.New) {
		e := &s.m.def.Edges[i]
		for _, spawn := range [...]bool{true, false} {
			out = append(out, &signal.New{ID: "VERIFY000000000000000", Project: "p", Branch: "b", Summary: "s", Status: e.To, Spawn: spawn, Checks: s.m.checks.checks})
		}
	}
	return out
}

func (s *search) createWorld(i int) (world, outcome) {
	w := world{now: origin, texts: make([]text, len(s.m.sections))}
	o := s.submitSignal(&w, &action{kind: signal.Create, who: task.Human, newTask: s.possibleCreations()[i], actor: -1, human: true})
	return w, o
}

// expandCreation creates a task.
func (s *search) expandCreation(g *graph, i int) expansion {
	w, o := s.createWorld(i)
	out := expansion{at: -1}
	out.addFaults(o.problems, 1)
	if o.moved {
		s.markUsedEdges(&o)
		out.arrivals = append(out.arrivals, s.newArrival(g, &w, &o, 1, true))
	}
	return out
}

// expandNode applies every possible action to a world. It only reads the graph.
func (s *search) expandNode(g *graph, at int32, w *world) expansion {
	out := expansion{at: at}
	out.addFaults(s.standingProblems(w), 0)
	s.acts = s.m.listActions(w, s.acts[:0])
	depth := g.nodes[at].depth
	for i := range s.acts {
		a := &s.acts[i]
		next := *w // a step copies what it changes
		before := s.decisions
		o := s.applyAction(&next, a)
		if isWaiting(w, a) {
			s.decisions = before
		}
		out.addFaults(o.problems, a.stepCount())
		if !o.moved || a.event == crashServer { // what follows the loss of an effect does not matter
			continue
		}
		s.markUsedEdges(&o)
		out.arrivals = append(out.arrivals, s.newArrival(g, &next, &o, depth+a.stepCount(), a.human))
		last := &out.arrivals[len(out.arrivals)-1]
		last.steps, last.waits = a.stepCount(), isWaiting(w, a)
	}
	return out
}

// standingProblems returns what is wrong with being in a world.
func (s *search) standingProblems(w *world) []problem {
	var out []problem
	if why := s.stallReason(w); why != "" {
		out = append(out, problem{NeverStalls, w.t.Status, why})
	}
	if s.isUnstoppable(w) {
		out = append(out, problem{Stoppable, w.t.Status, "no person can end a task that is in " + w.t.Status})
	}
	if role := s.unreportedRole(w); role != "" {
		out = append(out, problem{Covered, role, "the " + role + " of " + w.t.Status + " is dead beside a living agent, and nobody hears of it"})
	}
	return out
}

func (e *expansion) addFaults(problems []problem, steps int32) {
	for _, p := range problems {
		e.faults = append(e.faults, fault{p, steps})
	}
}

// newArrival makes a world canonical and looks it up.
func (s *search) newArrival(g *graph, w *world, o *outcome, depth int32, human bool) arrival {
	s.m.makeCanonical(w)
	a := arrival{key: s.digestOf(w), steps: 1, human: human}
	if !human {
		a.cost = s.costOf(o)
	}
	if at, known := g.index[a.key]; !known || g.nodes[at].depth > depth {
		kept := *w
		a.world = &kept
	}
	return a
}

// cost is what a step adds to the bounds.
type cost struct {
	starts uint64 // attempts started, four bits per role
	crash  bool
	move   bool
}

func (s *search) costOf(o *outcome) cost {
	var c cost
	for i := range o.entries {
		e := &o.entries[i]
		for _, a := range e.Started {
			if n := s.m.roleNumber[a.Role]; int(n) <= len(s.m.def.Roles) { // Orange runs checks itself
				c.starts += 1 << (4 * (n - 1))
			}
		}
		c.crash = c.crash || e.Type == journal.AgentCrashed && len(e.Counters) > 0
		c.move = c.move || e.To != ""
	}
	return c
}

// markUsedEdges records which edges of the file were taken.
func (s *search) markUsedEdges(o *outcome) {
	for i := range o.entries {
		if e := &o.entries[i]; e.Edge > 0 {
			s.used[s.m.usedAt(e.Edge-1, e.From)] = true
		}
	}
}
