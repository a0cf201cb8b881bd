package verify

import (
	"slices"
	"time"

	"orange/internal/core/task"
)

// origin is the time in every canonical world.
var origin = time.Unix(0, 0).UTC()

// process is the actual state of an attempt, whatever the record contains.
type process byte

const (
	notStarted process = iota // requested, not started
	alive
	dead // and nobody knows yet
)

// world is a task, what is true beside its record, and what the checker remembers of the past
// for its checks.
type world struct {
	t     task.Task
	now   time.Time
	procs []process // of t.Attempts
	half  bool      // the first pending effect was carried out and its receipt was lost
	texts []text    // of the model's sections

	returned bool // open variant: its last landing failed, and no agent has worked on it since
}

// text is what is known of old versions of a section: the one that last opened a gate, and the
// one that existed when the visit began.
type text struct {
	used, seen version
}

// version is one version of a section.
type version struct {
	meaning string // its meaning: valid, PASS, FAIL; "" for no such version
	sum     string // its digest
}

// section is a section of TASK.md that gates require.
type section struct {
	name    string
	meaning []string // the possible meanings of a fresh version
	verdict bool
	unused  bool // a gate remembers the version that opened it
}

// askedToFinish is a hand-over that its agent was asked to finish in this visit.
var askedToFinish = task.Handover{Visit: 1}

// makeCanonical removes from a world what makes no difference: times, numbers, names. Two
// worlds that can do the same have the same canonical form.
func (m *model) makeCanonical(w *world) {
	t := &w.t
	w.now, w.texts = origin, slices.Clone(w.texts) // worlds share what a step did not change
	t.CreatedAt, t.UpdatedAt, t.Since = origin, origin, origin
	if h := t.Handover; h != nil && h.Visit == t.Visit {
		t.Handover = &askedToFinish
	} else {
		t.Handover = nil
	}
	if t.Restated != t.Visit {
		t.Restated = 0
	}
	t.Restated, t.Samples = min(t.Restated, 1), nil
	t.Seq, t.Visit = 1, 1
	m.forgetPast(w)
	m.forgetChecks(w)
	if t.WorkFailed != "" {
		t.WorkFailed = "held"
	}
	m.dropUnobservable(w)
	m.applyQuotient(w)
	m.canonTexts(w)
	if !t.RespawnAt.IsZero() {
		t.RespawnAt = origin.Add(10 * time.Second)
	}
	if t.Attention != "" {
		t.Attention = "attention"
	}
	if t.Asked != nil {
		t.Asked.At, t.Asked.Note = origin, ""
	}
	for i := range t.Counters {
		t.Counters[i].Total = 0
		if max := m.def.Counters[i].Max; t.Counters[i].Value > max+1 {
			t.Counters[i].Value = max + 1
		}
	}
	m.renumberAttempts(w)
}

// copy returns a copy that may be changed.
func (w *world) copy() world {
	c := *w
	c.t, c.procs, c.texts = w.t.Clone(), slices.Clone(w.procs), slices.Clone(w.texts)
	return c
}

// forgetPast drops what agents reported, the states of cards, and when something last happened.
func (m *model) forgetPast(w *world) {
	t := &w.t
	landing, card := t.Landing, t.CardSnapshot
	t.LastReport, t.Handoffs, t.Question, t.Advice, t.CardSnapshot, t.Failed, t.GaveUp, t.Lost, t.Unstarted, t.Work, t.Predecessors, t.Landing = nil, nil, "", "", nil, nil, nil, nil, nil, nil, nil, nil
	t.Stopped = nil
	if m.open {
		m.keepShared(w, landing)
		m.forgetRepeated(w)
		if t.Queued && m.def.WatchesBoard(t.Status) {
			t.CardSnapshot = card
		}
	}
}

// dropUnobservable drops what cannot be distinguished from its absence: versions of sections
// with which no gate of the present state compares, and a crash that was handled.
func (m *model) dropUnobservable(w *world) {
	t := &w.t
	state := m.stateNumber[t.Status]
	asks := m.asks[state]
	if len(t.Seen) > 0 {
		t.Seen = slices.DeleteFunc(t.Seen, func(d task.Digest) bool { return !asks[m.sectionIndex(d.Section)] })
	}
	for i := range w.texts {
		if !asks[i] || !m.sections[i].verdict {
			w.texts[i].seen = version{}
		}
		if m.sections[i].verdict && !m.sections[i].unused {
			w.texts[i].used = version{}
		}
	}
	if !m.manual[state] {
		t.Crashed = ""
	}
}

// canonTexts gives old versions of sections canonical digests.
func (m *model) canonTexts(w *world) {
	t := &w.t
	for i := range w.texts {
		x := &w.texts[i]
		for k := range t.Opened {
			m.renameDigest(&t.Opened[k], i, x)
		}
		for k := range t.Seen {
			m.renameDigest(&t.Seen[k], i, x)
		}
		same := x.used.meaning != "" && x.used == x.seen
		if x.used.meaning != "" {
			x.used.sum = "used"
		}
		switch {
		case same:
			x.seen.sum = "used"
		case x.seen.meaning != "":
			x.seen.sum = "seen"
		}
	}
}

