package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostCalls is how many requests over HTTP are answered at the same time.
const mostCalls = 32

// Authorize says who shows a token, "" for none. done is called when the request is
// over. An error means that nobody may ask with it: the caller is not told more.
type Authorize func(ctx context.Context, token string) (c Caller, done func(), err error)

// Handler speaks the protocol over HTTP. It keeps no sessions: every request shows its
// token and stands alone. Whom it may be reached by, and from which pages, is seen to by
// whoever mounts it.
func Handler(o Options, who Authorize, log *slog.Logger) http.Handler {
	server := newServer(o)
	speak := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
	})
	busy := make(chan struct{}, mostCalls)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := bearer(r)
		c, done, err := who(r.Context(), token)
		if err != nil {
			log.Warn("a token was not accepted", "component", "mcp", "error", err)
			refuse(w, token != "")
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

// bearer is the token of a request, "" if it has none.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// refuse says that a token is needed, and what it is for.
func refuse(w http.ResponseWriter, shown bool) {
	challenge, text := `Bearer realm="orange"`, "a token is needed: see orange mcp --http"
	if shown {
		challenge, text = challenge+`, error="invalid_token"`, "the token is not one of this server: see orange mcp --http"
	}
	w.Header().Set("WWW-Authenticate", challenge)
	http.Error(w, text, http.StatusUnauthorized)
}
