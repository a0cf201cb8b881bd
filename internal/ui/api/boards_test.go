package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"orange/internal/adapter/sqlite"
	"orange/internal/core/board"
	"orange/internal/wire"
)

// shelf keeps boards in the store.
type shelf struct {
	store *sqlite.Store
	added []wire.NewCard
}

// madeID is the task of a new card.
const madeID = "madeForACard000000000"

var morning = time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)

func (s *shelf) BoardMark(project string) int64   { return s.store.BoardMark(project) }
func (s *shelf) NextBoardChange() <-chan struct{} { return s.store.NextBoardChange() }

func (s *shelf) ReadBoard(_ context.Context, project string) (board.Vocabulary, []board.Card, error) {
	if project == "broken" {
		return board.Vocabulary{}, nil, errors.New("read the store: it is damaged")
	}
	return s.store.Board(project)
}

func (s *shelf) AddCard(_ context.Context, project string, n wire.NewCard) (wire.AddedCard, error) {
	s.added = append(s.added, n)
	card, err := s.store.AddCard(board.Card{Project: project, Title: n.Title, Column: n.Column, Tags: n.Tags, Description: n.Description}, morning)
	return wire.AddedCard{Card: card, Task: madeID}, err
}

func (s *shelf) ReadCard(_ context.Context, project string, number int) (board.Card, []board.Comment, error) {
	return s.store.Card(project, number)
}

func (s *shelf) ChangeCard(_ context.Context, project string, number int, c board.Change, _ string) (board.Card, bool, error) {
	return s.store.ChangeCard(project, number, c, morning)
}

func (s *shelf) CardHistory(_ context.Context, project string, number int) ([]board.Event, error) {
	return s.store.CardHistory(project, number)
}

// boarded is a server whose projects p and q have a board with one card each.
func boarded(t *testing.T) (*env, *shelf) {
	t.Helper()
	r, _ := guarded(t)
	must(t, r.stop())
	s := &shelf{store: r.store}
	r.server.Boards = s
	r.listen(r.server.Home + "/u")
	for _, project := range []string{"p", "q"} {
		must(t, r.store.SetBoard(project, board.Vocabulary{Columns: []string{"To Do", "Done"}, Tags: []string{"Ready"}}))
		_, err := r.store.AddCard(board.Card{Project: project, Title: "Cart"}, morning)
		must(t, err)
	}
	return r, s
}

func (a reply) holds(t testing.TB, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if a.status != http.StatusOK || !strings.Contains(a.text, part) {
			t.Errorf("%d %s, want %s", a.status, a.text, part)
		}
	}
}

func TestBoardsOverHTTP(t *testing.T) {
	r, s := boarded(t)
	r.ask("GET", "/v1/boards/p", "").holds(t, `"project":"p"`, `"columns":["To Do","Done"]`, `"tags":["Ready"]`, `"cards":[{"project":"p","number":1,"title":"Cart"`)
	r.ask("POST", "/v1/boards/p/cards", `{"title":"Pay","tags":["ready"],"column":"done","description":"x","workflow":"w","no_task":true,"harness":"pi"}`).
		holds(t, `"number":2,"title":"Pay"`, `"column":"Done","tags":["Ready"]`, `"task":"`+madeID+`"`)
	if len(s.added) != 1 || s.added[0].Workflow != "w" || !s.added[0].NoTask || s.added[0].Harness != "pi" {
		t.Errorf("%+v", s.added)
	}
	// The author is found out and not believed.
	r.ask("POST", "/v1/boards/p/cards/2", `{"key":"k","author":"engine","comment":"hi","add_tags":["Ready"],"column":"To Do"}`).holds(t, `"column":"To Do"`, `"changed":true`)
	r.ask("POST", "/v1/boards/p/cards/2", `{"key":"k","comment":"hi"}`).holds(t, `"changed":false`)
	r.ask("GET", "/v1/boards/p/cards/2", "").holds(t, `"version":2`, `"comments":[{"number":1,"author":"human"`)
	r.ask("GET", "/v1/boards/p/cards/1", "").holds(t, `"comments":[]`)
	r.ask("GET", "/v1/boards/p/cards/2/history", "").holds(t, `"history":[{"seq":1,`, `"seq":2,"at":"2026-01-02T08:00:00Z","author":"human","change":{"key":"k","column":"To Do","comment":"hi"}`)
}

