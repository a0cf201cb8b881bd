package verify

// quotient says which differences between worlds the search does not look at, because
// nothing that can happen, and no property, can tell them apart. Decision 52 says of each
// why that is so. In a full search there is none.
type quotient struct {
	off bool
}

func newQuotient(m *model, o Options) quotient {
	return quotient{off: o.Full}
}

// tellsDead says that a living agent is told from one whose process ended and whose end
// nobody heard of.
func (m *model) tellsDead() bool { return m.quotient.off || m.without[PerRole] }

// reduce takes out of a world what nothing can observe.
func (m *model) reduce(w *world) {
	if m.quotient.off {
		return
	}
	m.forgetDone(w)
	m.orderAttempts(w)
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
