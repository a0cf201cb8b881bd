package mcp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Authorize identifies the caller of a request. The handler calls done when the request is over. If
// Authorize returns an error, the request is refused, and the response says only whether a token is
// missing.
type Authorize func(r *http.Request) (c Caller, done func(), err error)

// ErrNoToken means that a request carries no token.
var ErrNoToken = errors.New("no token is shown")

// Handler serves the protocol over HTTP until ctx ends. It keeps no sessions: every request carries its token and is
// independent of the others. The code that mounts the handler must check hosts and origins.
func Handler(ctx context.Context, o ToolOptions, who Authorize, log *slog.Logger) http.Handler {
	server := newServer(ctx, o)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
	})
	places := newSlots()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, done, err := who(r)
		if err != nil {
			log.Debug("the token was rejected", "component", "mcp", "error", err)
			refuseToken(w, !errors.Is(err, ErrNoToken))
			return
		}
		defer done()
		place, ok := places.take()
		if !ok {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many concurrent requests: try again", http.StatusServiceUnavailable)
			return
		}
		defer place.giveBack()
		w.Header().Set("Cache-Control", "no-store")
		inside := context.WithValue(context.WithValue(r.Context(), callerKey{}, c), slotKey{}, place)
		handler.ServeHTTP(w, r.WithContext(context.WithValue(inside, httpKey{}, r)))
	})
}

type httpKey struct{}

// endWithRequest cancels a call when the client of its HTTP request is gone; the library does so only for some versions
// of the protocol. The function it returns ends that.
func endWithRequest(ctx context.Context, cancel context.CancelFunc) (stop func()) {
	r, ok := ctx.Value(httpKey{}).(*http.Request)
	if !ok {
		return func() {}
	}
	end := context.AfterFunc(r.Context(), cancel)
	return func() { end() }
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
