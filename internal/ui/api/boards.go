package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"orange/internal/core/board"
	"orange/internal/core/task"
)

// Boards are the boards of projects. One that is not there yet is made when it is asked
// for.
type Boards interface {
	Board(ctx context.Context, project string) (board.Vocabulary, []board.Card, error)
	AddCard(ctx context.Context, project string, n NewCard) (AddedCard, error)
	Card(ctx context.Context, project string, number int) (board.Card, []board.Comment, error)
	ChangeCard(ctx context.Context, project string, number int, c board.Change) (card board.Card, changed bool, err error)
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
}

// An AddedCard is a card that was put on a board.
type AddedCard struct {
	Card    board.Card `json:"card"`
	Task    task.ID    `json:"task,omitempty"`    // that works on it
	Warning string     `json:"warning,omitempty"` // why there is none although it was wanted
}

// boardPath is how the addresses of boards begin.
const boardPath = "/v1/boards/"

// notForAttempts says to an attempt why it may not ask for something.
func notForAttempts(r *http.Request, c *Caller) error {
	if strings.HasPrefix(r.URL.Path, boardPath) {
		return fmt.Errorf("an agent does not change the board: it says what it wants in its result")
	}
	return fmt.Errorf("this is attempt %d of task %s, and %s is a person's to ask for", c.Attempt, c.Task, r.URL.Path)
}

// routeBoards adds the routes of boards. A server without boards has none of them.
func (s *Server) routeBoards(mux *http.ServeMux) {
	if s.Boards == nil {
		return
	}
	mux.HandleFunc("GET "+boardPath+"{project}", s.ofOwnBoard(s.showBoard))
	mux.HandleFunc("POST "+boardPath+"{project}/cards", s.addCard)
	mux.HandleFunc("GET "+boardPath+"{project}/cards/{number}", s.ofOwnBoard(s.showCard))
	mux.HandleFunc("POST "+boardPath+"{project}/cards/{number}", s.changeCard)
	mux.HandleFunc("GET "+boardPath+"{project}/cards/{number}/history", s.ofOwnBoard(s.cardHistory))
}

// ofOwnBoard keeps an attempt from the boards of other projects than its task's.
func (s *Server) ofOwnBoard(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := callerOf(r)
		if c == nil {
			next(w, r)
			return
		}
		t, ok, err := s.Tasks.Task(c.Task)
		switch {
		case err != nil:
			s.failWith(w, err)
		case !ok || t.Project != r.PathValue("project"):
			s.fail(w, http.StatusForbidden, fmt.Errorf("this is attempt %d of task %s: it may read only the board of its own project", c.Attempt, c.Task))
		default:
			next(w, r)
		}
	}
}

func (s *Server) showBoard(w http.ResponseWriter, r *http.Request) {
	project := r.PathValue("project")
	v, cards, err := s.Boards.Board(r.Context(), project)
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, map[string]any{"project": project, "columns": nonNil(v.Columns), "tags": nonNil(v.Tags), "cards": nonNil(cards)})
}

func (s *Server) addCard(w http.ResponseWriter, r *http.Request) {
	var n NewCard
	if err := read(r, &n); err != nil {
		s.failWith(w, err)
		return
	}
	added, err := s.Boards.AddCard(r.Context(), r.PathValue("project"), n)
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, added)
}

func (s *Server) showCard(w http.ResponseWriter, r *http.Request) {
	number, err := cardNumber(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	card, comments, err := s.Boards.Card(r.Context(), r.PathValue("project"), number)
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, map[string]any{"card": card, "comments": nonNil(comments)})
}

// changeCard makes a change in the name of a person, whatever it says of its author.
func (s *Server) changeCard(w http.ResponseWriter, r *http.Request) {
	number, err := cardNumber(r)
	var c board.Change
	if err == nil {
		err = read(r, &c)
	}
	if err != nil {
		s.failWith(w, err)
		return
	}
	c.Author = string(task.Human)
	card, changed, err := s.Boards.ChangeCard(r.Context(), r.PathValue("project"), number, c)
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, map[string]any{"card": card, "changed": changed})
}

func (s *Server) cardHistory(w http.ResponseWriter, r *http.Request) {
	number, err := cardNumber(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	events, err := s.Boards.CardHistory(r.Context(), r.PathValue("project"), number)
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, map[string]any{"history": nonNil(events)})
}

func cardNumber(r *http.Request) (int, error) {
	given := r.PathValue("number")
	if n, ok := board.ParseNumber(given); ok {
		return n, nil
	}
	return 0, fmt.Errorf("%w: %q is no number of a card", board.ErrNotFound, given)
}
