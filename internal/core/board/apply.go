package board

import (
	"slices"
	"strings"
	"time"
)

// Apply returns the card as a change leaves it, and what the change says about it, nil
// if nothing. It is all of the change or, with an error, none of it. A change that
// changes nothing leaves the version as it is. The error is a *Refusal. Whether a key
// was seen before is for whoever keeps the keys to say.
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

// New returns a card with the title, description, column and tags of draft, in the
// first column if it names none. The number is for whoever keeps the cards to set.
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

// ChangeBetween says how two versions of a card differ: the change that leads from one to
// the other. Whoever tells of a change tells this, so that it is true.
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

// newComment is what the change says, nil if it says nothing.
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

// changeDescription takes a change that was made already for one that may be made.
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

// sameCard compares all that a change may change.
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
