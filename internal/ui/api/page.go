package api

import (
	"context"
	"net/http"

	"orange/internal/core/task"
)

// A PageAddress is where the web page is.
type PageAddress struct {
	URL   string `json:"url"`   // without the token
	Login string `json:"login"` // with it: opens the page
}

// Page is the web page of this server.
type Page interface {
	Open(ctx context.Context) (PageAddress, error)
}

// web opens the web page, if it is not open, and says where it is.
func (s *Server) web(r *http.Request) (PageAddress, error) {
	if s.Page == nil {
		return PageAddress{}, task.Mistakef("this server has no web page")
	}
	return s.Page.Open(r.Context())
}
