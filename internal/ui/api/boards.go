package api

import (
	"context"
	"fmt"
	"net/http"

	"orange/internal/core/board"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// Boards are the boards of projects. A board is created when it is first requested.
type Boards interface {
	ReadBoard(ctx context.Context, project string) (board.Vocabulary, []board.Card, error)
	AddCard(ctx context.Context, project string, n wire.NewCard) (wire.AddedCard, error)
	ReadCard(ctx context.Context, project string, number int) (board.Card, []board.Comment, error)
	ChangeCard(ctx context.Context, project string, number int, c board.Change, code string) (card board.Card, changed bool, err error)
	CardHistory(ctx context.Context, project string, number int) ([]board.Event, error)
	// BoardMark returns a number that differs after every change of a board.
	BoardMark(project string) int64
	// NextBoardChange returns a channel that closes at the next change of any board.
	NextBoardChange() <-chan struct{}
}

func (s *Server) showBoard(r *http.Request) (wire.Board, error) {
	project := r.PathValue("project")
	v, cards, err := s.Boards.ReadBoard(r.Context(), project)
	return wire.Board{Project: project, Columns: nonNil(v.Columns), Tags: nonNil(v.Tags), Cards: nonNil(cards)}, err
}

func (s *Server) addCard(r *http.Request, n wire.NewCard) (wire.AddedCard, error) {
	return s.Boards.AddCard(r.Context(), r.PathValue("project"), n)
}

func (s *Server) showCard(r *http.Request) (wire.CardDetails, error) {
	number, err := cardNumber(r)
	if err != nil {
		return wire.CardDetails{}, err
	}
	card, comments, err := s.Boards.ReadCard(r.Context(), r.PathValue("project"), number)
	return wire.CardDetails{Card: card, Comments: nonNil(comments)}, err
}

// changeCard makes a change on behalf of a person, whatever author it names.
func (s *Server) changeCard(r *http.Request, c board.Change) (wire.ChangedCard, error) {
	number, err := cardNumber(r)
	if err != nil {
		return wire.ChangedCard{}, err
	}
	c.Author = string(task.Human)
	card, changed, err := s.Boards.ChangeCard(r.Context(), r.PathValue("project"), number, c, r.URL.Query().Get(wire.ParamCode))
	return wire.ChangedCard{Card: card, Changed: changed}, err
}

func (s *Server) cardHistory(r *http.Request) (wire.CardHistory, error) {
	number, err := cardNumber(r)
	if err != nil {
		return wire.CardHistory{}, err
	}
	events, err := s.Boards.CardHistory(r.Context(), r.PathValue("project"), number)
	return wire.CardHistory{History: nonNil(events)}, err
}

func cardNumber(r *http.Request) (int, error) {
	given := r.PathValue("number")
	if n, ok := board.ParseNumber(given); ok {
		return n, nil
	}
	return 0, fmt.Errorf("%w: %q is not a card number", board.ErrNotFound, given)
}
