package board

import (
	"slices"
	"strings"
	"time"
)

// Apply returns the card after a change, and the comment that the change makes, or nil. It applies all of the change
// or, with an error, none of it. A change without effect leaves the version unchanged. The error is a *Refusal. The
// caller checks whether a key was used before.
func Apply(card Card, c Change, v Vocabulary, now time.Time) (Card, *Comment, error) {
	said, err := newComment(c, now)
	if err != nil {
		return card, nil, err
	}
	next := card
	if err := next.applyFields(c, v, now); err != nil {
		return card, nil, err
	}
	if said == nil && sameCard(card, next) {
		return card, nil, nil
	}
	next.Version++
	next.UpdatedAt = now
	return next, said, nil
}

// New returns a card with the title, description, column and tags of draft, in the first column if draft names none.
// The caller sets the number.
func New(draft Card, v Vocabulary, now time.Time) (Card, error) {
	if err := v.Check(); err != nil {
		return Card{}, err
	}
	c := Change{Title: draft.Title, Description: &draft.Description, Column: draft.Column, AddTags: draft.Tags}
	if strings.TrimSpace(c.Title) == "" {
		return Card{}, checkTitle("")
	}
	if strings.TrimSpace(c.Column) == "" {
		c.Column = v.Columns[0]
	}
	card, _, err := Apply(Card{Project: draft.Project, Author: draft.Author, Tags: []string{}}, c, v, now)
	if err != nil {
		return Card{}, err
	}
	card.CreatedAt = now
	return card, nil
}

// ChangeBetween returns the change that leads from one version of a card to another. Reports of a change use it, so
// that they show what really changed.
func ChangeBetween(from, to Card, said *Comment) Change {
	var c Change
	c.AddTags, c.RemoveTags = namesWithout(to.Tags, from.Tags), namesWithout(from.Tags, to.Tags)
	if to.Column != from.Column {
		c.Column = to.Column
	}
	if to.Title != from.Title {
		c.Title = to.Title
	}
	if to.Description != from.Description {
		c.Description = &to.Description
	}
	if from.Claim != nil && (to.Claim == nil || to.Claim.Owner != from.Claim.Owner) {
		c.Release = from.Claim.Owner
	}
	if from.Claim != nil && (to.Claim == nil || to.Claim.Tag != from.Claim.Tag) && slices.Contains(to.Tags, from.Claim.Tag) {
		c.AddTags = append(c.AddTags, from.Claim.Tag) // it outlives the claim that it showed
	}
	if to.Claim != nil && !sameClaim(from.Claim, to.Claim) {
		c.Claim = to.Claim
	}
	if said != nil {
		c.Comment = said.Text
	}
	return c
}

// newComment returns the comment of a change, or nil.
func newComment(c Change, now time.Time) (*Comment, error) {
	text := strings.TrimSpace(c.Comment)
	if text == "" {
		return nil, nil
	}
	return &Comment{Author: c.Author, At: now, Text: text}, checkText("comment", text, MaxComment)
}

func (card *Card) applyFields(c Change, v Vocabulary, now time.Time) (err error) {
	if c.Key != "" {
		err = checkWord("the key of a change", c.Key, MaxKey)
	}
	if err == nil && c.Title != "" {
		card.Title = strings.TrimSpace(c.Title)
		err = checkTitle(card.Title)
	}
	if err == nil {
		err = card.changeDescription(c.Description, c.Was)
	}
	if err == nil && strings.TrimSpace(c.Column) != "" {
		card.Column, err = resolveName("column", c.Column, v.Columns)
	}
	if err == nil {
		err = card.changeTags(c, v, now)
	}
	return err
}

// changeDescription sets the description. A change that was made already counts as made.
func (card *Card) changeDescription(to, was *string) error {
	done := to != nil && card.Description == *to
	if was != nil && card.Description != *was && !done {
		return Refusef("the description was changed meanwhile: read it again")
	}
	if to == nil || done {
		return nil
	}
	card.Description = *to
	return checkText("description", card.Description, MaxDescription)
}

// sameCard compares every field that a change may change.
func sameCard(a, b Card) bool {
	return a.Title == b.Title && a.Description == b.Description && a.Column == b.Column &&
		slices.Equal(a.Tags, b.Tags) && sameClaim(a.Claim, b.Claim)
}

func sameClaim(a, b *Claim) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Owner == b.Owner && a.Tag == b.Tag && a.Until.Equal(b.Until)
}
