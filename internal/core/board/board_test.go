package board_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/board"
)

var (
	known = board.Vocabulary{
		Columns: []string{"To Do", "Analyse", "Done"},
		Tags:    []string{"Ready", "Planned", "Claimed-Dev-1", "Claimed-Dev-2", "Dev-Complete"},
	}
	noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
)

func text(s string) *string { return &s }

// lease is a claim that lasts until so many minutes after noon.
func lease(owner, tag string, minutes int) *board.Claim {
	return &board.Claim{Owner: owner, Tag: tag, Until: noon.Add(time.Duration(minutes) * time.Minute)}
}

// card is a card as it was at ten, with these tags.
func card(tags ...string) board.Card {
	return board.Card{Project: "shop", Number: 3, Title: "Cart", Description: "Sell.", Column: "To Do", Tags: append([]string{}, tags...),
		Version: 4, CreatedAt: noon.Add(-2 * time.Hour), UpdatedAt: noon.Add(-2 * time.Hour)}
}

func claimed(c board.Card, by *board.Claim) board.Card {
	c.Claim = by
	return c
}

func TestApply(t *testing.T) {
	for name, tc := range map[string]struct {
		card   board.Card
		change board.Change
		want   func(*board.Card)
	}{
		"tags are added behind those that are there": {card("Ready"), board.Change{AddTags: []string{"Planned", "Dev-Complete"}}, func(c *board.Card) {
			c.Tags = []string{"Ready", "Planned", "Dev-Complete"}
		}},
		"tags are removed and added as one": {card("Ready", "Planned"), board.Change{RemoveTags: []string{"Ready"}, AddTags: []string{"Dev-Complete"}}, func(c *board.Card) {
			c.Tags = []string{"Planned", "Dev-Complete"}
		}},
		"a tag that is there keeps its place": {card("Ready", "Planned"), board.Change{AddTags: []string{"Ready", "ready", " Ready "}, Column: "Done"}, func(c *board.Card) {
			c.Column = "Done"
		}},
		"names take the spelling of the board": {card(), board.Change{AddTags: []string{" dev-complete"}, Column: "to do "}, func(c *board.Card) {
			c.Tags = []string{"Dev-Complete"}
		}},
		"a tag that the board no longer knows can go": {card("Old"), board.Change{RemoveTags: []string{"old"}}, func(c *board.Card) { c.Tags = []string{} }},
		"title and description": {card(), board.Change{Title: " Basket ", Description: text(""), Was: text("Sell.")}, func(c *board.Card) {
			c.Title, c.Description = "Basket", ""
		}},
		"a claim is taken": {card("Ready"), board.Change{Claim: lease("a", "claimed-dev-1", 60)}, func(c *board.Card) {
			c.Claim, c.Tags = lease("a", "Claimed-Dev-1", 60), []string{"Ready", "Claimed-Dev-1"}
		}},
		"a claim without a tag":      {card(), board.Change{Claim: lease("a", "", 60)}, func(c *board.Card) { c.Claim = lease("a", "", 60) }},
		"one's own claim is renewed": {claimed(card("Claimed-Dev-1", "Ready"), lease("a", "Claimed-Dev-1", 1)), board.Change{Claim: lease("a", "Claimed-Dev-1", 60)}, func(c *board.Card) { c.Claim = lease("a", "Claimed-Dev-1", 60) }},
		"a claim that lapsed is taken over, its tag goes": {claimed(card("Claimed-Dev-1", "Ready"), lease("a", "Claimed-Dev-1", 0)), board.Change{Claim: lease("b", "Claimed-Dev-2", 60)}, func(c *board.Card) {
			c.Claim, c.Tags = lease("b", "Claimed-Dev-2", 60), []string{"Ready", "Claimed-Dev-2"}
		}},
		"a claim is released": {claimed(card("Claimed-Dev-1", "Ready"), lease("a", "Claimed-Dev-1", 60)), board.Change{Release: "a"}, func(c *board.Card) {
			c.Claim, c.Tags = nil, []string{"Ready"}
		}},
		"taking off the tag of a claim ends it": {claimed(card("Claimed-Dev-1"), lease("a", "Claimed-Dev-1", 60)), board.Change{RemoveTags: []string{"Claimed-Dev-1"}}, func(c *board.Card) {
			c.Claim, c.Tags = nil, []string{}
		}},
		"a claim is handed on": {claimed(card("Claimed-Dev-1"), lease("a", "Claimed-Dev-1", 60)), board.Change{Release: "a", Claim: lease("b", "Claimed-Dev-2", 60)}, func(c *board.Card) {
			c.Claim, c.Tags = lease("b", "Claimed-Dev-2", 60), []string{"Claimed-Dev-2"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			want := tc.card
			tc.want(&want)
			want.Version, want.UpdatedAt = 5, noon
			got, said, err := board.Apply(tc.card, tc.change, known, noon)
			if diff := cmp.Diff(want, got); diff != "" || err != nil || said != nil {
				t.Errorf("said %v, %v (-want +got)\n%s", said, err, diff)
			}
			if why := board.MissingEffect(got, tc.change); why != "" {
				t.Errorf("missing: %s", why)
			}
		})
	}
}

func TestWhatChangesNothingLeavesTheVersion(t *testing.T) {
	held := claimed(card("Ready", "Claimed-Dev-1"), lease("a", "Claimed-Dev-1", 60))
	for name, c := range map[string]board.Change{
		"nothing":               {Author: "a", Key: "k", Comment: " \n"},
		"the same again":        {Title: "Cart", Description: text("Sell."), Column: "TO DO", AddTags: []string{"Ready"}, RemoveTags: []string{"Planned"}},
		"a claim that is held":  {Claim: lease("a", "Claimed-Dev-1", 60)},
		"another's release":     {Release: "b"},
		"a change made already": {Description: text("Sell."), Was: text("Give away.")},
	} {
		got, said, err := board.Apply(held, c, known, noon)
		if diff := cmp.Diff(held, got); diff != "" || said != nil || err != nil {
			t.Errorf("%s: %v, %v (-want +got)\n%s", name, said, err, diff)
		}
	}
}

func TestACommentIsAChange(t *testing.T) {
	got, said, err := board.Apply(card(), board.Change{Comment: " Hi.\n", Author: "worker"}, known, noon)
	want := &board.Comment{Author: "worker", At: noon, Text: "Hi."}
	if diff := cmp.Diff(want, said); diff != "" || err != nil || got.Version != 5 || !got.UpdatedAt.Equal(noon) {
		t.Errorf("version %d, %v (-want +got)\n%s", got.Version, err, diff)
	}
}

func TestApplyRefuses(t *testing.T) {
	many := board.Vocabulary{Columns: []string{"x"}}
	for i := range board.MaxTags + 1 {
		many.Tags = append(many.Tags, strings.Repeat("t", i/2+1)+strings.Repeat("u", i%2))
	}
	held := claimed(card("Claimed-Dev-1"), lease("a", "Claimed-Dev-1", 30))
	for name, tc := range map[string]struct {
		card   board.Card
		change board.Change
		known  board.Vocabulary
		want   string
	}{
		"an unknown tag":             {card(), board.Change{AddTags: []string{"Ready", "Nope"}}, known, `tag "Nope" is not known on this board: use Ready, Planned, Claimed-Dev-1, Claimed-Dev-2, Dev-Complete`},
		"an unknown tag to remove":   {card(), board.Change{RemoveTags: []string{"\x1b[1m"}}, known, `tag "\x1b[1m" is not known on this board: use Ready`},
		"an unknown tag of a claim":  {card(), board.Change{Claim: lease("a", "Nope", 9)}, known, `tag "Nope" is not known`},
		"a tag where there are none": {card(), board.Change{AddTags: []string{"Nope"}}, board.Vocabulary{}, `use none, it has none`},
		"an unknown column":          {card(), board.Change{Column: "Nope"}, known, `column "Nope" is not known on this board: use To Do, Analyse, Done`},
		"an endless name":            {card(), board.Change{Column: strings.Repeat("x", 5000)}, known, `xxx..." is not known`},
		"added and removed at once":  {card(), board.Change{AddTags: []string{"Ready"}, RemoveTags: []string{"ready"}}, known, `tag "Ready" is to be added and removed at once`},
		"another description":        {card(), board.Change{Description: text("New"), Was: text("Old")}, known, "the description was changed meanwhile"},
		"another's claim":            {held, board.Change{Claim: lease("b", "Claimed-Dev-2", 60)}, known, "the card is claimed by a until 2026-01-02T12:30:00Z"},
		"a claim that is over":       {card(), board.Change{Claim: lease("b", "", 0)}, known, "a claim until 2026-01-02T12:00:00Z is over already"},
		"a claim of nobody":          {card(), board.Change{Claim: lease(" ", "", 9)}, known, "the owner of a claim"},
		"a claim of a poem":          {card(), board.Change{Claim: lease("a\nb", "", 9)}, known, "give one line"},
		"a title of two lines":       {card(), board.Change{Title: "a\nb"}, known, "one line"},
		"a title that rings":         {card(), board.Change{Title: "a\ab"}, known, "control characters"},
		"a blank title":              {card(), board.Change{Title: "  "}, known, "needs a title"},
		"a long title":               {card(), board.Change{Title: strings.Repeat("ä", board.MaxTitle+1)}, known, "more than 200 characters"},
		"a long description":         {card(), board.Change{Description: text(strings.Repeat("x", board.MaxDescription+1))}, known, "the description is longer than 256 KB"},
		"a long comment":             {card(), board.Change{Comment: strings.Repeat("x", board.MaxComment+1)}, known, "the comment is longer than 64 KB"},
		"a comment of bytes":         {card(), board.Change{Comment: "\xff"}, known, "not text"},
		"a key of two lines":         {card(), board.Change{Key: "a\nb"}, known, "the key of a change"},
		"too many tags":              {card(), board.Change{AddTags: many.Tags}, many, "at most 100 tags"},
	} {
		t.Run(name, func(t *testing.T) {
			got, said, err := board.Apply(tc.card, tc.change, tc.known, noon)
			var no *board.Refusal
			if !errors.As(err, &no) || !strings.Contains(err.Error(), tc.want) || len(err.Error()) > 600 || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if diff := cmp.Diff(tc.card, got); diff != "" || said != nil {
				t.Errorf("the card changed\n%s", diff)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	have := claimed(card("Ready", "Claimed-Dev-1"), lease("a", "Claimed-Dev-1", 30))
	for want, c := range map[string]board.Change{
		"tag Planned is not on the card":        {AddTags: []string{"Ready", " Planned"}},
		"tag ready is still on the card":        {RemoveTags: []string{"Planned", "ready"}},
		"the card is in column To Do, not Done": {Column: "Done"},
		"the card has another title":            {Title: "Basket"},
		"the card has another description":      {Description: text("")},
		"the claim of a is not released":        {Release: "a"},
		"the card is not claimed by b":          {Claim: lease("b", "", 30)},
		"the card is not claimed by a":          {Claim: lease("a", "", 31)},
		"tag Claimed-Dev-2 is not on the card":  {Claim: lease("a", "Claimed-Dev-2", 30)},
		"":                                      {Release: "b", Claim: lease("a", "Claimed-Dev-1", 29), Title: "Cart", Column: "to do", Comment: "not looked for"},
	} {
		if got := board.MissingEffect(have, c); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestNew(t *testing.T) {
	got, err := board.New(board.Card{Project: "shop", Number: 9, Title: " Cart ", Author: "human", Tags: []string{"ready"}, Version: 7}, known, noon)
	want := board.Card{Project: "shop", Title: "Cart", Author: "human", Column: "To Do", Tags: []string{"Ready"}, Version: 1, CreatedAt: noon, UpdatedAt: noon}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for want, draft := range map[string]board.Card{
		"needs a title": {Title: " "}, "column": {Title: "x", Column: "Nope"}, "tag": {Title: "x", Tags: []string{"Nope"}},
	} {
		if _, err := board.New(draft, known, noon); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := board.New(board.Card{Title: "x"}, board.Vocabulary{}, noon); err == nil {
		t.Error("a card on a board without columns")
	}
}

func TestVocabulary(t *testing.T) {
	for want, v := range map[string]board.Vocabulary{
		"needs a column":                              {},
		`column "a": a name has at most`:              {Columns: []string{strings.Repeat("x", board.MaxName+1)}},
		`tag "a,b": a name has no control characters`: {Columns: []string{"x"}, Tags: []string{"a,b"}},
		`tag "[a]": a name has no`:                    {Columns: []string{"x"}, Tags: []string{"[a]"}},
		`tag "a\u202eb": a name has no`:               {Columns: []string{"x"}, Tags: []string{"a\u202eb"}},
		`tag " a": a name has no spaces`:              {Columns: []string{"x"}, Tags: []string{" a"}},
		`tag "A" is there twice`:                      {Columns: []string{"x"}, Tags: []string{"a", "A"}},
	} {
		_, tail, _ := strings.Cut(want, ": ")
		if err := v.Check(); err == nil || !strings.Contains(err.Error(), tail) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := known.Check(); err != nil {
		t.Error(err)
	}
	have := board.Vocabulary{Columns: []string{"To Do", "Done"}, Tags: []string{"a"}}
	got := have.UnionWith(board.Vocabulary{Columns: []string{"Idea", "to do", "Review", "Deploy", "Done"}, Tags: []string{"b", "A"}})
	want := board.Vocabulary{Columns: []string{"Idea", "To Do", "Review", "Deploy", "Done"}, Tags: []string{"b", "a"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want, got.UnionWith(have)); diff != "" {
		t.Errorf("something was taken away\n%s", diff)
	}
}

func TestRefs(t *testing.T) {
	project, number, ok := board.ParseRef(board.Ref("shop", 3))
	if board.Ref("shop", 3) != "board:shop/3" || project != "shop" || number != 3 || !ok {
		t.Errorf("%q %d %v", project, number, ok)
	}
	for _, bad := range []string{"", "board:", "board:shop", "board:/3", "board:shop/0", "board:shop/-1", "board:shop/03", "board:shop/+3", "board:shop/3/4", "shop/3", "linear:shop/3", "board:shop/99999999999999999999"} {
		if project, number, ok := board.ParseRef(bad); ok || project != "" || number != 0 {
			t.Errorf("%q is taken for %q %d", bad, project, number)
		}
	}
}

func FuzzParseRef(f *testing.F) {
	f.Add("board:shop/3")
	f.Add("board:/0")
	f.Fuzz(func(t *testing.T, ref string) {
		if project, number, ok := board.ParseRef(ref); ok && board.Ref(project, number) != ref {
			t.Errorf("%q is read as %q %d", ref, project, number)
		}
	})
}
