package boardcheck

import (
	"time"

	"orange/internal/core/board"
)

// orphan: nothing on the card asks anybody for anything.
func (v *view) orphan() *Anomaly {
	switch {
	case v.in(toDo):
		return v.orphanedApproval()
	case v.in(analyse):
		return v.orphanInAnalyse()
	case v.in(development):
		return v.orphanInDevelopment()
	case v.in(review):
		return v.orphanInReview()
	}
	return nil
}

func (v *view) orphanedApproval() *Anomaly {
	if !v.tags.has(planApproved) || v.tags.any(planPending, planRejected, planned) {
		return nil
	}
	fix := &board.Change{AddTags: []string{planPending}}
	if !v.in(analyse) {
		fix.Column = analyse // where plans are finalized
	}
	return found(OrphanedApproval, "a plan is approved, and none is pending: nobody finalizes it", fix)
}

// orphanInAnalyse does not send a card on to where code is written: a person may have
// taken it back.
func (v *view) orphanInAnalyse() *Anomaly {
	if v.tags.any(ready, planPending, needsClarification) {
		return nil
	}
	if a := v.orphanedApproval(); a != nil {
		return a
	}
	fix := &board.Change{AddTags: []string{ready}}
	switch {
	case v.tags.any(planned, reworkRequested, mergeConflict, implementationFailed, branchSetupFailed, reviewApproved) || v.tags.complete():
		return found(OrphanedInAnalyse, "it is in Analyse with tags of a later step: move it on, or take them off and add Ready", nil)
	case v.tags.has(planRejected), v.facts.Planned:
		fix.AddTags = []string{planPending}
	case v.tags.has(clarificationAnswered):
		fix.AddTags = []string{needsClarification}
	}
	return found(OrphanedInAnalyse, "it is in Analyse, and no tag says what is to be done: nobody picks it up", fix)
}

func (v *view) orphanInDevelopment() *Anomaly {
	if v.tags.any(planned, reworkRequested, mergeConflict, claimed, implementationFailed, branchSetupFailed) {
		return nil
	}
	var fix *board.Change
	switch {
	case v.tags.complete(), v.tags.any(reviewInProgress, reviewApproved, invokeArchitect, assistComplete):
		fix = move(review)
	case v.tags.any(planPending, needsClarification):
		fix = move(analyse)
	case v.tags.has(planRejected):
		fix = move(analyse, planPending)
	case v.facts.Planned:
		fix = &board.Change{AddTags: []string{planned}}
	case v.tags.has(planApproved):
		fix = move(analyse, planPending)
	case v.tags.has(ready):
		fix = move(analyse)
	default:
		fix = move(analyse, ready)
	}
	return found(OrphanedInDevelopment, "it is in Development, and no tag says what is to be done: nobody picks it up", fix)
}

func (v *view) orphanInReview() *Anomaly {
	if v.tags.any(devComplete, designComplete, testComplete) {
		return v.halfComplete()
	}
	if v.tags.has(reworkComplete) || v.reviewed() {
		return nil
	}
	const text = "it is in Review, and no tag says what is to be reviewed: nobody picks it up"
	switch {
	case v.tags.has(opsReady):
		return found(OrphanedInReview, "it may be merged, and nobody approved it: add Review-Approved, or take Ops-Ready off", nil)
	case v.tags.any(planPending, ready, needsClarification):
		return found(OrphanedInReview, text, move(analyse))
	case v.tags.has(planRejected):
		return found(OrphanedInReview, text, move(analyse, planPending))
	case v.tags.has(planned):
		return found(OrphanedInReview, text, move(development))
	}
	return found(OrphanedInReview, text, move(development, planned))
}

// reviewed says that a card in Review is past waiting for one: somebody has it, has
// decided, or has to.
func (v *view) reviewed() bool {
	return v.tags.any(reviewInProgress, reviewApproved, reworkRequested, claimed, invokeArchitect, assistComplete,
		mergeConflict, implementationFailed, branchSetupFailed) ||
		v.tags.has(needsClarification) && !v.tags.has(clarificationAnswered)
}

// halfComplete: a card waits for a review only with all three of the tags. One that lacks
// some may get them yet, for a while.
func (v *view) halfComplete() *Anomaly {
	if v.tags.complete() || v.reviewed() ||
		v.age(devComplete, designComplete, testComplete) <= or(v.facts.Limits.Review, 2*time.Hour) {
		return nil
	}
	return found(OrphanedInReview, "it is in Review without all of Dev-Complete, Design-Complete and Test-Complete: add what is done, or move it to Development", nil)
}
