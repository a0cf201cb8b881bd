package client_test

import (
	"context"
	"testing"

	"orange/internal/core/board"
	"orange/internal/ui/client"
	"orange/internal/wire"
)

func TestWhatIsAskedAboutBoards(t *testing.T) {
	text := ""
	ask := map[string]func(context.Context, *client.Client) error{
		"GET /v1/boards/a%20b": func(ctx context.Context, c *client.Client) error { _, err := c.ReadBoard(ctx, "a b"); return err },
		`POST /v1/boards/a%2Fb/cards {"title":"t","tags":["x"],"no_task":true}`: func(ctx context.Context, c *client.Client) error {
			_, err := c.AddCard(ctx, "a/b", wire.NewCard{Title: "t", Tags: []string{"x"}, NoTask: true})
			return err
		},
		"GET /v1/boards/p/cards/3": func(ctx context.Context, c *client.Client) error { _, err := c.ReadCard(ctx, "p", 3); return err },
		`POST /v1/boards/p/cards/3 {"column":"Done","description":""}`: func(ctx context.Context, c *client.Client) error {
			_, err := c.ChangeCard(ctx, "p", 3, board.Change{Column: "Done", Description: &text}, "")
			return err
		},
		"GET /v1/boards/p/cards/3/history": func(ctx context.Context, c *client.Client) error { _, err := c.CardHistory(ctx, "p", 3); return err },
	}
	for want, f := range ask {
		r := inspect()
		socket := socketIn(t)
		listen(t, socket, r)
		c := client.New(socket)
		if err := f(t.Context(), c); err != nil || len(r.got) != 1 || r.got[0] != want {
			t.Errorf("asked %q (%v), want %q", r.got, err, want)
		}
		c.Close()
	}
}

func TestAProjectThatWouldLeadElsewhereIsNotAsked(t *testing.T) {
	r := inspect()
	socket := socketIn(t)
	listen(t, socket, r)
	c := client.New(socket)
	defer c.Close()
	for _, name := range []string{"", ".", ".."} {
		_, board1 := c.ReadBoard(t.Context(), name)
		_, add := c.AddCard(t.Context(), name, wire.NewCard{})
		_, card := c.ReadCard(t.Context(), name, 1)
		_, change := c.ChangeCard(t.Context(), name, 1, board.Change{}, "")
		_, history := c.CardHistory(t.Context(), name, 1)
		for i, err := range []error{board1, add, card, change, history} {
			if err == nil {
				t.Errorf("%q: %d was asked", name, i)
			}
		}
	}
	if len(r.got) != 0 {
		t.Errorf("asked %q", r.got)
	}
}
