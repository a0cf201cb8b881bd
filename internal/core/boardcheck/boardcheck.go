// Package boardcheck finds cards of a board that nobody will ever pick up, or that say two
// things at once, and says how to mend them. It knows the columns and tags of the
// workflow joan-board, in any spelling of capitals; what it does not know it leaves alone.
// It is rules over values: reading boards and making the changes is for others.
package boardcheck

import (
	"strings"
	"time"

	"orange/internal/core/board"
)

// Type names what is wrong with a card.
type Type string

// The types.
const (
	InvalidTagCombo       Type = "INVALID_TAG_COMBO"       // tags that contradict each other
	OrphanedInAnalyse     Type = "ORPHANED_IN_ANALYSE"     // no tag there asks for anything
	OrphanedInDevelopment Type = "ORPHANED_IN_DEVELOPMENT" // likewise
	OrphanedInReview      Type = "ORPHANED_IN_REVIEW"      // likewise
	OrphanedApproval      Type = "ORPHANED_APPROVAL"       // a plan is approved that waits for nothing
	StaleTagsInDeploy     Type = "STALE_TAGS_IN_DEPLOY"    // tags of work that is over, in Deploy or Done
	StaleClaim            Type = "STALE_CLAIM"             // somebody took it long ago
	StuckPlanFinalization Type = "STUCK_PLAN_FINALIZATION" // a plan was approved long ago
	StuckOpsMerge         Type = "STUCK_OPS_MERGE"         // a merge was allowed long ago
	ReadyNotPlanned       Type = "READY_NOT_PLANNED"       // ready long ago, where nobody plans
	PRAlreadyMerged       Type = "PR_ALREADY_MERGED"       // the work is in, the card is not there
	PRClosedWithoutMerge  Type = "PR_CLOSED_WITHOUT_MERGE" // the work was thrown away, the card goes on
)

// Severities.
const (
	Error   = "error"   // it stays as it is until somebody does something
	Warning = "warning" // it may be meant
)

// An Anomaly is one thing that is wrong with a card. The fix makes it go away; without one
// a person has to decide.
type Anomaly struct {
	Type     Type          `json:"type"`
	Severity string        `json:"severity"`
	Text     string        `json:"text"`
	Fix      *board.Change `json:"fix,omitempty"`
}

// Facts are what a card does not show by itself.
type Facts struct {
	PR      string               // state of its pull request, as package tracker has it; "" if none is known
	Planned bool                 // a plan is in its description
	Busy    bool                 // a task works on it at this moment
	Since   map[string]time.Time // when tags were set, as far as the tracker says; else the card's last change counts
	Limits  Limits
}

// Limits are how long things may take. What is 0 has the usual value.
type Limits struct {
	Claim    time.Duration // 2 h
	Finalize time.Duration // 1 h
	Merge    time.Duration // 1 h
	Plan     time.Duration // 1 h
	Review   time.Duration // 2 h
}

// CheckCard says what is wrong with a card, the most telling first. A card that somebody is
// working on, or holds by a claim that lasts, is left alone: it changes under one's hands.
// Mending one thing may bring another to light, and mending all of them comes to an end.
func CheckCard(card board.Card, f Facts, now time.Time) []Anomaly {
	if f.Busy || card.Claim.HoldsAt(now) {
		return nil
	}
	v := &cardView{card: card, facts: f, now: now, tags: tagSet(card.Tags)}
	if a := v.findMerged(); a != nil {
		return []Anomaly{*a} // whatever else its tags say is over
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

// tagAge is how long ago the last of some tags was set; 0 if nobody knows.
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
