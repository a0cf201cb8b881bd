package verify

import (
	"slices"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// landingEnds returns the landings that bring nothing into the target and to which an edge of the state answers. A person,
// or another task, has changed the target, so such an end comes from outside. A landing begins when the effects before it
// are done. Its steps are not searched one by one: no decision depends on them, and a move ends them.
func (m *model) landingEnds(w *world, out []action) []action {
	if len(w.t.Pending) > 0 || m.open {
		return out
	}
	for _, outcome := range m.landingOutcomes(w.t.Status) {
		end := action{kind: signal.Effect, who: task.Engine, word: outcome, actor: -1, human: true}
		out = append(out, end)
		if m.checks.landed >= 0 {
			end.atBound = true
			out = append(out, end)
		}
	}
	return out
}

// landingOutcomes returns the outcomes of a landing to which edges of a state answer.
func (m *model) landingOutcomes(state string) []string {
	var out []string
	for _, i := range m.def.EdgesFrom(state) {
		for _, tr := range m.def.Edges[i].On {
			if tr.Kind == workflow.OnLanding && !slices.Contains(out, tr.Value) {
				out = append(out, tr.Value)
			}
		}
	}
	return out
}

// writeLanding puts the end of a landing into the signal, and its request into the record.
func (m *model) writeLanding(w *world, a *action, sig *signal.Signal) {
	const id = "landing"
	w.t.Pending = []task.Effect{{ID: id, Do: workflow.MergeBranch, By: task.ByPerson}}
	sig.Result = &signal.Receipt{Effect: id, Do: workflow.MergeBranch, Final: true, Error: "the landing ended", Landing: a.word}
	m.chooseFailures(w, m.checks.landed, a.atBound)
}

// visitsLandings reports whether a task comes to a state that answers to the end of a landing.
func (g *graph) visitsLandings() bool {
	for i := range g.m.def.States {
		if g.visited[i+1] && len(g.m.landingOutcomes(g.m.def.States[i].Name)) > 0 {
			return true
		}
	}
	return false
}
