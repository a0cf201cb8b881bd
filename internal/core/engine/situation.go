package engine

import (
	"slices"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// A Situation answers questions about a task as it is at a moment: which edges are open, what
// is owed, who waits. It decides nothing. Package explain puts its answers together.
type Situation struct{ d decider }

// NewSituation is the situation of t. sig carries the present: the time, the sections, the
// evidence. Its kind does not matter, and it may be nil where only the record is asked about.
func NewSituation(def *workflow.Definition, t *task.Task, sig *signal.Signal) *Situation {
	s := &Situation{decider{def: def, t: t, sig: sig}}
	if sig == nil {
		s.d.sig = &s.d.signal
	}
	return s
}

// WeighEdge weighs the guard and the gates of an edge, without regard to who asks.
func (s *Situation) WeighEdge(e *workflow.Edge) (open bool, reasons []Reason) {
	s.d.reasons = nil
	open = s.d.guardOfPerson(e) && s.d.checkGates(e)
	reasons, s.d.reasons = s.d.reasons, nil
	return open, reasons
}

// PersonMayAsk says whether a person may ask for an edge, as far as that is known before the gates
// are looked at.
func (s *Situation) PersonMayAsk(e *workflow.Edge) bool {
	defer func() { s.d.reasons = nil }()
	return e.AnswersTo(workflow.OnRequest, "") && e.PermitsActor(task.Human) && s.d.guardOfPerson(e)
}

// PersonMay says whether a person may ask for a verb of the workflow.
func (s *Situation) PersonMay(verb string) bool {
	return slices.ContainsFunc(s.d.def.EdgesFrom(s.d.t.Status), func(i int) bool {
		e := &s.d.def.Edges[i]
		return e.As == verb && s.PersonMayAsk(e)
	})
}

// MissingForPerson says what a person must write or do before an edge opens, "" for nothing.
// A guard that does not hold is nothing a person could mend.
func (s *Situation) MissingForPerson(e *workflow.Edge) (edit string, possible bool) {
	if !e.PermitsActor(task.Human) {
		return "", false
	}
	open, reasons := s.WeighEdge(e)
	if open {
		return "", true
	}
	nearest := nearestReason(reasons)
	if nearest.Rule == RuleGuard {
		return "", false
	}
	return nearest.Text, true
}

// GuardHolds says whether the guard of an edge holds with the counters as they are.
func (s *Situation) GuardHolds(e *workflow.Edge) bool {
	defer func() { s.d.reasons = nil }()
	return s.d.checkGuard(e)
}

// EdgesOfVerb lists the edges that a verb asks for, in the order in which they are tried.
func (s *Situation) EdgesOfVerb(verb string) []*workflow.Edge {
	sig := *s.d.sig
	sig.To, sig.Verb = "", verb
	d := &decider{def: s.d.def, t: s.d.t, sig: &sig}
	return d.requestedEdges()
}

// ReopenEdge is the edge that leads back from a terminal state, nil if none does.
func (s *Situation) ReopenEdge() *workflow.Edge { return s.d.wayBack() }

// FirstPending is the effect that is done next, and how many others wait for each other with
// it; nil if none is owed that the task waits for.
func (s *Situation) FirstPending() (*task.Effect, int) { return s.d.inLine(), s.d.blockingCount() }

// WaitsForWords is the agent that waits for a person's words, or waited when it ended; nil if
// there is none.
func (s *Situation) WaitsForWords() *task.Unanswered { return s.d.waitsForWords() }

// AnswerVerb is the verb of the edges that an answer takes, "" where nothing was asked.
func (s *Situation) AnswerVerb() string { return s.d.answerVerb() }

// FailedStart says why the agent of a state could not start, nil if it lives or did start.
func (s *Situation) FailedStart(st *workflow.State) *task.Unstarted { return s.d.failedStart(st) }

// CoolsDown says that the agent of a state waits because the work failed there lately.
func (s *Situation) CoolsDown(st *workflow.State) bool { return coolsDown(st, s.d.t) }

// StandsIn says that an agent of role other does the part of role.
func (s *Situation) StandsIn(role, other string) bool { return standsIn(s.d.def, s.d.t, role, other) }

// MassHeld says that the task stands still because its agents died together with others.
func (s *Situation) MassHeld() bool { return s.d.massHeld() }

// EndedUnspoken says that the last agent of this visit ended without saying how it went.
func (s *Situation) EndedUnspoken() bool { return s.d.endedUnspoken() }

// MergeHelps says whether an edge out of the state waits for the branch to be merged.
func (s *Situation) MergeHelps() bool { return s.d.mergeHelps() }

// IsMerged says whether the branch is known to be merged.
func (s *Situation) IsMerged() bool {
	ok, _ := findEvidence(s.d.sig.Evidence, workflow.Merged, workflow.Merged)
	return ok
}
