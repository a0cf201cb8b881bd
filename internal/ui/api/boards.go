package api

import (
	"context"
	"fmt"
	"net/http"

	"orange/internal/core/board"
	"orange/internal/core/task"
)

// Boards are the boards of projects. One that is not there yet is made when it is asked
// for.
type Boards interface {
	Board(ctx context.Context, project string) (board.Vocabulary, []board.Card, error)
	AddCard(ctx context.Context, project string, n NewCard) (AddedCard, error)
	Card(ctx context.Context, project string, number int) (board.Card, []board.Comment, error)
	ChangeCard(ctx context.Context, project string, number int, c board.Change, code string) (card board.Card, changed bool, err error)
	CardHistory(ctx context.Context, project string, number int) ([]board.Event, error)
}

// A NewCard is what a person wants put on a board.
type NewCard struct {
	Title       string   `json:"title"`
	Column      string   `json:"column"`
	Tags        []string `json:"tags"`
	Description string   `json:"description"`
	NoTask      bool     `json:"no_task"`  // it is only noted: nobody works on it
	Workflow    string   `json:"workflow"` // of its task
	Branch      string   `json:"branch"`   // likewise; "" for one of its own
	Harness     string   `json:"harness"`  // likewise
	Code        string   `json:"code"`     // that was shown by notification, where merges are confirmed by codes
}

// An AddedCard is a card that was put on a board.
type AddedCard struct {
	Card    board.Card `json:"card"`
	Task    task.ID    `json:"task,omitempty"`    // that works on it
	Warning string     `json:"warning,omitempty"` // why there is none although it was wanted
}

// boardPath is how the addresses of boards begin.
const boardPath = "/v1/boards/"

// A Board is the board of a project.
type Board struct {
	Cards   []board.Card `json:"cards"` // by number
	Columns []string     `json:"columns"`
	Project string       `json:"project"`
	Tags    []string     `json:"tags"`
}

func (s *Server) showBoard(r *http.Request) (Board, error) {
	project := r.PathValue("project")
	v, cards, err := s.Boards.Board(r.Context(), project)
	return Board{Project: project, Columns: nonNil(v.Columns), Tags: nonNil(v.Tags), Cards: nonNil(cards)}, err
}

func (s *Server) addCard(r *http.Request, n NewCard) (AddedCard, error) {
	return s.Boards.AddCard(r.Context(), r.PathValue("project"), n)
}

// A CardShown is a card with what was said about it.
type CardShown struct {
	Card     board.Card      `json:"card"`
	Comments []board.Comment `json:"comments"` // oldest first
}

func (s *Server) showCard(r *http.Request) (CardShown, error) {
	number, err := cardNumber(r)
	if err != nil {
		return CardShown{}, err
	}
	card, comments, err := s.Boards.Card(r.Context(), r.PathValue("project"), number)
	return CardShown{card, nonNil(comments)}, err
}

// A ChangedCard is a card after a change.
type ChangedCard struct {
	Card    board.Card `json:"card"`
	Changed bool       `json:"changed"` // false: it was made before
}

// changeCard makes a change in the name of a person, whatever it says of its author.
func (s *Server) changeCard(r *http.Request, c board.Change) (ChangedCard, error) {
	number, err := cardNumber(r)
	if err != nil {
		return ChangedCard{}, err
	}
	c.Author = string(task.Human)
	card, changed, err := s.Boards.ChangeCard(r.Context(), r.PathValue("project"), number, c, r.URL.Query().Get("code"))
	return ChangedCard{card, changed}, err
}

// A CardHistory is what became of a card, oldest first.
type CardHistory struct {
	History []board.Event `json:"history"`
}

func (s *Server) cardHistory(r *http.Request) (CardHistory, error) {
	number, err := cardNumber(r)
	if err != nil {
		return CardHistory{}, err
	}
	events, err := s.Boards.CardHistory(r.Context(), r.PathValue("project"), number)
	return CardHistory{nonNil(events)}, err
}

func cardNumber(r *http.Request) (int, error) {
	given := r.PathValue("number")
	if n, ok := board.ParseNumber(given); ok {
		return n, nil
	}
	return 0, fmt.Errorf("%w: %q is no number of a card", board.ErrNotFound, given)
}
