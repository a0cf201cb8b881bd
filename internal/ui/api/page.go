package api

import (
	"context"
	"net/http"

	"orange/internal/core/task"
	"orange/internal/wire"
)

// Page is the web page of this server.
type Page interface {
	OpenPage(ctx context.Context) (wire.PageAddress, error)
	PageToken(ctx context.Context) (wire.PageToken, error) // opens the page as well
}

// openPage opens the web page, if it is not open, and returns its address.
func (s *Server) openPage(r *http.Request) (wire.PageAddress, error) {
	if s.Page == nil {
		return wire.PageAddress{}, task.Mistakef("this server has no web page")
	}
	return s.Page.OpenPage(r.Context())
}

// webToken returns the token with which programs use the web page.
func (s *Server) webToken(r *http.Request) (wire.PageToken, error) {
	if s.Page == nil {
		return wire.PageToken{}, task.Mistakef("this server has no web page")
	}
	return s.Page.PageToken(r.Context())
}
