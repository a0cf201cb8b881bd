package boardcheck

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// merged: the change is in the default branch, and the card is where changes are made. If
// more work was asked for, only a person knows whether that came before or after.
func (v *view) merged() *Anomaly {
	if !v.in(development, review) || !strings.EqualFold(v.facts.PR, tracker.Merged) {
		return nil
	}
	if v.tags.has(reworkRequested) {
		return found(PRAlreadyMerged, "its pull request is merged and rework is requested: take the tag off and move it to Deploy, or begin a new pull request", nil)
	}
	fix := move(deploy)
	fix.RemoveTags = v.tags.workflow()
	v.release(fix)
	return found(PRAlreadyMerged, "its pull request is merged, and the card is still in "+v.card.Column, fix)
}

// closed: the pull request was given up, and nothing on the card says that it begins anew.
func (v *view) closed() *Anomaly {
	if !v.in(development, review, deploy) || !strings.EqualFold(v.facts.PR, tracker.Closed) || v.tags.has(reworkRequested) {
		return nil
	}
	a := found(PRClosedWithoutMerge, "its pull request was closed without a merge: ask for rework, open it again, or take the card off the board", nil)
	a.Severity = Warning
	return a
}

func (v *view) contradiction() *Anomaly {
	all := v.tags.contradictions()
	if len(all) == 0 || v.in(deploy, done) && !v.mergeToCome() {
		return nil // there all of them are left over
	}
	var said, remove []string
	person := false
	for _, p := range all {
		gone := v.tags.find(p.remove)
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
		return found(InvalidTagCombo, text+": take off the one that is wrong", nil)
	}
	fix := &board.Change{RemoveTags: remove}
	v.release(fix)
	return found(InvalidTagCombo, text, fix)
}

// forAPerson says whether no rule may settle a contradiction: it is about what a person
// said, or about whether one said it at all.
func (v *view) forAPerson(p pair) bool {
	switch {
	case p.a == planApproved && p.b == planRejected:
		return true
	case p.a == planPending && p.b == planned:
		return !v.in(development, review) && !v.tags.has(planApproved) || v.tags.has(planRejected)
	}
	return false
}

// release ends the claim that shows in a tag that is taken off.
func (v *view) release(fix *board.Change) {
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

// staleClaim: a claim that lapsed is stale at once, one without an end when it is too old.
func (v *view) staleClaim() *Anomaly {
	tags := v.tags.find(claimed, reviewInProgress)
	if len(tags) == 0 || v.in(deploy, done) {
		return nil
	}
	age, limit := v.age(tags...), or(v.facts.Limits.Claim, 2*time.Hour)
	fix := &board.Change{RemoveTags: tags}
	v.release(fix)
	switch {
	case fix.Release != "":
		return found(StaleClaim, "the claim of "+fix.Release+" is over, and "+strings.Join(tags, ", ")+" is still there", fix)
	case ClaimIsStale(age, limit):
		return found(StaleClaim, fmt.Sprintf("it was claimed %s ago (%s), and nobody finished", rough(age), strings.Join(tags, ", ")), fix)
	}
	return nil
}

func (v *view) stuckPlan() *Anomaly {
	age := v.age(planApproved)
	if !v.tags.has(planPending, planApproved) || v.tags.has(planRejected) || v.in(development, review, deploy, done) ||
		age <= or(v.facts.Limits.Finalize, time.Hour) {
		return nil
	}
	text := fmt.Sprintf("its plan was approved %s ago, and nobody finalizes it: dispatch it again", rough(age))
	if v.in(toDo) {
		text = fmt.Sprintf("its plan was approved %s ago, and nobody finalizes it in %s: move it to Analyse", rough(age), v.card.Column)
	}
	return found(StuckPlanFinalization, text, nil)
}

// mergeToCome says that a person allowed the merge, and it is not known to be done.
func (v *view) mergeToCome() bool {
	return v.tags.has(opsReady) && (v.in(deploy) || v.tags.has(reviewApproved)) && !v.in(done)
}

func (v *view) stuckMerge() *Anomaly {
	age := v.age(opsReady)
	if !v.mergeToCome() || age <= or(v.facts.Limits.Merge, time.Hour) {
		return nil
	}
	return found(StuckOpsMerge, fmt.Sprintf("its merge was allowed %s ago, and nobody merges it: dispatch it again", rough(age)), nil)
}

func (v *view) notPlanned() *Anomaly {
	age := v.age(ready)
	if !v.in(toDo) || !v.tags.has(ready) || age <= or(v.facts.Limits.Plan, time.Hour) {
		return nil
	}
	return found(ReadyNotPlanned, fmt.Sprintf("it is ready for %s, and nobody plans cards in %s", rough(age), v.card.Column), move(analyse))
}

// leftOver: tags of work that is over. What asks for more work is not taken off like that.
func (v *view) leftOver() *Anomaly {
	tags := v.tags.workflow()
	if !v.in(deploy, done) || len(tags) == 0 || v.mergeToCome() {
		return nil
	}
	if asks := v.tags.find(reworkRequested, mergeConflict, needsClarification); len(asks) > 0 {
		return found(StaleTagsInDeploy, fmt.Sprintf("it is in %s, and %s asks for work: take the tag off, or move it back", v.card.Column, strings.Join(asks, ", ")), nil)
	}
	fix := &board.Change{RemoveTags: tags}
	v.release(fix)
	return found(StaleTagsInDeploy, fmt.Sprintf("it is in %s with tags of work that is over: %s", v.card.Column, strings.Join(tags, ", ")), fix)
}

// rough writes a time as people say it.
func rough(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d minutes", int(d.Minutes()))
}

// ClaimIsStale says whether a claim is older than it may be.
func ClaimIsStale(age, threshold time.Duration) bool { return age > threshold }
