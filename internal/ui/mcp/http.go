package mcp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostCalls is how many requests over HTTP are answered at the same time.
const mostCalls = 32

// Authorize says who makes a request. done is called when it is over. An error means that
// nobody may ask so: the caller is not told more than whether a token is missing.
type Authorize func(r *http.Request) (c Caller, done func(), err error)

// ErrNoToken says that a request shows no token.
var ErrNoToken = errors.New("no token is shown")

// Handler speaks the protocol over HTTP. It keeps no sessions: every request shows its
// token and stands alone. Whom it may be reached by, and from which pages, is seen to by
// whoever mounts it.
func Handler(o ToolOptions, who Authorize, log *slog.Logger) http.Handler {
	server := newServer(o)
	speak := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
	})
	busy := make(chan struct{}, mostCalls)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, done, err := who(r)
		if err != nil {
			log.Debug("a token was not accepted", "component", "mcp", "error", err)
			refuseToken(w, !errors.Is(err, ErrNoToken))
			return
		}
		defer done()
		select {
		case busy <- struct{}{}:
			defer func() { <-busy }()
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests at once: try again", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		speak.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	})
}

// refuseToken says that a token is needed, and what it is for.
func refuseToken(w http.ResponseWriter, shown bool) {
	challenge, text := `Bearer realm="orange"`, "a token is needed: see orange mcp --http"
	if shown {
		challenge, text = challenge+`, error="invalid_token"`, "the token is not one of this server: see orange mcp --http"
	}
	w.Header().Set("WWW-Authenticate", challenge)
	http.Error(w, text, http.StatusUnauthorized)
}
