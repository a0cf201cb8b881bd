package boardcheck_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orange/internal/core/board"
	"orange/internal/core/boardcheck"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// vocabulary is what the board of the built-in workflow knows, and tags of people's own.
func vocabulary(t *testing.T) board.Vocabulary {
	t.Helper()
	text, _ := builtin.Text("joan-board")
	def, err := workflow.Parse("joan-board.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	v := def.Board.Vocabulary()
	v.Columns = append(v.Columns, "Parking lot")
	v.Tags = append(v.Tags, "Claimed-Dev-2", "bug", "customer-x")
	return v
}

func drawCard(t *rapid.T, v board.Vocabulary) board.Card {
	tags := rapid.SliceOfNDistinct(rapid.SampledFrom(v.Tags), 0, 6, rapid.ID).Draw(t, "tags")
	card := board.Card{
		Title: "x", Column: rapid.SampledFrom(v.Columns).Draw(t, "column"), Tags: tags,
		UpdatedAt: ago(time.Duration(rapid.IntRange(0, 300).Draw(t, "minutes")) * time.Minute),
	}
	if at := slices.IndexFunc(tags, func(tag string) bool { return strings.HasPrefix(tag, "Claimed-") }); at >= 0 && rapid.Bool().Draw(t, "a lease") {
		card.Claim = &board.Claim{Owner: "task-1", Tag: tags[at], Until: ago(time.Duration(rapid.IntRange(-5, 5).Draw(t, "over")) * time.Minute)}
	}
	return card
}

func drawFacts(t *rapid.T, card board.Card) boardcheck.Facts {
	f := boardcheck.Facts{
		PR:      rapid.SampledFrom([]string{"", "OPEN", "MERGED", "CLOSED"}).Draw(t, "pr"),
		Planned: rapid.Bool().Draw(t, "planned"),
		Since:   map[string]time.Time{},
	}
	for _, tag := range card.Tags {
		if rapid.Bool().Draw(t, "known") {
			f.Since[tag] = ago(time.Duration(rapid.IntRange(0, 300).Draw(t, "since")) * time.Minute)
		}
	}
	return f
}

// A fix mends what it is for, touches no tag that is not the workflow's, is one that the
// board accepts, and fixing ends at a point where only a person can do more.
func TestEveryFix(t *testing.T) {
	v := vocabulary(t)
	rapid.Check(t, func(t *rapid.T) {
		card := drawCard(t, v)
		f := drawFacts(t, card)
		seen := map[string]bool{}
		for range 10 {
			found := boardcheck.CheckCard(card, f, noon)
			fixable := slices.DeleteFunc(slices.Clone(found), func(a boardcheck.Anomaly) bool { return a.Fix == nil })
			if len(fixable) == 0 {
				return
			}
			pick := rapid.SampledFrom(fixable).Draw(t, "fix")
			next, _, err := board.Apply(card, *pick.Fix, v, noon)
			if err != nil {
				t.Fatalf("%s on %s %q: %v", say(found), card.Column, card.Tags, err)
			}
			checkFix(t, card, next, pick, boardcheck.CheckCard(next, f, noon))
			card = next
			state := card.Column + ":" + strings.Join(slices.Sorted(slices.Values(card.Tags)), ",")
			if seen[state] {
				t.Fatalf("it was %s before: fixes go round in a circle", state)
			}
			seen[state] = true
		}
		t.Fatal("mending does not end")
	})
}

func checkFix(t *rapid.T, before, after board.Card, fixed boardcheck.Anomaly, left []boardcheck.Anomaly) {
	if after.Version == before.Version {
		t.Fatalf("%s changes nothing on %s %q", say([]boardcheck.Anomaly{fixed}), before.Column, before.Tags)
	}
	for _, a := range left {
		if a.Type == fixed.Type {
			t.Fatalf("%s is still wrong after its fix: %s %q", a.Type, after.Column, after.Tags)
		}
	}
	for _, tag := range before.Tags {
		if (tag == "bug" || tag == "customer-x") && !slices.Contains(after.Tags, tag) {
			t.Fatalf("%s took %s off", fixed.Type, tag)
		}
	}
}
