package boardcheck

import (
	"time"

	"orange/internal/core/board"
)

// ClaimIsStale says whether a claim is older than it may be.
func ClaimIsStale(age, threshold time.Duration) bool { return age > threshold }

// Claimable says whether a developer may take a card: it is in Development, something there
// is to be done, and nobody has it.
func Claimable(card board.Card, now time.Time) bool {
	v := &view{card: card, now: now, tags: tagSet(card.Tags)}
	switch {
	case !v.in(development) || v.tags.any(claimed) || card.Claim.Holds(now):
		return false
	case v.tags.any(mergeConflict, reworkRequested):
		return true
	}
	return v.tags.has(planned) && !v.tags.any(implementationFailed, branchSetupFailed)
}

// A hold is what keeps the pipeline busy.
type hold struct {
	column string
	any    []string
	not    []string
	reason string
}

// holds in the order in which they are looked for. What waits for a person after a failure
// keeps nobody else waiting.
var holds = []hold{
	{development, []string{claimed}, nil, "Task being worked on by a dev"},
	{development, []string{mergeConflict}, nil, "Task has a merge conflict to resolve"},
	{development, []string{reworkRequested}, nil, "Task needs rework after review"},
	{development, []string{planned}, []string{implementationFailed, branchSetupFailed}, "Planned task waiting for dev claim"},
	{review, []string{invokeArchitect, assistComplete}, nil, "Task waiting for advice on a merge conflict"},
	{review, []string{reworkRequested}, nil, "Task needs rework after review"},
	{review, []string{opsReady}, nil, "Approved task waiting to be merged"},
	{deploy, []string{opsReady}, nil, "Approved task waiting to be merged"},
	{review, []string{reviewApproved}, []string{opsReady}, "Approved task awaiting human Ops-Ready tag"},
	{review, []string{reviewInProgress}, nil, "Task in code review"},
	{review, []string{devComplete, designComplete, testComplete, reworkComplete}, nil, "Task awaiting code review"},
}

// PipelineGate says why no further card may enter a pipeline that takes one at a time, ""
// if it is free.
func PipelineGate(cards []board.Card) string {
	for _, h := range holds {
		for i := range cards {
			v := &view{card: cards[i], tags: tagSet(cards[i].Tags)}
			if v.in(h.column) && v.tags.any(h.any...) && !v.tags.any(h.not...) {
				return h.reason
			}
		}
	}
	return ""
}
