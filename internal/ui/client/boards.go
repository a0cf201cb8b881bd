package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"orange/internal/core/board"
	"orange/internal/wire"
)

// ReadBoard returns the board of a project.
func (c *Client) ReadBoard(ctx context.Context, project string) (wire.Board, error) {
	var out wire.Board
	path, err := boardPath(wire.PathBoard, project)
	if err != nil {
		return out, err
	}
	err = c.getJSON(ctx, path, nil, &out)
	return out, err
}

// AddCard puts a card on the board of a project.
func (c *Client) AddCard(ctx context.Context, project string, n wire.NewCard) (wire.AddedCard, error) {
	var out wire.AddedCard
	path, err := boardPath(wire.PathCards, project)
	if err != nil {
		return out, err
	}
	err = c.sendJSON(ctx, http.MethodPost, path, n, &out)
	return out, err
}

// ReadCard returns one card.
func (c *Client) ReadCard(ctx context.Context, project string, number int) (wire.CardDetails, error) {
	var out wire.CardDetails
	path, err := boardPath(wire.PathCard, project, strconv.Itoa(number))
	if err != nil {
		return out, err
	}
	err = c.getJSON(ctx, path, nil, &out)
	return out, err
}

// ChangeCard changes one card. code is the one from the notification, or "".
func (c *Client) ChangeCard(ctx context.Context, project string, number int, change board.Change, code string) (wire.ChangedCard, error) {
	var out wire.ChangedCard
	path, err := boardPath(wire.PathCard, project, strconv.Itoa(number))
	if err != nil {
		return out, err
	}
	if code != "" {
		path += "?" + url.Values{wire.ParamCode: {code}}.Encode()
	}
	err = c.sendJSON(ctx, http.MethodPost, path, change, &out)
	return out, err
}

// CardHistory returns the events of a card, oldest first.
func (c *Client) CardHistory(ctx context.Context, project string, number int) ([]board.Event, error) {
	out := wire.CardHistory{History: []board.Event{}}
	path, err := boardPath(wire.PathCardHistory, project, strconv.Itoa(number))
	if err != nil {
		return nil, err
	}
	err = c.getJSON(ctx, path, nil, &out)
	return out.History, err
}

// boardPath returns the path of a project's board, or of something on it. It returns an error for a name that would
// lead to another path.
func boardPath(pattern, project string, rest ...string) (string, error) {
	if project == "" || project == "." || project == ".." {
		return "", &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("project %q is not registered: see orange project list", project)}
	}
	return wire.FillPath(pattern, append([]string{project}, rest...)...), nil
}
