package verify

import (
	"fmt"
	"slices"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// search is one walk over everything reachable, breadth first: the first way that is
// found to a state is a shortest one.
type search struct {
	m         *model
	o         Options
	free      []string // workspaces that the pool always has
	labels    []taskfile.LabelField
	index     map[string]int32
	key       []byte
	acts      []action
	nodes     []node
	open      []world // of the nodes from first on, not yet looked at
	first     int
	edges     [][]link // by node: what happens without a person
	decisions int
	moves     int
	full      bool
	tracing   bool // keep every signal
	loop      bool // something goes round for ever

	visited  []bool // states
	used     map[[2]int]bool
	highest  []int // counters
	findings []finding
}

// node is how a state was first reached.
type node struct {
	parent int32
	via    int32 // index into the parent's actions, or into the beginnings
	status byte
}

// link is one step that needs no person.
type link struct {
	to     int32
	via    int32  // the action that leads there
	starts uint64 // attempts started, four bits a role
	crash  bool
	move   bool
}

// finding is a problem where it was first met.
type finding struct {
	problem
	at   int32   // the node it happened in
	via  int32   // the action that did it; -1: being there is the problem
	then []int32 // the actions of a loop that begins there
}

func newSearch(def *workflow.Definition, o Options) *search {
	s := &search{
		m: newModel(def, o), o: o, free: []string{"w"}, index: map[string]int32{}, used: map[[2]int]bool{},
		visited: make([]bool, len(def.States)+1), highest: make([]int, len(def.Counters)),
	}
	for i := range def.Gates {
		for _, label := range def.Gates[i].AnyOf {
			if label == workflow.NothingLabel { // it does what commits do: the search chooses those
				continue
			}
			s.labels = append(s.labels, taskfile.LabelField{Label: label, Line: 1})
		}
	}
	return s
}

func (s *search) run() {
	for i := range s.beginnings() {
		w, o := s.begin(i)
		s.note(-1, int32(i), o.problems)
		if o.moved {
			s.mark(&o)
			s.add(w, -1, int32(i))
		}
	}
	for s.first < len(s.nodes) && !s.full {
		if s.o.First && len(s.findings) > 0 {
			s.full = true
			break
		}
		s.expand(int32(s.first))
		s.first++
		if s.first%1024 != 0 {
			continue
		}
		if s.o.Progress != nil {
			s.o.Progress(s.first)
		}
		s.full = s.full || s.o.Stop != nil && s.o.Stop()
	}
	s.deadParts()
	s.waysOn()
	s.waysBack()
}

// beginnings are the ways a task can come into being.
func (s *search) beginnings() []*signal.New {
	var out []*signal.New
	for _, i := range s.m.def.EdgesFrom(workflow.New) {
		e := &s.m.def.Edges[i]
		for _, spawn := range [...]bool{true, false} {
			out = append(out, &signal.New{ID: "VERIFY000000000000000", Project: "p", Branch: "b", Summary: "s", Status: e.To, Spawn: spawn})
		}
	}
	return out
}

func (s *search) begin(i int) (world, outcome) {
	w := world{now: origin, texts: make([]text, len(s.m.sections))}
	o := s.tell(&w, &action{kind: signal.Create, who: task.Human, wish: s.beginnings()[i], actor: -1, human: true})
	return w, o
}

// add keeps a world that was not seen before and returns its number.
func (s *search) add(w world, parent, via int32) int32 {
	s.m.canon(&w)
	s.key = s.m.key(&w, s.key[:0])
	if at, ok := s.index[string(s.key)]; ok {
		return at
	}
	at := int32(len(s.nodes))
	if len(s.nodes) >= s.o.MaxStates {
		s.full = true
		return -1
	}
	s.index[string(s.key)] = at
	status := s.m.stateNumber[w.t.Status]
	s.nodes = append(s.nodes, node{parent: parent, via: via, status: status})
	s.open = append(s.open, w)
	s.edges = append(s.edges, nil)
	s.visited[status] = true
	for i := range w.t.Counters {
		s.highest[i] = max(s.highest[i], w.t.Counters[i].Value)
	}
	return at
}

// expand lets everything happen that can happen in a node.
func (s *search) expand(at int32) {
	w := s.open[0]
	s.open[0] = world{}
	s.open = s.open[1:]
	if why := s.stalled(&w); why != "" {
		s.note(at, -1, []problem{{NeverStalls, w.t.Status, why}})
	}
	if s.unstoppable(&w) {
		s.note(at, -1, []problem{{Stoppable, w.t.Status, "no person can end a task that is in " + w.t.Status}})
	}
	if role := s.unheard(&w); role != "" {
		s.note(at, -1, []problem{{Covered, role, "the " + role + " of " + w.t.Status + " is dead beside a living agent, and nobody hears of it"}})
	}
	s.acts = s.m.actions(&w, s.acts[:0])
	actions := s.acts
	for i := range actions {
		next := w // what a step changes it copies first
		o := s.step(&next, &actions[i])
		s.note(at, int32(i), o.problems)
		if !o.moved || actions[i].deed == crash { // what follows the loss of an effect is of no interest
			continue
		}
		s.mark(&o)
		to := s.add(next, at, int32(i))
		s.moves++
		if to >= 0 && !actions[i].human {
			s.edges[at] = append(s.edges[at], s.link(to, int32(i), &o))
		}
	}
}

func (s *search) link(to, via int32, o *outcome) link {
	l := link{to: to, via: via}
	for i := range o.entries {
		e := &o.entries[i]
		for _, a := range e.Started {
			l.starts += 1 << (4 * (s.m.roleNumber[a.Role] - 1))
		}
		l.crash = l.crash || e.Type == journal.AgentCrashed && len(e.Counters) > 0
		l.move = l.move || e.To != ""
	}
	return l
}

// mark notes which edges of the file were taken.
func (s *search) mark(o *outcome) {
	for i := range o.entries {
		if e := &o.entries[i]; e.Edge > 0 {
			s.used[[2]int{e.Edge - 1, int(s.m.stateNumber[e.From])}] = true
		}
	}
}

// note keeps the first of each kind of problem.
func (s *search) note(at, via int32, problems []problem) {
	for _, p := range problems {
		known := slices.ContainsFunc(s.findings, func(f finding) bool { return f.property == p.property && f.subject == p.subject })
		if !known {
			s.findings = append(s.findings, finding{problem: p, at: at, via: via})
		}
	}
}

// waysOn reports agent states whose own agent may ask for nothing that leads on: it
// can only give up or ask questions.
func (s *search) waysOn() {
	for i := range s.m.def.States {
		st := &s.m.def.States[i]
		if st.Kind != workflow.Agent || slices.ContainsFunc(s.m.def.EdgesFrom(st.Name), func(k int) bool { return s.leadsOn(&s.m.def.Edges[k], st.Role) }) {
			continue
		}
		s.findings = append(s.findings, finding{problem: problem{Covered, st.Name, "the " + st.Role + " of " + st.Name + " may ask for nothing that leads on"}, at: -1, via: -1})
	}
}

func (s *search) leadsOn(e *workflow.Edge, role string) bool {
	to, _ := s.m.def.State(e.To)
	r, _ := s.m.def.Role(role)
	asked := slices.ContainsFunc(e.On, func(t workflow.Trigger) bool { // one that stays is not to end before it may go on
		return t.Kind == workflow.OnRequest || t.Kind == workflow.OnOutcome || t.Kind == workflow.OnExit && r.Session != workflow.Persistent
	})
	gaveUp := to.Kind == workflow.Waiting || to.Kind == workflow.Halt
	return asked && !gaveUp && (e.Permits(task.Actor(role)) || len(e.By) == 0)
}

// waysBack reports states that remember where a task came from and cannot send it
// back there.
func (s *search) waysBack() {
	for i := range s.m.def.Edges {
		e := &s.m.def.Edges[i]
		to, _ := s.m.def.State(e.To)
		for _, from := range e.From {
			st, ok := s.m.def.State(from)
			if !ok || !to.Returns || to.Kind == workflow.Agent || st.Kind == workflow.Queued || slices.Contains(s.m.targets(to.Name), from) {
				continue
			}
			s.findings = append(s.findings, finding{problem: problem{Covered, to.Name + " > " + from, "a task that comes to " + to.Name + " from " + from + " cannot go back there"}, at: -1, via: -1})
		}
	}
}

// deadParts reports states and edges that nothing reaches.
func (s *search) deadParts() {
	if s.full {
		return
	}
	def := s.m.def
	for i := range def.States {
		if name := def.States[i].Name; !s.visited[s.m.stateNumber[name]] {
			s.findings = append(s.findings, finding{problem: problem{Reachable, name, "no task ever gets to " + name}, at: -1, via: -1})
		}
	}
	for i := range def.Edges {
		for _, from := range def.Edges[i].From {
			if from != workflow.New && s.visited[s.m.stateNumber[from]] && !s.used[[2]int{i, int(s.m.stateNumber[from])}] {
				name := fmt.Sprintf("%s -> %s (line %d)", from, def.Edges[i].To, def.Edges[i].Pos.Line)
				s.findings = append(s.findings, finding{problem: problem{Reachable, name, "nothing ever takes the edge " + name}, at: -1, via: -1})
			}
		}
	}
}

func (s *search) report() Report {
	r := Report{
		Workflow: s.m.def.Name, States: len(s.nodes), Transitions: s.moves, Decisions: s.decisions, Complete: !s.full,
		Violations: []Violation{},
	}
	r.Bounds = s.bounds()
	s.tracing = true
	for _, p := range Properties() {
		for _, f := range s.findings {
			if f.property == p {
				r.Violations = append(r.Violations, Violation{Property: p, Subject: f.subject, Message: f.message, Trace: s.trace(f)})
			}
		}
	}
	r.OK = r.Complete && len(r.Violations) == 0
	return r
}
