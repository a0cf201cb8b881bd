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
}
