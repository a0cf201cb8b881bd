package boardcheck

import (
	"time"

	"orange/internal/core/board"
)

// findOrphan finds a card that requests nothing from anybody.
func (v *cardView) findOrphan() *Anomaly {
	switch {
	case v.isIn(toDo):
		return v.orphanedApproval()
	case v.isIn(analyse):
		return v.orphanInAnalyse()
	case v.isIn(development):
		return v.orphanInDevelopment()
	case v.isIn(review):
		return v.orphanInReview()
	}
	return nil
}

func (v *cardView) orphanedApproval() *Anomaly {
	if !v.tags.hasAll(planApproved) || v.tags.hasAny(planPending, planRejected, planned) {
		return nil
	}
	fix := &board.Change{AddTags: []string{planPending}}
	if !v.isIn(analyse) {
		fix.Column = analyse // where plans are finalized
	}
	return newAnomaly(OrphanedApproval, "a plan is approved, and none is pending: nobody finalizes it", fix)
}

// orphanInAnalyse does not move a card on to development: a person may have moved it back.
func (v *cardView) orphanInAnalyse() *Anomaly {
	if v.tags.hasAny(ready, planPending, needsClarification) {
		return nil
	}
	if a := v.orphanedApproval(); a != nil {
		return a
	}
	fix := &board.Change{AddTags: []string{ready}}
	switch {
	case v.tags.hasAny(planned, reworkRequested, mergeConflict, implementationFailed, branchSetupFailed, reviewApproved) || v.tags.isComplete():
		return newAnomaly(OrphanedInAnalyse, "it is in Analyse with tags of a later step: move it on, or remove them and add Ready", nil)
	case v.tags.hasAll(planRejected), v.facts.Planned:
		fix.AddTags = []string{planPending}
	case v.tags.hasAll(clarificationAnswered):
		fix.AddTags = []string{needsClarification}
	}
	return newAnomaly(OrphanedInAnalyse, "it is in Analyse, and no tag says what is to be done: nobody picks it up", fix)
}

func (v *cardView) orphanInDevelopment() *Anomaly {
	if v.tags.hasAny(planned, reworkRequested, mergeConflict, claimed, implementationFailed, branchSetupFailed) {
		return nil
	}
	var fix *board.Change
	switch {
	case v.tags.isComplete(), v.tags.hasAny(reviewInProgress, reviewApproved, invokeArchitect, assistComplete):
		fix = moveFix(review)
	case v.tags.hasAny(planPending, needsClarification):
		fix = moveFix(analyse)
	case v.tags.hasAll(planRejected):
		fix = moveFix(analyse, planPending)
	case v.facts.Planned:
		fix = &board.Change{AddTags: []string{planned}}
	case v.tags.hasAll(planApproved):
		fix = moveFix(analyse, planPending)
	case v.tags.hasAll(ready):
		fix = moveFix(analyse)
	default:
		fix = moveFix(analyse, ready)
	}
	return newAnomaly(OrphanedInDevelopment, "it is in Development, and no tag says what is to be done: nobody picks it up", fix)
}

func (v *cardView) orphanInReview() *Anomaly {
	if v.tags.hasAny(devComplete, designComplete, testComplete) {
		return v.halfComplete()
	}
	if v.tags.hasAll(reworkComplete) || v.isPastReview() {
		return nil
	}
	const text = "it is in Review, and no tag says what is to be reviewed: nobody picks it up"
	switch {
	case v.tags.hasAll(opsReady):
		return newAnomaly(OrphanedInReview, "Ops-Ready allows the merge, and nobody approved it: add Review-Approved, or remove Ops-Ready", nil)
	case v.tags.hasAny(planPending, ready, needsClarification):
		return newAnomaly(OrphanedInReview, text, moveFix(analyse))
	case v.tags.hasAll(planRejected):
		return newAnomaly(OrphanedInReview, text, moveFix(analyse, planPending))
	case v.tags.hasAll(planned):
		return newAnomaly(OrphanedInReview, text, moveFix(development))
	}
	return newAnomaly(OrphanedInReview, text, moveFix(development, planned))
}

// isPastReview reports whether a card in Review does not wait for a review: somebody has it, has decided, or has to.
func (v *cardView) isPastReview() bool {
	return v.tags.hasAny(reviewInProgress, reviewApproved, reworkRequested, claimed, invokeArchitect, assistComplete,
		mergeConflict, implementationFailed, branchSetupFailed) ||
		v.tags.hasAll(needsClarification) && !v.tags.hasAll(clarificationAnswered)
}

// halfComplete finds a card with only some of the three tags that request a review. It may still get the others for a
// while.
func (v *cardView) halfComplete() *Anomaly {
	if v.tags.isComplete() || v.isPastReview() ||
		v.tagAge(devComplete, designComplete, testComplete) <= orDefault(v.facts.Limits.Review, 2*time.Hour) {
		return nil
	}
	return newAnomaly(OrphanedInReview, "it is in Review without all of Dev-Complete, Design-Complete and Test-Complete: add what is done, or move it to Development", nil)
}
