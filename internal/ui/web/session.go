package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A session is what a browser gets in exchange for a login code or the token: a random name, the time
// it was issued, and a MAC that needs the token to compute. The server stores no sessions: they
// survive a restart, and end after a week or when the token changes. They expire because browsers send
// cookies to every server on the same host, whatever its port.
const sessionLife = 7 * 24 * time.Hour

// keyedSum returns a MAC of a text, keyed with the token. Different uses give different values.
func (s *Site) keyedSum(use, text string) string {
	mac := hmac.New(sha256.New, []byte(s.o.Token))
	mac.Write([]byte(use + " " + text)) //nolint:errcheck // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// cookieName returns the name of the session cookie. It differs between servers, because browsers send
// the cookies of a host to all its ports.
func (s *Site) cookieName() string {
	sum := sha256.Sum256([]byte(s.keyedSum("cookie", "")))
	return "orange_" + hex.EncodeToString(sum[:4])
}

// newSession returns the value of a new session cookie.
func (s *Site) newSession() string {
	name := strconv.FormatInt(s.o.Now().Unix(), 36) + "-" + randomName(16)
	return name + "." + s.keyedSum("session", name)
}

// sessionOf returns the name of a request's session, or "" if it has no valid one.
func (s *Site) sessionOf(r *http.Request) string {
	for _, c := range r.CookiesNamed(s.cookieName()) {
		name, sum, ok := strings.Cut(c.Value, ".")
		if ok && EqualSecrets(sum, s.keyedSum("session", name)) && s.isFresh(name) {
			return name
		}
	}
	return ""
}

// isFresh reports whether a session has not expired. The caller has verified its name.
func (s *Site) isFresh(name string) bool {
	begun, _, _ := strings.Cut(name, "-")
	at, err := strconv.ParseInt(begun, 36, 64)
	return err == nil && s.o.Now().Before(time.Unix(at, 0).Add(sessionLife))
}

// csrfOf returns the CSRF token of a request's session, or "" if it has no session.
func (s *Site) csrfOf(r *http.Request) string {
	name := s.sessionOf(r)
	if name == "" {
		return ""
	}
	return s.keyedSum("csrf", name)
}

// HasBearerToken reports whether a request carries the token of the site, as programs send it.
func (s *Site) HasBearerToken(r *http.Request) bool {
	token, ok := BearerToken(r)
	return ok && EqualSecrets(token, s.o.Token)
}

// BearerToken returns the token in the Authorization header of a request.
func BearerToken(r *http.Request) (string, bool) {
	kind, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), ok && strings.EqualFold(kind, "Bearer")
}

// EqualSecrets compares two secrets in a time that does not depend on where they differ. An empty b
// equals nothing.
func EqualSecrets(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return b != "" && hmac.Equal(x[:], y[:])
}

func randomName(n int) string {
	b := make([]byte, n)
	rand.Read(b) //nolint:errcheck // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// logIn exchanges the code or the token in the address of a page for a session.
func (s *Site) logIn(w http.ResponseWriter, r *http.Request, q url.Values) {
	switch token, code := q.Get("token"), q.Get("code"); {
	case token != "" && !EqualSecrets(token, s.o.Token):
		s.writeError(w, r, s.countWrongTry(http.StatusForbidden, "the token does not belong to this server: run `orange web` and open the address it prints"))
		return
	case token == "" && !s.o.Codes.redeemCode(code):
		s.writeError(w, r, s.countWrongTry(http.StatusForbidden, "this address is valid once and for one minute: run `orange web` and open the address it prints"))
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(), Value: s.newSession(), Path: "/", MaxAge: int(sessionLife / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	q.Del("token")
	q.Del("code")
	to := r.URL.EscapedPath()
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	http.Redirect(w, r, ownPath(to), http.StatusSeeOther)
}

// bucket limits how many wrong tokens and codes are answered as wrong, to triesPerSecond.
type bucket struct {
	now   func() time.Time
	mu    sync.Mutex
	used  int
	since time.Time
}

const triesPerSecond = 5

// takeTry counts a wrong try and reports whether it is within the limit.
func (b *bucket) takeTry() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := b.now(); now.Sub(b.since) >= time.Second || now.Before(b.since) {
		b.since, b.used = now, 0
	}
	b.used++
	return b.used <= triesPerSecond
}
