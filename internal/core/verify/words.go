package verify

import (
	"slices"

	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// word is something that an agent can report about its work, and the edges for it.
type word struct {
	report *signal.Report
	edges  []*workflow.Edge
}

// undeclaredCode is a code that no file declares.
const undeclaredCode = "NEVER_DECLARED"

// wordsIn returns what the agent of a state can report: every code for which there is an edge,
// a question to every role that may be consulted, an undeclared code, and nothing that counts.
func (m *model) wordsIn(state string) []word {
	role, ok := m.def.RoleNamed(m.ownRole(state))
	if !ok || role.Protocol == "" {
		return m.bareWords(state)
	}
	out := m.bareWords(state)
	out = append(out,
		word{&signal.Report{Outcome: signal.Passed, Code: undeclaredCode}, m.edgesOf(state, workflow.OnUnexpected, "", "")},
		word{&signal.Report{Outcome: signal.Unknown}, m.edgesOf(state, workflow.OnExit, "", "")})
	return out
}

// bareWords returns the codes and the consultations for which a state has edges.
func (m *model) bareWords(state string) []word {
	var out []word
	var seen []workflow.Trigger
	for _, i := range m.def.EdgesFrom(state) {
		for _, tr := range m.def.Edges[i].On {
			if tr.Kind != workflow.OnOutcome && tr.Kind != workflow.OnConsult || slices.Contains(seen, tr) {
				continue
			}
			seen = append(seen, tr)
			r := &signal.Report{Outcome: signal.Passed, Code: tr.Value, Source: signal.FromMarker}
			if tr.Kind == workflow.OnConsult {
				r.Code, r.Consult = "success", &signal.Consult{Role: tr.Value}
			}
			edges := m.edgesOf(state, tr.Kind, tr.Value, "")
			out = append(out, word{r, edges})
			for _, mode := range m.otherModes(state, tr) {
				asks := *r
				asks.Consult = &signal.Consult{Role: tr.Value, Resume: signal.ConsultResume{Mode: mode}}
				out = append(out, word{&asks, edges})
			}
			if slices.ContainsFunc(edges, m.def.LeadsToMerge) {
				unproven := *r
				unproven.Unproven = true
				out = append(out, word{&unproven, edges})
			}
		}
	}
	return out
}

// otherModes returns the modes in which a role that asks for advice may want to continue,
// besides that of the state.
func (m *model) otherModes(state string, tr workflow.Trigger) []string {
	here, ok := m.def.StateNamed(state)
	if !ok || tr.Kind != workflow.OnConsult {
		return nil
	}
	var out []string
	for i := range m.def.States {
		if s := &m.def.States[i]; s.Kind == workflow.Agent && s.Role == here.Role && s.Name != state && s.Mode != "" && !s.Returns {
			out = append(out, s.Mode)
		}
	}
	return out
}

// finalReports returns the ends of an agent with a report about its work.
func (m *model) finalReports(w *world, i int, out []action) []action {
	if w.t.Attempts[i].Role != m.ownRole(w.t.Status) {
		return out
	}
	role, _ := m.def.RoleNamed(w.t.Attempts[i].Role)
	if role.Protocol == "" {
		return out
	}
	for _, said := range m.words[m.stateNumber[w.t.Status]] {
		for _, c := range m.addDoubts(w, m.sectionChoices(w, said.edges), foreign, broken) {
			out = append(out, action{event: reportEnd, kind: signal.Exit, who: task.Engine, actor: i, choice: c, report: said.report})
		}
	}
	return out
}

// turnEnds returns the reports of an agent that stays alive.
func (m *model) turnEnds(w *world, i int, out []action) []action {
	role := w.t.Attempts[i].Role
	if len(w.t.Pending) > m.pendingLimit {
		return out
	}
	for _, said := range m.words[m.stateNumber[w.t.Status]] {
		if said.report.Code == "" {
			continue
		}
		for n, c := range m.sectionChoices(w, said.edges) {
			if m.lacksCommits(c) { // it gets a message, like a silent agent: that leads where its end does
				continue
			}
			if n == 0 && !m.open || role == m.ownRole(w.t.Status) {
				out = append(out, action{
					kind: signal.Outcome, who: task.Actor(role), word: said.report.Code, report: said.report, actor: i, choice: c,
					human: m.passesPerson(w.t.Status),
				})
			}
		}
	}
	return out
}

// cardState is a possible state of a card.
type cardState struct {
	*board.Snapshot
	human bool // a person changed it
}

// cardStatesIn returns the states of a card for which an edge of the state waits.
func (m *model) cardStatesIn(state string) []cardState {
	var out []cardState
	for _, i := range m.def.EdgesFrom(state) {
		for _, tr := range m.def.Edges[i].On {
			if tr.Kind != workflow.OnBoard {
				continue
			}
			f := tr.Board.ExampleCard()
			if slices.ContainsFunc(out, func(have cardState) bool { return have.SameAs(f) }) {
				continue
			}
			out = append(out, cardState{&f, slices.ContainsFunc(f.Tags, m.def.SetByPeople)})
		}
	}
	return out
}

// childrenChoice stands for the children of the task among the choices.
const childrenChoice = -1 << 20

// childChoices adds the possible children of the task if an edge depends on them: none, some
// that are not far enough, all far enough, as many as guards distinguish.
func (m *model) childChoices(lists [][]choice, e *workflow.Edge, asked *bool) [][]choice {
	asks := e.When != nil && slices.Contains(e.When.Names, "children") ||
		slices.ContainsFunc(m.def.EdgeGates(e), func(g int) bool { return len(m.def.Gates[g].Children) > 0 })
	if !asks || *asked {
		return lists
	}
	*asked = true
	children := []choice{{section: childrenChoice, meaning: "none"}}
	for n := range m.def.MostChildren() {
		children = append(children, choice{section: childrenChoice, meaning: "some", count: n + 1}, choice{section: childrenChoice, meaning: "far", count: n + 1})
	}
	return combineChoices(lists, children)
}

// childrenOf returns the children of the task that a choice stands for.
func (m *model) childrenOf(c choice) []signal.Child {
	var out []signal.Child
	for range c.count {
		child := signal.Child{ID: "c"}
		if c.meaning == "far" {
			child.Status = m.def.FarthestChildState()
		}
		out = append(out, child)
	}
	return out
}
