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

// A session is what a browser has after it showed a code, or the token: a random name, when it was
// given out, and a sum that only the holder of the token can make. Nothing is kept here:
// sessions outlive a server, and end with the token or after a week: browsers show cookies
// to every server at the same name, whatever its port.
const sessionLife = 7 * 24 * time.Hour

// keyedSum is a value that follows from the token and a text, for one use.
func (s *Site) keyedSum(use, text string) string {
	mac := hmac.New(sha256.New, []byte(s.o.Token))
	mac.Write([]byte(use + " " + text)) //nolint:errcheck // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// cookieName differs from server to server: a browser sends the cookies of a host to all
// its ports.
func (s *Site) cookieName() string {
	sum := sha256.Sum256([]byte(s.keyedSum("cookie", "")))
	return "orange_" + hex.EncodeToString(sum[:4])
}

// newSession makes the value of a cookie.
func (s *Site) newSession() string {
	name := strconv.FormatInt(s.o.Now().Unix(), 36) + "-" + randomName(16)
	return name + "." + s.keyedSum("session", name)
}

// sessionOf is the name of the session that a request shows, "" if it shows none that is
// good.
func (s *Site) sessionOf(r *http.Request) string {
	for _, c := range r.CookiesNamed(s.cookieName()) {
		name, sum, ok := strings.Cut(c.Value, ".")
		if ok && EqualSecrets(sum, s.keyedSum("session", name)) && s.isFresh(name) {
			return name
		}
	}
	return ""
}

// isFresh says that a session is not over. Its name is genuine.
func (s *Site) isFresh(name string) bool {
	begun, _, _ := strings.Cut(name, "-")
	at, err := strconv.ParseInt(begun, 36, 64)
	return err == nil && s.o.Now().Before(time.Unix(at, 0).Add(sessionLife))
}

// csrfOf is what a form of this session's pages carries, "" without a session.
func (s *Site) csrfOf(r *http.Request) string {
	name := s.sessionOf(r)
	if name == "" {
		return ""
	}
	return s.keyedSum("csrf", name)
}

// HasBearerToken says whether a request shows the token itself, as programs do.
func (s *Site) HasBearerToken(r *http.Request) bool {
	token, ok := BearerToken(r)
	return ok && EqualSecrets(token, s.o.Token)
}

// BearerToken is the token that a request shows in place of a cookie.
func BearerToken(r *http.Request) (string, bool) {
	kind, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), ok && strings.EqualFold(kind, "Bearer")
}

// EqualSecrets compares in a time that says nothing about where texts differ.
func EqualSecrets(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return b != "" && hmac.Equal(x[:], y[:])
}

func randomName(n int) string {
	b := make([]byte, n)
	rand.Read(b) //nolint:errcheck // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// logIn takes the code or the token out of the address of any page and gives a session for it.
func (s *Site) logIn(w http.ResponseWriter, r *http.Request, q url.Values) {
	switch token, code := q.Get("token"), q.Get("code"); {
	case token != "" && !EqualSecrets(token, s.o.Token):
		s.writeError(w, r, s.countWrongTry(http.StatusForbidden, "the token is not the one of this server: run `orange web` and open the address it prints"))
		return
	case token == "" && !s.o.Codes.redeemCode(code):
		s.writeError(w, r, s.countWrongTry(http.StatusForbidden, "this address signs in once and within a minute, and was used or is too old: run `orange web` and open the address it prints"))
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

// bucket bounds how often a wrong token or code is told apart from a right one:
// triesPerSecond, and no more at once.
type bucket struct {
	now   func() time.Time
	mu    sync.Mutex
	used  int
	since time.Time
}

const triesPerSecond = 5

// takeTry says whether a wrong try is answered as one, and counts it.
func (b *bucket) takeTry() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := b.now(); now.Sub(b.since) >= time.Second || now.Before(b.since) {
		b.since, b.used = now, 0
	}
	b.used++
	return b.used <= triesPerSecond
}