// A change of a card is part of the stream of the state, whoever makes it; one that changes nothing is not.
func TestAChangeOfABoardReachesStreams(t *testing.T) {
	r, _ := boarded(t)
	v := r.view("?")
	mark := func() (out int64) {
		for _, p := range v.state.Projects {
			if p.Name == "p" {
				out = p.Board
			}
		}
		return out
	}
	before := mark()
	if before == 0 {
		t.Fatalf("%+v", v.state.Projects)
	}
	v.hear() // a stream begins with the present
	r.ask("POST", "/v1/boards/p/cards/1", `{"add_tags":["Ready"]}`).holds(t, `"changed":true`)
	for mark() == before {
		v.hear()
	}
	tagged := mark()
	r.ask("POST", "/v1/boards/p/cards/1", `{"add_tags":["Ready"]}`).holds(t, `"changed":false`)
	if now := r.store.BoardMark("p"); now != tagged {
		t.Errorf("a change without effect counts: %d, %d", tagged, now)
	}
	_, _, err := r.store.ChangeCard("p", 1, board.Change{Key: "k", Author: "engine", Column: "Done"}, morning)
	must(t, err)
	for mark() == tagged {
		v.hear()
	}
}

func TestBoardsRefuse(t *testing.T) {
	r, _ := boarded(t)
	for _, tt := range []struct {
		method, path, body string
		status             int
		words              string
	}{
		{"GET", "/v1/boards/broken", "", 500, "damaged"},
		{"GET", "/v1/boards/nope", "", 404, `project "nope" has no board`},
		{"GET", "/v1/boards/p/cards/9", "", 404, "card not found: p/9"},
		{"GET", "/v1/boards/p/cards/x", "", 404, `"x" is not a card number`},
		{"GET", "/v1/boards/p/cards/01/history", "", 404, "is not a card number"},
		{"POST", "/v1/boards/p/cards/-1", `{}`, 404, "is not a card number"},
		{"POST", "/v1/boards/p/cards/9", `{"column":"Done"}`, 404, "card not found"},
		{"POST", "/v1/boards/p/cards/1", `{"column":"Nope"}`, 400, `column "Nope" is not known on this board: use To Do, Done`},
		{"POST", "/v1/boards/p/cards/1", `{"add_tags":["Nope"]}`, 400, `tag "Nope" is not known on this board: use Ready`},
		{"POST", "/v1/boards/p/cards/1", `{"bogus":1}`, 400, "not understood"},
		{"POST", "/v1/boards/p/cards/1", `{"description":"b","was":"a"}`, 400, "changed meanwhile"},
		{"POST", "/v1/boards/p/cards", `{"title":""}`, 400, "needs a title"},
		{"POST", "/v1/boards/p/cards", `[]`, 400, "not understood"},
		{"DELETE", "/v1/boards/p", "", 404, "is not served"},
	} {
		r.ask(tt.method, tt.path, tt.body).refused(t, tt.status, tt.words)
	}
}

func TestAnAttemptReadsTheBoardOfItsProjectOnly(t *testing.T) {
	r, _ := boarded(t)
	mine := r.create("mine")
	as := []string{wire.HeaderToken, mine}
	for _, path := range []string{"", "/cards/1", "/cards/1/history"} {
		r.ask("GET", "/v1/boards/p"+path, "", as...).holds(t, "{")
		r.ask("GET", "/v1/boards/q"+path, "", as...).refused(t, http.StatusForbidden, "it may read only the board of its own project")
		r.ask("GET", "/v1/boards/p"+path, "", wire.HeaderToken, "gone").refused(t, http.StatusForbidden, "of its own project")
	}
	before, _, err := r.store.Card("p", 1)
	must(t, err)
	for _, path := range []string{"/v1/boards/p/cards/1", "/v1/boards/p/cards", "/v1/boards/q/cards/1"} {
		r.ask("POST", path, `{"title":"x"}`, as...).refused(t, http.StatusForbidden, "an agent does not change the board: it says what it wants in its result")
	}
	_, cards, err := r.store.Board("p")
	if err != nil || len(cards) != 1 || cards[0].Version != before.Version {
		t.Errorf("%+v, %v", cards, err)
	}
}

func TestAServerWithoutBoards(t *testing.T) {
	r := open(t)
	r.ask("GET", "/v1/boards/p", "").refused(t, http.StatusNotFound, "is not served")
}
