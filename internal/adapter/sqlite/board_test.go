package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/board"
)

var words = board.Vocabulary{Columns: []string{"To Do", "Development", "Done"}, Tags: []string{"Ready", "Planned", "Claimed-Dev-1"}}

// withCard returns a store with a board and one card on it.
func withCard(t *testing.T) (*Store, board.Card) {
	t.Helper()
	s := open(t)
	if err := s.SetBoard("shop", words); err != nil {
		t.Fatal(err)
	}
	card, err := s.AddCard(board.Card{Project: "shop", Title: "Cart", Author: "human", Description: "Sell <it>.", Tags: []string{"ready"}}, start)
	if err != nil {
		t.Fatal(err)
	}
	return s, card
}

// everything returns all that the store holds about boards.
func everything(t *testing.T, s *Store) string {
	t.Helper()
	var out strings.Builder
	for _, query := range []string{
		"SELECT project, vocabulary FROM board", "SELECT n, card FROM card", "SELECT card, number || at || author || text FROM card_comment",
		"SELECT card, seq || at || author || change FROM card_event", "SELECT card, key FROM card_key",
	} {
		err := s.queryRows(func(rows *sql.Rows) error {
			var a, b string
			err := rows.Scan(&a, &b)
			fmt.Fprintln(&out, a, b)
			return err
		}, query)
		if err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func change(t *testing.T, s *Store, c board.Change, at time.Time) (board.Card, bool) {
	t.Helper()
	card, changed, err := s.ChangeCard("shop", 1, c, at)
	if err != nil {
		t.Fatal(err)
	}
	return card, changed
}

func TestACardIsKeptAsItIsGiven(t *testing.T) {
	s, card := withCard(t)
	want := board.Card{Project: "shop", Number: 1, Title: "Cart", Author: "human", Description: "Sell <it>.", Column: "To Do", Tags: []string{"Ready"}, Version: 1, CreatedAt: start, UpdatedAt: start}
	if diff := cmp.Diff(want, card); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := s.SetBoard("other", words); err != nil {
		t.Fatal(err)
	}
	for project, number := range map[string]int{"shop": 2, "other": 1} {
		if c, err := s.AddCard(board.Card{Project: project, Title: "x", Column: "done"}, start); err != nil || c.Number != number || c.Column != "Done" {
			t.Errorf("%s: %+v, %v", project, c, err)
		}
	}
	v, cards, err := s.Board("shop")
	if diff := cmp.Diff(words, v) + cmp.Diff(want, cards[0]); diff != "" || err != nil || len(cards) != 2 || cards[1].Number != 2 {
		t.Errorf("%d cards, %v\n%s", len(cards), err, diff)
	}
}

func TestChangesOfACardAndItsHistory(t *testing.T) {
	s, _ := withCard(t)
	text, later := "Sell all.", start.Add(time.Hour)
	until := later.Add(time.Hour)
	change(t, s, board.Change{Key: "k", Author: "worker", AddTags: []string{"planned", "Ready"}, RemoveTags: []string{"Claimed-Dev-1"}, Column: "development", Comment: "one"}, later)
	change(t, s, board.Change{Author: "human", Description: &text, Comment: "two", Claim: &board.Claim{Owner: "a", Tag: "Claimed-Dev-1", Until: until}}, later)
	card, comments, err := s.Card("shop", 1)
	want := board.Card{Project: "shop", Number: 1, Title: "Cart", Author: "human", Description: text, Column: "Development", Tags: []string{"Ready", "Planned", "Claimed-Dev-1"},
		Claim: &board.Claim{Owner: "a", Tag: "Claimed-Dev-1", Until: until}, Version: 3, CreatedAt: start, UpdatedAt: later}
	said := []board.Comment{{Number: 1, Author: "worker", At: later, Text: "one"}, {Number: 2, Author: "human", At: later, Text: "two"}}
	if diff := cmp.Diff(want, card) + cmp.Diff(said, comments); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	events, err := s.CardHistory("shop", 1)
	sold := "Sell <it>."
	wantEvents := []board.Event{
		{Seq: 1, At: start, Author: "human", Change: board.Change{Title: "Cart", Description: &sold, Column: "To Do", AddTags: []string{"Ready"}}},
		{Seq: 2, At: later, Author: "worker", Change: board.Change{Key: "k", AddTags: []string{"Planned"}, Column: "Development", Comment: "one"}},
		{Seq: 3, At: later, Author: "human", Change: board.Change{Description: &text, AddTags: []string{"Claimed-Dev-1"}, Comment: "two", Claim: want.Claim}},
	}
	if diff := cmp.Diff(wantEvents, events); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestAKeyIsHandledOnce(t *testing.T) {
	s, _ := withCard(t)
	c := board.Change{Key: "x/1/0", Comment: "done", AddTags: []string{"Planned"}}
	if _, changed := change(t, s, c, start); !changed {
		t.Error("the first time changes nothing")
	}
	change(t, s, board.Change{RemoveTags: []string{"Planned"}}, start)
	before := everything(t, s)
	for _, again := range []board.Change{c, {Key: "x/1/0", Column: "Done"}, {Key: "x/1/0", Column: "Nope"}} {
		card, changed := change(t, s, again, start.Add(time.Hour))
		if changed || card.Version != 3 || card.Column != "To Do" || len(card.Tags) != 1 {
			t.Errorf("a key that was seen: %v, %+v", changed, card)
		}
	}
	if after := everything(t, s); before != after {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	// A change that changes nothing counts once, too, and records no event.
	if _, changed := change(t, s, board.Change{Key: "y", AddTags: []string{"Ready"}}, start); changed {
		t.Error("a tag that was there changed something")
	}
	if _, changed := change(t, s, board.Change{Key: "y", AddTags: []string{"Planned"}}, start); changed {
		t.Error("the key was not kept")
	}
	if events, err := s.CardHistory("shop", 1); err != nil || len(events) != 3 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

func TestARefusedChangeWritesNothing(t *testing.T) {
	s, _ := withCard(t)
	was := "other"
	before := everything(t, s)
	for _, c := range []board.Change{
		{Key: "k", Comment: "hi", AddTags: []string{"Planned", "Nope"}},
		{Key: "k", Comment: "hi", Column: "Nope"},
		{Key: "k", Comment: "hi", Description: &was, Was: &was},
		{Key: "k", Comment: strings.Repeat("x", board.MaxComment+1), AddTags: []string{"Planned"}},
	} {
		card, changed, err := s.ChangeCard("shop", 1, c, start)
		var no *board.Refusal
		if !errors.As(err, &no) || changed || card.Number != 0 || strings.Contains(err.Error(), "store") {
			t.Errorf("%+v, %v, %v", card, changed, err)
		}
	}
	if _, err := s.AddCard(board.Card{Project: "shop", Title: "x", Tags: []string{"Nope"}}, start); err == nil {
		t.Error("a card with an unknown tag")
	}
	if after := everything(t, s); before != after {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	if _, changed := change(t, s, board.Change{Key: "k", AddTags: []string{"Planned"}}, start); !changed {
		t.Error("the key of a refused change was kept")
	}
}

// An error at the last statement of the transaction takes the first ones back.
func TestAChangeThatBreaksHalfWayIsTakenBack(t *testing.T) {
	s, _ := withCard(t)
	before := everything(t, s)
	broken := errors.New("broken")
	err := s.onBoard(func(ctx context.Context, c *sql.Conn) error {
		if _, _, err := changeCard(ctx, c, "shop", 1, board.Change{Key: "k", Comment: "hi", Column: "Done"}, start); err != nil {
			t.Error(err)
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	if after := everything(t, s); before != after {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

func TestConcurrentChangesAreOrdered(t *testing.T) {
	s, _ := withCard(t)
	const each, workers = 10, 8
	var wait sync.WaitGroup
	won := make([]int, workers)
	for w := range workers {
		wait.Go(func() {
			for i := range each {
				c := board.Change{Key: fmt.Sprint("all/", i), Comment: fmt.Sprint(w, "/", i)} // one of all makes it
				_, changed, err := s.ChangeCard("shop", 1, c, start)
				if err != nil {
					t.Error(err)
				}
				if changed {
					won[w]++
				}
				_, _, _ = s.Card("shop", 1)
				if _, err := s.AddCard(board.Card{Project: "shop", Title: fmt.Sprint(w, i)}, start); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	total := 0
	for _, n := range won {
		total += n
	}
	card, comments, err := s.Card("shop", 1)
	if err != nil || total != each || len(comments) != each || card.Version != each+1 {
		t.Errorf("%d changes were made, %d comments, version %d, %v", total, len(comments), card.Version, err)
	}
	_, cards, err := s.Board("shop")
	if err != nil || len(cards) != 1+each*workers || cards[len(cards)-1].Number != len(cards) {
		t.Errorf("%d cards, %v", len(cards), err)
	}
}

func TestOneOfManyTakesAClaim(t *testing.T) {
	s, _ := withCard(t)
	var wait sync.WaitGroup
	got := make([]error, 8)
	for i := range got {
		wait.Go(func() {
			_, _, got[i] = s.ChangeCard("shop", 1, board.Change{Claim: &board.Claim{Owner: fmt.Sprint("dev-", i), Tag: "Claimed-Dev-1", Until: start.Add(time.Hour)}}, start)
		})
	}
	wait.Wait()
	owner := ""
	for i, err := range got {
		if err == nil {
			owner += fmt.Sprint("dev-", i)
		} else if !strings.Contains(err.Error(), "the card is claimed by dev-") {
			t.Error(err)
		}
	}
	if card, _, err := s.Card("shop", 1); err != nil || card.Claim == nil || card.Claim.Owner != owner {
		t.Errorf("%+v, %v, and %q was told that it has it", card.Claim, err, owner)
	}
}

func TestABoardLearnsAndForgetsNothing(t *testing.T) {
	s, _ := withCard(t)
	if err := s.SetBoard("shop", board.Vocabulary{Columns: []string{"to do", "Review"}, Tags: []string{"New"}}); err != nil {
		t.Fatal(err)
	}
	v, _, err := s.Board("shop")
	want := board.Vocabulary{Columns: []string{"To Do", "Review", "Development", "Done"}, Tags: []string{"New", "Ready", "Planned", "Claimed-Dev-1"}}
	if diff := cmp.Diff(want, v); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	wantError(t, s.SetBoard("shop", board.Vocabulary{Columns: []string{"a,b"}}), "commas")
	wantError(t, s.SetBoard("new", board.Vocabulary{}), "needs a column")
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	s, _ := withCard(t)
	_, _, noBoard := s.Board("nope")
	_, noProject := s.AddCard(board.Card{Project: "nope", Title: "x"}, start)
	_, _, noCard := s.Card("shop", 9)
	_, _, noChange := s.ChangeCard("shop", 9, board.Change{}, start)
	_, noHistory := s.CardHistory("shop", 9)
	for i, err := range []error{noBoard, noProject, noCard, noChange, noHistory} {
		if !errors.Is(err, board.ErrNotFound) || strings.Contains(err.Error(), "the store") {
			t.Errorf("%d: %v", i, err)
		}
	}
	wantError(t, noBoard, `project "nope" has no board`)
	wantError(t, noCard, "card not found: shop/9")
}

func TestABoardOutlivesItsProjectAsTasksDo(t *testing.T) {
	s, _ := withCard(t)
	if err := s.DeleteProject("shop"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Card("shop", 1); err != nil {
		t.Error(err)
	}
}

func TestOpenUpgradesVersion4(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orange.db")
	c := created(t, 1)
	values, err := taskValues(&c)
	if err != nil {
		t.Fatal(err)
	}
	raw(t, path, schema1, schema2, schema3, schema4, fmt.Sprintf("PRAGMA application_id = %d", applicationID), "PRAGMA user_version = 4",
		fmt.Sprintf(`INSERT INTO task VALUES (1, '%s', 'p', 'b1', 'pending', '', 0, 0, 0, 0, NULL, 1, '%s', 0)`, id(1), values[11]),
		`INSERT INTO project VALUES ('p', '/p', 'main', 2, '', '{"delivery":"pr"}')`)
	s := openAt(t, path)
	if got, ok, err := s.Task(id(1)); !ok || err != nil || got.Branch != "b1" {
		t.Errorf("the task is gone: %+v, %v", got, err)
	}
	if projects, err := s.Projects(); err != nil || len(projects) != 1 || projects[0].Delivery != "pr" {
		t.Errorf("%v, %v", projects, err)
	}
	if _, _, err := s.Board("p"); !errors.Is(err, board.ErrNotFound) {
		t.Error(err)
	}
	if err := s.SetBoard("p", words); err != nil {
		t.Fatal(err)
	}
	if card, err := s.AddCard(board.Card{Project: "p", Title: "x"}, start); err != nil || card.Number != 1 {
		t.Errorf("%+v, %v", card, err)
	}
	var version int
	if err := s.read.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version != len(schemaMigrations()) {
		t.Errorf("version %d (%v)", version, err)
	}
}
