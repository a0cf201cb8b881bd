package boardcheck_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/boardcheck"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// asks are what a card shows that waits for a person: it is in somebody's inbox.
var asks = []workflow.CardTrigger{
	{Tags: []string{"Needs-Clarification"}, Not: []string{"Clarification-Answered"}},
	{Columns: []string{"To Do", "Analyse"}, Tags: []string{"Plan-Pending-Approval"}, Not: []string{"Plan-Approved", "Plan-Rejected"}},
	{Tags: []string{"Implementation-Failed"}},
	{Tags: []string{"Branch-Setup-Failed"}},
	{Tags: []string{"Merge-Conflict"}},
	{Columns: []string{"Review"}, Tags: []string{"Review-Approved"}, Not: []string{"Ops-Ready"}},
	{Columns: []string{"Deploy", "Done"}},
}

// Every card of the built-in workflow's board is somebody's: an agent is sent to it, it
// waits for a person, it is done, or in the end it is found to be nobody's. And what an
// agent is about to be sent to is not called orphaned.
func TestEveryCardIsSomebodys(t *testing.T) {
	text, _ := builtin.Text("joan-board")
	def, err := workflow.Parse("joan-board.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	v := def.Board.Vocabulary()
	for _, column := range v.Columns {
		for tags := range subsets(v.Tags, 3) {
			card := board.Card{Column: column, Tags: tags, UpdatedAt: ago(10 * time.Hour)}
			face := card.Snapshot()
			sent := dispatched(def, &face)
			waits := slices.ContainsFunc(asks, func(l workflow.CardTrigger) bool { return l.MatchesCard(&face) })
			if found := boardcheck.CheckCard(card, boardcheck.Facts{}, noon); !sent && !waits && len(found) == 0 {
				t.Errorf("nobody looks at %s %q", column, tags)
			}
			card.UpdatedAt = noon
			for _, a := range boardcheck.CheckCard(card, boardcheck.Facts{}, noon) {
				if sent && strings.HasPrefix(string(a.Type), "ORPHANED_IN") {
					t.Errorf("%s %q: an agent is sent there, and it is said to be %s", column, tags, say([]boardcheck.Anomaly{a}))
				}
			}
		}
	}
}

// dispatched says whether an edge waits for a card that looks like this.
func dispatched(def *workflow.Definition, face *board.Snapshot) bool {
	for _, i := range def.EdgesFrom("board") {
		for _, on := range def.Edges[i].On {
			if on.Kind == workflow.OnBoard && len(on.Board.Columns) > 0 && on.Board.MatchesCard(face) {
				return true
			}
		}
	}
	return false
}

// subsets yields all of at most n members.
func subsets(list []string, n int) func(yield func([]string) bool) {
	return func(yield func([]string) bool) { extend(nil, list, n, yield) }
}

func extend(have, rest []string, n int, yield func([]string) bool) bool {
	if !yield(slices.Clone(have)) {
		return false
	}
	for i := range rest {
		if n > 0 && !extend(append(slices.Clone(have), rest[i]), rest[i+1:], n-1, yield) {
			return false
		}
	}
	return true
}
