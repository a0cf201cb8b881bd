package mcp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostCalls limits how many HTTP requests are handled at the same time.
const mostCalls = 32

// Authorize identifies the caller of a request. The handler calls done when the request is over. If
// Authorize returns an error, the request is refused, and the response says only whether a token is
// missing.
type Authorize func(r *http.Request) (c Caller, done func(), err error)

// ErrNoToken means that a request carries no token.
var ErrNoToken = errors.New("no token is shown")

// Handler serves the protocol over HTTP. It keeps no sessions: every request carries its token and is
// independent of the others. The code that mounts the handler must check hosts and origins.
func Handler(o ToolOptions, who Authorize, log *slog.Logger) http.Handler {
	server := newServer(o)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
	})
	busy := make(chan struct{}, mostCalls)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, done, err := who(r)
		if err != nil {
			log.Debug("the token was rejected", "component", "mcp", "error", err)
			refuseToken(w, !errors.Is(err, ErrNoToken))
			return
		}
		defer done()
		select {
		case busy <- struct{}{}:
			defer func() { <-busy }()
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many concurrent requests: try again", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	})
}

// refuseToken responds that a token is needed, and where to find it.
func refuseToken(w http.ResponseWriter, shown bool) {
	challenge, text := `Bearer realm="orange"`, "the request has no token: see orange mcp --http"
	if shown {
		challenge, text = challenge+`, error="invalid_token"`, "the token does not belong to this server: see orange mcp --http"
	}
	w.Header().Set("WWW-Authenticate", challenge)
	http.Error(w, text, http.StatusUnauthorized)
}
