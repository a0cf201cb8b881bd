package api

import (
	"context"
	"net/http"

	"orange/internal/core/task"
)

// A PageAddress is where the web page is.
type PageAddress struct {
	URL   string `json:"url"`   // signs nobody in
	Login string `json:"login"` // signs in once, within a minute
}

// A PageToken is what programs show at the web page.
type PageToken struct {
	URL   string `json:"url"`
	Token string `json:"token"` // does not end: not for command lines
}

// Page is the web page of this server.
type Page interface {
	Open(ctx context.Context) (PageAddress, error)
	Token(ctx context.Context) (PageToken, error) // opens the page as well
}

// web opens the web page, if it is not open, and says where it is.
func (s *Server) web(r *http.Request) (PageAddress, error) {
	if s.Page == nil {
		return PageAddress{}, task.Mistakef("this server has no web page")
	}
	return s.Page.Open(r.Context())
}

// webToken says what programs show at the web page.
func (s *Server) webToken(r *http.Request) (PageToken, error) {
	if s.Page == nil {
		return PageToken{}, task.Mistakef("this server has no web page")
	}
	return s.Page.Token(r.Context())
}
