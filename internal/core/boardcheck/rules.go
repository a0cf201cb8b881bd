package boardcheck

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// findMerged finds a card whose change is merged while its column is one in which changes are made. If more work was
// requested, only a person knows whether that was before or after the merge.
func (v *cardView) findMerged() *Anomaly {
	if !v.isIn(development, review) || !strings.EqualFold(v.facts.PR, tracker.Merged) {
		return nil
	}
	if v.tags.hasAll(reworkRequested) {
		return newAnomaly(PRAlreadyMerged, "its pull request is merged and rework is requested: remove the tag and move it to Deploy, or open a new pull request", nil)
	}
	fix := moveFix(deploy)
	fix.RemoveTags = v.tags.workflowTags()
	v.releaseClaim(fix)
	return newAnomaly(PRAlreadyMerged, "its pull request is merged, and the card is still in "+v.card.Column, fix)
}

// findClosed finds a card whose pull request was closed, where nothing on the card shows a new start.
func (v *cardView) findClosed() *Anomaly {
	if !v.isIn(development, review, deploy) || !strings.EqualFold(v.facts.PR, tracker.Closed) || v.tags.hasAll(reworkRequested) {
		return nil
	}
	a := newAnomaly(PRClosedWithoutMerge, "its pull request was closed without a merge: ask for rework, open it again, or remove the card from the board", nil)
	a.Severity = Warning
	return a
}

func (v *cardView) findContradiction() *Anomaly {
	all := v.tags.contradictingPairs()
	if len(all) == 0 || v.isIn(deploy, done) && !v.mergeToCome() {
		return nil // there all of them are leftovers
	}
	var said, remove []string
	person := false
	for _, p := range all {
		gone := v.tags.findTags(p.remove)
		kept := p.a
		if kept == p.remove {
			kept = p.b
		}
		said = append(said, strings.Join(gone, ", ")+" does not go with "+kept)
		remove = append(remove, gone...)
		person = person || v.forAPerson(p)
	}
	text := "its tags contradict each other: " + strings.Join(said, "; ")
	if person {
		return newAnomaly(InvalidTagCombo, text+": remove the wrong one", nil)
	}
	fix := &board.Change{RemoveTags: remove}
	v.releaseClaim(fix)
	return newAnomaly(InvalidTagCombo, text, fix)
}

// forAPerson reports whether only a person may resolve a contradiction: it is about what a person said, or whether a
// person said it.
func (v *cardView) forAPerson(p pair) bool {
	switch {
	case p.a == planApproved && p.b == planRejected:
		return true
	case p.a == planPending && p.b == planned:
		return !v.isIn(development, review) && !v.tags.hasAll(planApproved) || v.tags.hasAll(planRejected)
	}
	return false
}

// releaseClaim ends the claim that a removed tag shows.
func (v *cardView) releaseClaim(fix *board.Change) {
	claim := v.card.Claim
	if claim == nil {
		return
	}
	for _, tag := range fix.RemoveTags {
		if strings.EqualFold(tag, claim.Tag) {
			fix.Release = claim.Owner
		}
	}
}

// staleClaim finds a stale claim: an expired one immediately, one without an end when it is too old.
func (v *cardView) staleClaim() *Anomaly {
	tags := v.tags.findTags(claimed, reviewInProgress)
	if len(tags) == 0 || v.isIn(deploy, done) {
		return nil
	}
	age, limit := v.tagAge(tags...), orDefault(v.facts.Limits.Claim, 2*time.Hour)
	fix := &board.Change{RemoveTags: tags}
	v.releaseClaim(fix)
	switch {
	case fix.Release != "":
		return newAnomaly(StaleClaim, "the claim of "+fix.Release+" has ended, and "+strings.Join(tags, ", ")+" is still set", fix)
	case ClaimIsStale(age, limit):
		return newAnomaly(StaleClaim, fmt.Sprintf("it was claimed %s ago (%s), and nobody finished", roughDuration(age), strings.Join(tags, ", ")), fix)
	}
	return nil
}

func (v *cardView) stuckPlan() *Anomaly {
	age := v.tagAge(planApproved)
	if !v.tags.hasAll(planPending, planApproved) || v.tags.hasAll(planRejected) || v.isIn(development, review, deploy, done) ||
		age <= orDefault(v.facts.Limits.Finalize, time.Hour) {
		return nil
	}
	text := fmt.Sprintf("its plan was approved %s ago, and nobody finalizes it: dispatch it again", roughDuration(age))
	if v.isIn(toDo) {
		text = fmt.Sprintf("its plan was approved %s ago, and nobody finalizes it in %s: move it to Analyse", roughDuration(age), v.card.Column)
	}
	return newAnomaly(StuckPlanFinalization, text, nil)
}

// mergeToCome reports whether a person allowed the merge, and it is not known to be done.
func (v *cardView) mergeToCome() bool {
	return v.tags.hasAll(opsReady) && (v.isIn(deploy) || v.tags.hasAll(reviewApproved)) && !v.isIn(done)
}

func (v *cardView) stuckMerge() *Anomaly {
	age := v.tagAge(opsReady)
	if !v.mergeToCome() || age <= orDefault(v.facts.Limits.Merge, time.Hour) {
		return nil
	}
	return newAnomaly(StuckOpsMerge, fmt.Sprintf("its merge was allowed %s ago, and nobody merges it: dispatch it again", roughDuration(age)), nil)
}

func (v *cardView) notPlanned() *Anomaly {
	age := v.tagAge(ready)
	if !v.isIn(toDo) || !v.tags.hasAll(ready) || age <= orDefault(v.facts.Limits.Plan, time.Hour) {
		return nil
	}
	return newAnomaly(ReadyNotPlanned, fmt.Sprintf("it has been ready for %s, and nobody plans cards in %s", roughDuration(age), v.card.Column), moveFix(analyse))
}

// leftOver finds tags of finished work. It keeps tags that request more work.
func (v *cardView) leftOver() *Anomaly {
	tags := v.tags.workflowTags()
	if !v.isIn(deploy, done) || len(tags) == 0 || v.mergeToCome() {
		return nil
	}
	if asks := v.tags.findTags(reworkRequested, mergeConflict, needsClarification); len(asks) > 0 {
		return newAnomaly(StaleTagsInDeploy, fmt.Sprintf("it is in %s, and %s requests work: remove the tag, or move it back", v.card.Column, strings.Join(asks, ", ")), nil)
	}
	fix := &board.Change{RemoveTags: tags}
	v.releaseClaim(fix)
	return newAnomaly(StaleTagsInDeploy, fmt.Sprintf("it is in %s with tags of finished work: %s", v.card.Column, strings.Join(tags, ", ")), fix)
}

// roughDuration returns a duration in words, rounded.
func roughDuration(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d minutes", int(d.Minutes()))
}

// ClaimIsStale reports whether a claim is older than permitted.
func ClaimIsStale(age, threshold time.Duration) bool { return age > threshold }
