package board_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orange/internal/core/board"
)

// names are tags as somebody may call them, two of them wrong.
var names = rapid.SampledFrom([]string{"Ready", "ready", " Planned", "Claimed-Dev-1", "CLAIMED-DEV-2", "Dev-Complete", "Nope", ""})

func drawClaim(t *rapid.T) *board.Claim {
	if !rapid.Bool().Draw(t, "a claim") {
		return nil
	}
	return lease(rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "owner"),
		rapid.SampledFrom([]string{"", "Claimed-Dev-1", "claimed-dev-2"}).Draw(t, "claim tag"), rapid.IntRange(-2, 3).Draw(t, "minutes"))
}

func drawText(t *rapid.T, name string, from ...string) *string {
	if !rapid.Bool().Draw(t, name+" given") {
		return nil
	}
	return text(rapid.SampledFrom(from).Draw(t, name))
}

func drawChange(t *rapid.T) board.Change {
	c := board.Change{
		AddTags: rapid.SliceOfN(names, 0, 3).Draw(t, "add"), RemoveTags: rapid.SliceOfN(names, 0, 3).Draw(t, "remove"),
		Column:      rapid.SampledFrom([]string{"", "", "Done", "analyse", "Nope"}).Draw(t, "column"),
		Comment:     rapid.SampledFrom([]string{"", "", "hi"}).Draw(t, "comment"),
		Title:       rapid.SampledFrom([]string{"", "", "Basket", "a\nb"}).Draw(t, "title"),
		Description: drawText(t, "description", "Sell.", "Buy."), Was: drawText(t, "was", "Sell.", "Buy."),
		Claim: drawClaim(t), Release: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "release"),
	}
	return c
}

// What must hold of every change, on a card that other changes have led to.
func TestEveryChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		have, now := card(), noon.Add(-time.Minute)
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			now = now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "seconds")) * time.Second)
			c := drawChange(t)
			before := clone(have)
			got, said, err := board.Apply(have, c, known, now)
			if diff := cmp.Diff(before, have); diff != "" {
				t.Fatalf("the card given was changed\n%s", diff)
			}
			if err != nil {
				if diff := cmp.Diff(before, got); diff != "" || said != nil {
					t.Fatalf("refused with %v, and yet\n%s", err, diff)
				}
				continue
			}
			checkApplied(t, have, got, c, said, now)
			have = got
		}
	})
}

func checkApplied(t *rapid.T, have, got board.Card, c board.Change, said *board.Comment, now time.Time) {
	if why := board.MissingEffect(got, c); why != "" {
		t.Fatalf("missing: %s", why)
	}
	if sorted := slices.Sorted(slices.Values(got.Tags)); len(slices.Compact(sorted)) != len(got.Tags) {
		t.Fatalf("tags are no set: %q", got.Tags)
	}
	for _, tag := range got.Tags {
		if !slices.Contains(known.Tags, tag) {
			t.Fatalf("tag %q is not spelled as the board does", tag)
		}
	}
	if claim := got.Claim; claim != nil && claim.Tag != "" && !slices.Contains(got.Tags, claim.Tag) {
		t.Fatalf("the claim %v does not show in %q", claim, got.Tags)
	}
	if changed := !cmp.Equal(have, got); (got.Version == have.Version+1) != changed || !changed && got.Version != have.Version {
		t.Fatalf("version %d after %d, changed %v", got.Version, have.Version, changed)
	}
	again := c
	again.Comment = ""
	twice, _, err := board.Apply(got, again, known, now)
	if diff := cmp.Diff(got, twice); diff != "" || err != nil {
		t.Fatalf("twice is not once: %v\n%s", err, diff)
	}
	told := board.ChangeBetween(have, got, said)
	replayed, repeated, err := board.Apply(have, told, known, now)
	if said != nil {
		said.Author = ""
	}
	if diff := cmp.Diff(got, replayed) + cmp.Diff(said, repeated); diff != "" || err != nil {
		t.Fatalf("%+v is told and does not lead there: %v\n%s", told, err, diff)
	}
}

func clone(c board.Card) board.Card {
	c.Tags = slices.Clone(c.Tags)
	if c.Claim != nil {
		claim := *c.Claim
		c.Claim = &claim
	}
	return c
}
