package main

import (
	"context"

	"orange/internal/core/task"
	"orange/internal/ui/api"
)

// webPage is the web page of this server: opened when it is asked for.
type webPage struct{ s *server }

// Open implements api.Page.
func (p *webPage) Open(ctx context.Context) (api.PageAddress, error) {
	return api.PageAddress{}, task.Mistakef("there is no web page yet")
}

// start opens the page at an address, if one is wanted at once. The function it returns
// waits for the end.
func (p *webPage) start(ctx context.Context, address string, input bool) (ended func(), err error) {
	return func() {}, nil
}

// busy says whether the page is open, so that the server stays.
func (p *webPage) busy() bool { return false }
