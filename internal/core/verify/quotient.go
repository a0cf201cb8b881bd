package verify

import (
	"slices"

	"orange/internal/core/task"
)

// quotient says which differences between worlds the search does not look at, because
// nothing that can happen, and no property, can tell them apart. Decision 52 says of each
// why that is so. In a full search there is none.
type quotient struct {
	off   bool
	reads [][]bool // by state number: sections that a gate there, or further on, reads
}

func newQuotient(m *model, o Options) quotient {
	q := quotient{off: o.Full, reads: make([][]bool, len(m.def.States)+1)}
	if q.off {
		return q
	}
	for i := range m.def.States {
		further := m.further(m.def.States[i].Name)
		q.reads[i+1] = make([]bool, len(m.sections))
		for _, state := range further {
			for at, asks := range m.asks[m.stateNumber[state]] {
				q.reads[i+1][at] = q.reads[i+1][at] || asks
			}
		}
	}
	return q
}

// further lists the states that a task in a state can still be in, beginning with it.
func (m *model) further(state string) []string {
	out := []string{state}
	for i := 0; i < len(out); i++ {
		next := m.targets(out[i])
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

// tellsDead says that a living agent is told from one whose process ended and whose end
// nobody heard of.
func (m *model) tellsDead() bool { return m.quotient.off || m.without[PerRole] }

// reduce takes out of a world what nothing can observe.
func (m *model) reduce(w *world) {
	if m.quotient.off {
		return
	}
	m.forgetUnread(w)
	m.forgetDone(w)
	m.orderAttempts(w)
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

// forgetDone drops whose part is done, and who crashed where no agent works: the one only
// chooses whether the end of an agent is called a crash there, the other is only shown.
func (m *model) forgetDone(w *world) {
	for i := range w.t.Attempts {
		w.t.Attempts[i].Done = false
	}
	if m.own(w.t.Status) == "" {
		w.t.Crashed = ""
	}
}

// orderAttempts sorts attempts by role. Of one role the oldest stays first.
func (m *model) orderAttempts(w *world) {
	list := w.t.Attempts
	for i := 1; i < len(list); i++ {
		for k := i; k > 0 && m.roleNumber[list[k].Role] < m.roleNumber[list[k-1].Role]; k-- {
			list[k], list[k-1] = list[k-1], list[k]
			w.procs[k], w.procs[k-1] = w.procs[k-1], w.procs[k]
		}
	}
}
