package web

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"orange/internal/core/signal"
	"orange/internal/ui/client"
)

// withVia attaches the origin of a request to its context, for the API: the session or the use of the
// token, and the process at the other end. It does so only for requests that change something, because
// finding the process is slow.
func (s *Site) withVia(r *http.Request, kind signal.ViaKind) *http.Request {
	if readOnly(r) {
		return r
	}
	var v signal.Via
	if s.o.Describe != nil {
		v = s.o.Describe(r)
	}
	v.Kind = kind
	if _, shown := BearerToken(r); shown && kind == signal.ViaPage {
		v.Kind = signal.ViaToken
	} else if kind == signal.ViaPage {
		v.Session = sessionLabel(s.sessionOf(r))
	}
	return r.WithContext(client.WithVia(r.Context(), v))
}

// sessionLabel returns a label for a session that reveals nothing: the session's name is part of its
// cookie.
func sessionLabel(name string) string {
	sum := sha256.Sum256([]byte("orange session " + name))
	return hex.EncodeToString(sum[:4])
}
