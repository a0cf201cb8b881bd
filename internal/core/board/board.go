// Package board defines a board with columns, tags, comments and descriptions, as values: what a card is, what may
// change about it, and what a change results in. It stores nothing.
package board

import (
	"errors"
	"fmt"
	"time"
)

// A Card is one piece of work on a project's board.
type Card struct {
	Project     string    `json:"project"`
	Number      int       `json:"number"`
	Title       string    `json:"title"`
	Author      string    `json:"author,omitempty"` // who created it
	Description string    `json:"description,omitempty"`
	Column      string    `json:"column"`
	Tags        []string  `json:"tags"` // in the order in which they were set
	Claim       *Claim    `json:"claim,omitempty"`
	Version     int       `json:"version"` // grows with every change
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// A Claim is a lease: while it lasts, only its owner works on the card.
type Claim struct {
	Owner string    `json:"owner"`
	Tag   string    `json:"tag,omitempty"` // shown on the card while it is claimed
	Until time.Time `json:"until"`
}

// A Comment is a comment on a card. Its text is untrusted.
type Comment struct {
	Number int       `json:"number"`
	Author string    `json:"author"`
	At     time.Time `json:"at"`
	Text   string    `json:"text"`
}

// A Change describes changes to a card; all of them are applied, or none. Applying a change with the same key a second
// time has no effect.
type Change struct {
	Key         string   `json:"key,omitempty"`
	Author      string   `json:"author,omitempty"`
	AddTags     []string `json:"add_tags,omitempty"`
	RemoveTags  []string `json:"remove_tags,omitempty"`
	Column      string   `json:"column,omitempty"`
	Comment     string   `json:"comment,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description *string  `json:"description,omitempty"`
	Was         *string  `json:"was,omitempty"`     // the description must still be this one
	Claim       *Claim   `json:"claim,omitempty"`   // taken if the card is unclaimed, the claim is stale, or it is the owner's own
	Release     string   `json:"release,omitempty"` // owner whose claim ends
}

// A Vocabulary lists a board's columns, in order, and its tags.
type Vocabulary struct {
	Columns []string `json:"columns"`
	Tags    []string `json:"tags"`
}

// An Event is one effective change of a card: its result, not the request. The first event creates the card.
type Event struct {
	Seq    int       `json:"seq"`
	At     time.Time `json:"at"`
	Author string    `json:"author"`
	Change Change    `json:"change"`
}

// ErrNotFound means that the card does not exist.
var ErrNotFound = errors.New("card not found")

// A Refusal is the reason why a change cannot be made. Retrying does not help; a different request does.
type Refusal struct{ text string }

func (r *Refusal) Error() string { return r.text }

// Refusef returns a refusal of one line.
func Refusef(format string, args ...any) error {
	return &Refusal{text: fmt.Sprintf(format, args...)}
}
