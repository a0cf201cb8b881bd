package verify

import (
	"fmt"
	"slices"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// noteOnce records a problem that follows from the file alone, unless it is already recorded:
// several edges can lead to it.
func (g *graph) noteOnce(p problem) {
	if !slices.ContainsFunc(g.findings, func(f finding) bool { return f.problem == p }) {
		g.findings = append(g.findings, finding{problem: p, at: -1})
	}
}

// waysOn reports agent states whose own agent may request nothing that makes progress: it can
// only give up or ask questions.
func (g *graph) waysOn() {
	for i := range g.m.def.States {
		st := &g.m.def.States[i]
		if st.Kind != workflow.Agent || slices.ContainsFunc(g.m.def.EdgesFrom(st.Name), func(k int) bool { return g.leadsOn(&g.m.def.Edges[k], st.Role) }) {
			continue
		}
		g.noteOnce(problem{Covered, st.Name, "the " + st.Role + " of " + st.Name + " may ask for nothing that leads on"})
	}
}

func (g *graph) leadsOn(e *workflow.Edge, role string) bool {
	to, _ := g.m.def.StateNamed(e.To)
	r, _ := g.m.def.RoleNamed(role)
	asked := slices.ContainsFunc(e.On, func(t workflow.Trigger) bool { // an agent that stays must not end before it may continue
		return t.Kind == workflow.OnRequest || t.Kind == workflow.OnOutcome || t.Kind == workflow.OnExit && r.Session != workflow.Persistent
	})
	gaveUp := to.Kind == workflow.Waiting || to.Kind == workflow.Halt
	return asked && !gaveUp && (e.PermitsActor(task.Actor(role)) || len(e.By) == 0)
}

// waysBack reports states that remember where a task came from and cannot send it
// back there.
func (g *graph) waysBack() {
	for i := range g.m.def.Edges {
		e := &g.m.def.Edges[i]
		to, _ := g.m.def.StateNamed(e.To)
		for _, from := range e.From {
			st, ok := g.m.def.StateNamed(from)
			if !ok || !to.Returns || to.Kind == workflow.Agent || st.Kind == workflow.Queued || slices.Contains(g.m.requestTargets(to.Name), from) {
				continue
			}
			g.noteOnce(problem{Covered, to.Name + " > " + from, "a task that comes to " + to.Name + " from " + from + " cannot go back there"})
		}
	}
}

// deadParts reports states and edges that nothing reaches.
func (g *graph) deadParts() {
	if g.cut {
		return
	}
	def := g.m.def
	for i := range def.States {
		if name := def.States[i].Name; !g.visited[g.m.stateNumber[name]] {
			g.noteOnce(problem{Reachable, name, "no task ever gets to " + name})
		}
	}
	for i := range def.Edges {
		for _, from := range def.Edges[i].From {
			if from != workflow.New && g.visited[g.m.stateNumber[from]] && !g.used[g.m.usedAt(i, from)] {
				name := fmt.Sprintf("%s -> %s (line %d)", from, def.Edges[i].To, def.Edges[i].Pos.Line)
				g.noteOnce(problem{Reachable, name, "nothing ever takes the edge " + name})
			}
		}
	}
}
