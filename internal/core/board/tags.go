package board

import (
	"slices"
	"time"
)

// changeTags applies the tag changes as one set, together with the claim that one of the tags shows. Removing the tag
// of a claim ends the claim.
func (card *Card) changeTags(c Change, v Vocabulary, now time.Time) error {
	w, err := card.wantedTags(c, v)
	if err != nil {
		return err
	}
	gone := w.remove
	if held := card.Claim; held != nil && (held.Owner == c.Release || held.Tag != "" && slices.Contains(w.remove, held.Tag)) {
		card.Claim = nil
		gone = append(gone, held.Tag)
	}
	if w.claim != nil {
		if err := mayClaim(card.Claim, w.claim, now); err != nil {
			return err
		}
		if card.Claim != nil {
			gone = append(gone, card.Claim.Tag)
		}
		card.Claim = w.claim
	}
	stay := namesWithout(card.Tags, namesWithout(gone, w.add))
	card.Tags = append(append([]string{}, stay...), namesWithout(w.add, stay)...)
	if len(card.Tags) > MaxTags {
		return Refusef("a card has at most %d tags: remove some", MaxTags)
	}
	return nil
}

// wanted is the requested change of tags and claim, with names in the board's spelling.
type wanted struct {
	add, remove []string // add includes the tag of the claim
	claim       *Claim
}

func (card *Card) wantedTags(c Change, v Vocabulary) (w wanted, err error) {
	add := c.AddTags
	if c.Claim != nil {
		claim := *c.Claim
		if err := checkWord("the owner of a claim", claim.Owner, MaxOwner); err != nil {
			return w, err
		}
		if claim.Tag != "" {
			if claim.Tag, err = resolveName("tag", claim.Tag, v.Tags); err != nil {
				return w, err
			}
			add = append(slices.Clone(add), claim.Tag)
		}
		w.claim = &claim
	}
	if w.add, err = resolveAll(add, v.Tags); err != nil {
		return w, err
	}
	if w.remove, err = resolveAll(c.RemoveTags, append(slices.Clone(v.Tags), card.Tags...)); err != nil {
		return w, err
	}
	for _, tag := range w.add {
		if slices.Contains(w.remove, tag) {
			return w, Refusef("tag %q is to be added and removed at once: ask for one of them", tag)
		}
	}
	return w, nil
}

// resolveAll returns the known tags for names, each once.
func resolveAll(names, known []string) ([]string, error) {
	var out []string
	for _, name := range names {
		tag, err := resolveName("tag", name, known)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, tag) {
			out = append(out, tag)
		}
	}
	return out, nil
}

// mayClaim returns why a claim cannot be taken, or nil if it can: the card is unclaimed, or the present claim has
// expired or is the owner's own.
func mayClaim(held, wanted *Claim, now time.Time) error {
	switch {
	case !wanted.Until.After(now):
		return Refusef("a claim until %s is over already: ask for one that lasts", formatTime(wanted.Until))
	case held.HoldsAt(now) && held.Owner != wanted.Owner:
		return Refusef("the card is claimed by %s until %s: wait, or have it released", held.Owner, formatTime(held.Until))
	}
	return nil
}

// HoldsAt reports whether the claim excludes others at a moment. A nil claim does not.
func (c *Claim) HoldsAt(now time.Time) bool { return c != nil && c.Until.After(now) }

func formatTime(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// namesWithout returns the names of list that are not in others, in order.
func namesWithout(list, others []string) []string {
	var out []string
	for _, name := range list {
		if !slices.Contains(others, name) {
			out = append(out, name)
		}
	}
	return out
}
