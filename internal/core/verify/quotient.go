package verify

import (
	"bytes"
	"slices"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// quotient describes which differences between worlds the search ignores, because no action and
// no property can distinguish them. Decision 52 gives the reason for each. A full search
// ignores none.
type quotient struct {
	off   bool
	reads [][]bool   // by state number: sections that a gate there, or later, reads
	alike [][][]byte // by state number: roles that only stay alive there and later, and may do the same
}

func newQuotient(m *model, o SearchOptions) quotient {
	q := quotient{off: o.Full, reads: make([][]bool, len(m.def.States)+1), alike: make([][][]byte, len(m.def.States)+1)}
	if q.off {
		return q
	}
	for i := range m.def.States {
		further := m.reachableStates(m.def.States[i].Name)
		q.reads[i+1] = make([]bool, len(m.sections))
		for _, state := range further {
			for at, asks := range m.asks[m.stateNumber[state]] {
				q.reads[i+1][at] = q.reads[i+1][at] || asks
			}
		}
		q.alike[i+1] = m.alikeIn(further)
	}
	return q
}

// reachableStates returns the states that a task in a state can still reach, beginning with it.
func (m *model) reachableStates(state string) []string {
	out := []string{state}
	for i := 0; i < len(out); i++ {
		next := m.requestTargets(out[i])
		for _, k := range m.def.EdgesFrom(out[i]) {
			next = append(next, m.def.Edges[k].To)
		}
		for _, to := range next {
			if !slices.Contains(out, to) {
				out = append(out, to)
			}
		}
	}
	return out
}

// distinguishesDead reports whether the search distinguishes a living agent from one whose process
// ended without a report.
func (m *model) distinguishesDead() bool { return m.quotient.off || m.without[PerRole] }

// tellsHalf reports whether the search distinguishes an effect that was carried out, and whose receipt was lost, from one
// that was not. The process that it started is distinguished anyway.
func (m *model) tellsHalf() bool { return m.quotient.off || m.without[Keys] }

// applyQuotient removes from a world what nothing can observe.
func (m *model) applyQuotient(w *world) {
	if m.quotient.off {
		return
	}
	w.half = w.half && m.tellsHalf()
	m.forgetUnread(w)
	m.forgetDone(w)
	m.orderAttempts(w)
	m.orderRoles(w)
}

// forgetUnread drops versions of sections that no gate will read again.
func (m *model) forgetUnread(w *world) {
	reads := m.quotient.reads[m.stateNumber[w.t.Status]]
	for i := range w.texts {
		if !reads[i] {
			w.texts[i] = text{}
		}
	}
	if len(w.t.Opened) > 0 {
		w.t.Opened = slices.DeleteFunc(w.t.Opened, func(d task.Digest) bool { return !reads[m.sectionIndex(d.Section)] })
	}
}

// forgetDone drops whose part is done, and who crashed where no agent works: the first only
// decides whether the end of an agent is called a crash there, the second is only displayed.
func (m *model) forgetDone(w *world) {
	for i := range w.t.Attempts {
		w.t.Attempts[i].Done = false
	}
	if m.ownRole(w.t.Status) == "" {
		w.t.Crashed = ""
	}
}

// orderAttempts sorts attempts by role. Within a role the oldest stays first.
func (m *model) orderAttempts(w *world) {
	list := w.t.Attempts
	for i := 1; i < len(list); i++ {
		for k := i; k > 0 && m.roleNumber[list[k].Role] < m.roleNumber[list[k-1].Role]; k-- {
			list[k], list[k-1] = list[k-1], list[k]
			w.procs[k], w.procs[k-1] = w.procs[k-1], w.procs[k]
		}
	}
}

// alikeIn groups the roles whose agents, if they live, only stay alive in these states: no
// state is theirs, no effect is about them, and no role that is started stands in for them. Two
// of them are alike if they may take the same edges.
func (m *model) alikeIn(states []string) [][]byte {
	var groups [][]byte
	for i := range m.def.Roles {
		name := m.def.Roles[i].Name
		if m.busyIn(states, name) {
			continue
		}
		at := slices.IndexFunc(groups, func(g []byte) bool { return m.mayTheSame(states, m.def.Roles[g[0]-1].Name, name) })
		if at < 0 {
			groups = append(groups, nil)
			at = len(groups) - 1
		}
		groups[at] = append(groups[at], m.roleNumber[name])
	}
	return slices.DeleteFunc(groups, func(g []byte) bool { return len(g) < 2 })
}

// busyIn reports whether something in these states is about the role.
func (m *model) busyIn(states []string, role string) bool {
	about := func(name string) bool {
		r, _ := m.def.RoleNamed(name)
		return name == role || r != nil && r.StandsInFor == role
	}
	effects := func(list []workflow.Effect) bool {
		return slices.ContainsFunc(list, func(e workflow.Effect) bool { return e.Role != "" && about(e.Role) })
	}
	return slices.ContainsFunc(states, func(state string) bool {
		s, _ := m.def.StateNamed(state)
		return about(s.Role) || effects(s.OnEnter) || slices.ContainsFunc(m.def.EdgesFrom(state), func(i int) bool { return effects(m.def.Edges[i].Do) })
	})
}

// mayTheSame reports whether two roles may take the same edges in these states.
func (m *model) mayTheSame(states []string, one, other string) bool {
	return !slices.ContainsFunc(states, func(state string) bool {
		return slices.ContainsFunc(m.def.EdgesFrom(state), func(i int) bool {
			e := &m.def.Edges[i]
			return e.PermitsActor(task.Actor(one)) != e.PermitsActor(task.Actor(other)) || e.AsksForConsent(task.Actor(one)) != e.AsksForConsent(task.Actor(other))
		})
	})
}

// orderRoles permutes roles that are alike, so that of worlds that differ only in which of them
// lives one is expanded. While an effect for one of them is pending, it is distinguished from
// the others. Attempts are in the order of their roles, before and after.
func (m *model) orderRoles(w *world) {
	for _, group := range m.quotient.alike[m.stateNumber[w.t.Status]] {
		type holder struct {
			role byte
			is   []byte
		}
		var have []holder
		for _, role := range group {
			name := m.def.Roles[role-1].Name
			if w.t.Crashed == name || slices.ContainsFunc(w.t.Pending, func(p task.Effect) bool { return p.Role == name }) {
				continue
			}
			h := holder{role: role}
			for i := range w.t.Attempts {
				if a := &w.t.Attempts[i]; a.Role == name {
					h.is = append(h.is, m.attemptByte(w, i))
				}
			}
			have = append(have, h)
		}
		places := make([]byte, len(have))
		for i := range have {
			places[i] = have[i].role
		}
		slices.SortStableFunc(have, func(a, b holder) int { return bytes.Compare(b.is, a.is) })
		moved := map[string]string{}
		for i := range have {
			moved[m.def.Roles[have[i].role-1].Name] = m.def.Roles[places[i]-1].Name
		}
		for i := range w.t.Attempts {
			if to, ok := moved[w.t.Attempts[i].Role]; ok {
				w.t.Attempts[i].Role = to
			}
		}
		m.orderAttempts(w)
	}
}
