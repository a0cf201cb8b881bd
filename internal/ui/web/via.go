package web

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"orange/internal/core/signal"
	"orange/internal/ui/client"
)

// withVia lets a request that changes something say to the API where it came from: the
// session, or that the token was shown, and the process at the other end. Those who only
// look are not looked for.
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

// sessionLabel names a session without giving it away: the session's own name is part of
// its cookie.
func sessionLabel(name string) string {
	sum := sha256.Sum256([]byte("orange session " + name))
	return hex.EncodeToString(sum[:4])
}
