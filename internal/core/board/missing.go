package board

import "strings"

// MissingEffect returns which effect of a change a card does not show, or "" if it shows all of them. The card must be
// read after the change. Comments are not checked.
func MissingEffect(card Card, c Change) string {
	has := func(tag string) bool { return findName(card.Tags, strings.TrimSpace(tag)) != "" }
	for _, tag := range c.AddTags {
		if !has(tag) {
			return "tag " + strings.TrimSpace(tag) + " is not on the card"
		}
	}
	for _, tag := range c.RemoveTags {
		if has(tag) {
			return "tag " + strings.TrimSpace(tag) + " is still on the card"
		}
	}
	switch column := strings.TrimSpace(c.Column); {
	case column != "" && !strings.EqualFold(column, card.Column):
		return "the card is in column " + card.Column + ", not " + column
	case c.Title != "" && strings.TrimSpace(c.Title) != card.Title:
		return "the card has another title"
	case c.Description != nil && *c.Description != card.Description:
		return "the card has another description"
	}
	return missingClaim(card, c)
}

func missingClaim(card Card, c Change) string {
	have, want := card.Claim, c.Claim
	switch {
	case want == nil && c.Release != "" && have != nil && have.Owner == c.Release:
		return "the claim of " + c.Release + " is not released"
	case want == nil:
		return ""
	case have == nil || have.Owner != want.Owner || have.Until.Before(want.Until):
		return "the card is not claimed by " + want.Owner
	case want.Tag != "" && findName(card.Tags, strings.TrimSpace(want.Tag)) == "":
		return "tag " + strings.TrimSpace(want.Tag) + " is not on the card"
	}
	return ""
}