func (m *model) renameDigest(d *task.Digest, i int, x *text) {
	switch {
	case d.Section != m.sections[i].name:
	case d.Sum == x.used.sum:
		d.Sum = "used"
	case d.Sum == x.seen.sum:
		d.Sum = "seen"
	default:
		d.Sum = "older"
	}
}

func (m *model) sectionIndex(name string) int {
	return slices.IndexFunc(m.sections, func(s section) bool { return s.name == name })
}

// renumberAttempts numbers attempts 1, 2, 3 and effects e0, e1, e2. It drops attempts that are
// over, which only affect the choice of prompts.
func (m *model) renumberAttempts(w *world) {
	t := &w.t
	var buffer [8]int
	old := buffer[:0]
	t.AttemptCounts = m.attemptTally(len(t.Attempts))
	for i := range t.Attempts {
		a := &t.Attempts[i]
		old = append(old, a.Number)
		a.Number, a.Visit, a.Since, a.State, a.Credit = i+1, 1, origin, "", 0
		if a.Condition.Name != "" {
			a.Condition.Since = origin
		}
	}
	for i := range t.Pending {
		p := &t.Pending[i]
		p.ID, p.Attempt, p.NotBefore, p.Since, p.Tries, p.Error, p.Window, p.Prompt = effectNames[min(i, len(effectNames)-1)], slices.Index(old, p.Attempt)+1, time.Time{}, time.Time{}, 0, "", "", ""
	}
}

// effectNames are the ids of pending effects in a canonical world. No workflow has more at a
// time; all further ones share the last name.
var effectNames = [...]string{"e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8", "e9", "e10", "e11", "e12", "e13", "e14", "e15", "e16", "e17", "e18", "e19"}

// appendKey appends a canonical world as bytes. Worlds with the same key are equal.
func (m *model) appendKey(w *world, b []byte) []byte {
	t := &w.t
	b = append(b, m.stateNumber[t.Status], m.stateNumber[t.ReturnTo], worldFlags(w))
	for i := range t.Counters {
		b = append(b, byte(t.Counters[i].Value), byte(t.Counters[i].Value>>8))
	}
	for i := range t.Attempts {
		b = append(b, m.roleNumber[t.Attempts[i].Role], m.attemptByte(w, i))
	}
	b = append(b, 0xff)
	for i := range t.Pending {
		p := &t.Pending[i]
		do := m.effectNumber[p.Do]
		if p.Start { // an agent that gets a message and does not live is started as well
			do = 0
		}
		b = append(b, do, m.roleNumber[p.Role], byte(p.Attempt), bitIf(p.Start, 0)|bitIf(p.GivenUp, 1)|bitIf(p.Turn, 3))
	}
	b = append(b, 0xff)
	for i := range w.texts {
		x := &w.texts[i]
		b = append(b, meaningNumber(x.used.meaning), meaningNumber(x.seen.meaning), bitIf(x.used == x.seen, 0))
	}
	if t.Asked != nil {
		b = append(b, m.stateNumber[t.Asked.To])
	}
	if m.verdicts {
		b = append(b, bitIf(t.Restated != 0, 0))
	}
	if len(m.checks.checks) > 0 {
		b = append(b, m.checkByte(t))
	}
	b = append(b, m.roleNumber[t.Crashed], bitIf(t.Unanswered != nil, 0))
	if m.open {
		b = m.appendShared(w, b)
	}
	return b
}

// attemptByte returns what is compared of an attempt besides its role.
func (m *model) attemptByte(w *world, i int) byte {
	a := &w.t.Attempts[i]
	return byte(w.procs[i])<<4 | bitIf(a.Running, 0) | bitIf(a.Ending, 1) | bitIf(a.Overdue, 2) | bitIf(a.Done && !a.Ending, 3) | bitIf(a.Condition.Name == task.Idle, 6)
}

func worldFlags(w *world) byte {
	t := &w.t
	return bitIf(t.Queued, 0) | bitIf(t.Attention != "", 1) | bitIf(t.Asked != nil, 2) | bitIf(!t.RespawnAt.IsZero(), 3) |
		bitIf(t.Workspace != "", 4) | bitIf(w.half, 5) | bitIf(t.WorkFailed != "", 6) | bitIf(t.Handover != nil, 7)
}

func bitIf(on bool, n int) byte {
	if on {
		return 1 << n
	}
	return 0
}

func meaningNumber(s string) byte {
	switch s {
	case "":
		return 0
	case "PASS":
		return 1
	case "FAIL":
		return 2
	}
	return 3
}
