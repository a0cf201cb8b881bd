package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"orange/internal/core/board"
	"orange/internal/core/task"
)

// A Board is what a project's board knows, and its cards by number.
type Board struct {
	Project string       `json:"project"`
	Columns []string     `json:"columns"`
	Tags    []string     `json:"tags"`
	Cards   []board.Card `json:"cards"`
}

// A CardView is a card with what was said about it.
type CardView struct {
	Card     board.Card      `json:"card"`
	Comments []board.Comment `json:"comments"`
}

// A NewCard is what is to be put on a board.
type NewCard struct {
	Title       string   `json:"title"`
	Column      string   `json:"column,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Description string   `json:"description,omitempty"`
	NoTask      bool     `json:"no_task,omitempty"`
	Workflow    string   `json:"workflow,omitempty"`
	Branch      string   `json:"branch,omitempty"`
	Harness     string   `json:"harness,omitempty"`
	Code        string   `json:"code,omitempty"` // that was shown by notification
}

// An AddedCard is a card that was put on a board, and the task that works on it.
type AddedCard struct {
	Card    board.Card `json:"card"`
	Task    task.ID    `json:"task,omitempty"`
	Warning string     `json:"warning,omitempty"`
}

// A ChangedCard is a card after a change, and whether that changed anything.
type ChangedCard struct {
	Card    board.Card `json:"card"`
	Changed bool       `json:"changed"`
}

// Board returns the board of a project.
func (c *Client) Board(ctx context.Context, project string) (Board, error) {
	var out Board
	path, err := boardPath(project, "")
	if err != nil {
		return out, err
	}
	err = c.get(ctx, path, nil, &out)
	return out, err
}

// AddCard puts a card on the board of a project.
func (c *Client) AddCard(ctx context.Context, project string, n NewCard) (AddedCard, error) {
	var out AddedCard
	path, err := boardPath(project, "/cards")
	if err != nil {
		return out, err
	}
	err = c.put(ctx, http.MethodPost, path, n, &out)
	return out, err
}

// Card returns one card.
func (c *Client) Card(ctx context.Context, project string, number int) (CardView, error) {
	var out CardView
	path, err := boardPath(project, "/cards/"+strconv.Itoa(number))
	if err != nil {
		return out, err
	}
	err = c.get(ctx, path, nil, &out)
	return out, err
}

// ChangeCard changes one card. Code is the one that was shown by notification, "" if none
// was.
func (c *Client) ChangeCard(ctx context.Context, project string, number int, change board.Change, code string) (ChangedCard, error) {
	var out ChangedCard
	path, err := boardPath(project, "/cards/"+strconv.Itoa(number))
	if err != nil {
		return out, err
	}
	if code != "" {
		path += "?code=" + url.QueryEscape(code)
	}
	err = c.put(ctx, http.MethodPost, path, change, &out)
	return out, err
}

// CardHistory returns what became of a card, oldest first.
func (c *Client) CardHistory(ctx context.Context, project string, number int) ([]board.Event, error) {
	out := struct {
		History []board.Event `json:"history"`
	}{History: []board.Event{}}
	path, err := boardPath(project, "/cards/"+strconv.Itoa(number)+"/history")
	if err != nil {
		return nil, err
	}
	err = c.get(ctx, path, nil, &out)
	return out.History, err
}

// boardPath is the address of a project's board, or of something on it. A name that
// would lead elsewhere is not sent.
func boardPath(project, of string) (string, error) {
	if project == "" || project == "." || project == ".." {
		return "", &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("project %q is not registered: see orange project list", project)}
	}
	return "/boards/" + url.PathEscape(project) + of, nil
}
