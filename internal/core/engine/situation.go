package engine

import (
	"slices"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// A Situation answers queries about a task at a moment: which edges are open, what is pending, who waits. It decides
// nothing. Package explain combines its answers.
type Situation struct{ d decider }

// NewSituation returns the situation of t. sig carries the present: the time, the sections, the evidence. Its kind is
// not used, and it may be nil for queries that only need the record.
func NewSituation(def *workflow.Definition, t *task.Task, sig *signal.Signal) *Situation {
	s := &Situation{decider{def: def.ForTask(t.Checks), t: t, sig: sig}}
	if sig == nil {
		s.d.sig = &s.d.signal
	}
	return s
}

// WeighEdge weighs the guard and the gates of an edge, regardless of the requester.
func (s *Situation) WeighEdge(e *workflow.Edge) (open bool, reasons []Reason) {
	s.d.reasons = nil
	open = s.d.guardOfPerson(e) && s.d.checkGates(e)
	reasons, s.d.reasons = s.d.reasons, nil
	return open, reasons
}

// PersonMayAsk reports whether a person may request an edge, as far as that is known without its gates.
func (s *Situation) PersonMayAsk(e *workflow.Edge) bool {
	defer func() { s.d.reasons = nil }()
	return e.AnswersTo(workflow.OnRequest, "") && e.PermitsActor(task.Human) && s.d.guardOfPerson(e)
}

// PersonMay reports whether a person may request a verb of the workflow.
func (s *Situation) PersonMay(verb string) bool {
	return slices.ContainsFunc(s.d.def.EdgesFrom(s.d.t.Status), func(i int) bool {
		e := &s.d.def.Edges[i]
		return e.As == verb && s.PersonMayAsk(e)
	})
}

// MissingForPerson returns what a person must write or do before an edge opens, "" for nothing. possible is false if a
// guard keeps it closed, because a person cannot change that.
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

// GuardHolds reports whether the guard of an edge holds with the present counters.
func (s *Situation) GuardHolds(e *workflow.Edge) bool {
	defer func() { s.d.reasons = nil }()
	return s.d.checkGuard(e)
}

// EdgesOfVerb lists the edges that a verb requests, in the order in which they are tried.
func (s *Situation) EdgesOfVerb(verb string) []*workflow.Edge {
	sig := *s.d.sig
	sig.To, sig.Verb = "", verb
	d := &decider{def: s.d.def, t: s.d.t, sig: &sig}
	return d.requestedEdges()
}

// ReopenEdge returns the edge that leads back from a terminal state, or nil if there is none.
func (s *Situation) ReopenEdge() *workflow.Edge { return s.d.definedReopenEdge() }

// FirstPending returns the next blocking effect and the number of blocking effects, or nil if none is pending.
func (s *Situation) FirstPending() (*task.Effect, int) {
	return s.d.nextBlocking(), s.d.blockingCount()
}

// WaitsForAnswer returns the agent that waits for a person's answer, or waited when it ended, or nil.
func (s *Situation) WaitsForAnswer() *task.Unanswered { return s.d.waitsForAnswer() }

// AnswerVerb returns the verb of the edges that an answer takes, or "" where no question is open.
func (s *Situation) AnswerVerb() string { return s.d.answerVerb() }

// FailedStart returns why the agent of a state could not start, or nil if it lives or did start.
func (s *Situation) FailedStart(st *workflow.State) *task.Unstarted { return s.d.failedStart(st) }

// CoolsDown reports whether the start of a state's agent waits because the work failed there lately.
func (s *Situation) CoolsDown(st *workflow.State) bool { return coolsDown(st, s.d.t) }

// StandsIn reports whether an agent of role other does the part of role.
func (s *Situation) StandsIn(role, other string) bool { return standsIn(s.d.def, s.d.t, role, other) }

// MassHeld reports whether the task is held because its agents died together with others.
func (s *Situation) MassHeld() bool { return s.d.massHeld() }

// EndedWithoutReport reports whether the last agent of this visit ended without a report.
func (s *Situation) EndedWithoutReport() bool { return s.d.endedWithoutReport() }

// MergeHelps reports whether an edge out of the state waits for the branch to be merged.
func (s *Situation) MergeHelps() bool { return s.d.mergeHelps() }

// IsMerged reports whether the branch is known to be merged.
func (s *Situation) IsMerged() bool {
	ok, _ := findEvidence(s.d.sig.Evidence, workflow.Merged, workflow.Merged)
	return ok
}
