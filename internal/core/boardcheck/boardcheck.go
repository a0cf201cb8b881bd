// Package boardcheck finds cards of a board that nobody will ever pick up, or whose tags contradict each other, and
// proposes fixes. It knows the columns and tags of the workflow joan-board, in any case; it ignores all others. It has
// only rules over values: other packages read boards and make the changes.
package boardcheck

import (
	"strings"
	"time"

	"orange/internal/core/board"
)

// Type is the kind of an anomaly.
type Type string

// The types.
const (
	InvalidTagCombo       Type = "INVALID_TAG_COMBO"       // tags that contradict each other
	OrphanedInAnalyse     Type = "ORPHANED_IN_ANALYSE"     // no tag requests anything there
	OrphanedInDevelopment Type = "ORPHANED_IN_DEVELOPMENT" // likewise
	OrphanedInReview      Type = "ORPHANED_IN_REVIEW"      // likewise
	OrphanedApproval      Type = "ORPHANED_APPROVAL"       // a plan is approved, but none waits for approval
	StaleTagsInDeploy     Type = "STALE_TAGS_IN_DEPLOY"    // tags of finished work, in Deploy or Done
	StaleClaim            Type = "STALE_CLAIM"             // claimed too long ago
	StuckPlanFinalization Type = "STUCK_PLAN_FINALIZATION" // a plan was approved too long ago
	StuckOpsMerge         Type = "STUCK_OPS_MERGE"         // a merge was allowed too long ago
	ReadyNotPlanned       Type = "READY_NOT_PLANNED"       // ready too long ago, where nobody plans
	PRAlreadyMerged       Type = "PR_ALREADY_MERGED"       // the work is merged, but the card is not in that column
	PRClosedWithoutMerge  Type = "PR_CLOSED_WITHOUT_MERGE" // the pull request was closed, but the card is still active
)

// Severities.
const (
	Error   = "error"   // the card is stuck until somebody acts
	Warning = "warning" // it may be intended
)

// An Anomaly is one thing that is wrong with a card. The fix removes it; without a fix a person has to decide.
type Anomaly struct {
	Type     Type          `json:"type"`
	Severity string        `json:"severity"`
	Text     string        `json:"text"`
	Fix      *board.Change `json:"fix,omitempty"`
}

// Facts are what a card does not show by itself.
type Facts struct {
	PR      string               // state of its pull request, as package tracker has it; "" if unknown
	Planned bool                 // its description contains a plan
	Busy    bool                 // a task is working on it
	Since   map[string]time.Time // when tags were set, if the tracker reports it; else the card's last change counts
	Limits  Limits
}

// Limits are how long things may take. Zero means the default.
type Limits struct {
	Claim    time.Duration // 2 h
	Finalize time.Duration // 1 h
	Merge    time.Duration // 1 h
	Plan     time.Duration // 1 h
	Review   time.Duration // 2 h
}

// CheckCard returns what is wrong with a card, most important first. It skips a card that somebody is working on, or
// holds by an active claim, because it is about to change. One fix may reveal another anomaly; a sequence of fixes
// always ends.
func CheckCard(card board.Card, f Facts, now time.Time) []Anomaly {
	if f.Busy || card.Claim.HoldsAt(now) {
		return nil
	}
	v := &cardView{card: card, facts: f, now: now, tags: tagSet(card.Tags)}
	if a := v.findMerged(); a != nil {
		return []Anomaly{*a} // the other tags no longer matter
	}
	var out []Anomaly
	for _, rule := range []func(*cardView) *Anomaly{
		(*cardView).findClosed, (*cardView).findContradiction, (*cardView).staleClaim, (*cardView).findOrphan,
		(*cardView).stuckPlan, (*cardView).stuckMerge, (*cardView).notPlanned, (*cardView).leftOver,
	} {
		if a := rule(v); a != nil {
			out = append(out, *a)
		}
	}
	return out
}

// A cardView is a card as the rules see it.
type cardView struct {
	card  board.Card
	facts Facts
	now   time.Time
	tags  tagSpellings
}

func (v *cardView) isIn(columns ...string) bool {
	for _, c := range columns {
		if strings.EqualFold(strings.TrimSpace(v.card.Column), c) {
			return true
		}
	}
	return false
}

// tagAge returns how long ago the last of some tags was set, or 0 if unknown.
func (v *cardView) tagAge(tags ...string) time.Duration {
	var last time.Time
	for _, tag := range tags {
		for set, at := range v.facts.Since {
			if strings.EqualFold(set, tag) && at.After(last) {
				last = at
			}
		}
	}
	if last.IsZero() {
		last = v.card.UpdatedAt
	}
	if last.IsZero() {
		return 0
	}
	return v.now.Sub(last)
}

func newAnomaly(t Type, text string, fix *board.Change) *Anomaly {
	return &Anomaly{Type: t, Severity: Error, Text: text, Fix: fix}
}

func moveFix(column string, add ...string) *board.Change {
	return &board.Change{Column: column, AddTags: add}
}

func orDefault(limit, usual time.Duration) time.Duration {
	if limit > 0 {
		return limit
	}
	return usual
}
