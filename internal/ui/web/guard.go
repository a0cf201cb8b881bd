package web

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"

	"orange/internal/core/signal"
)

// headerCSRF is the header in which scripts send the value that forms send in the field fieldCSRF.
const (
	headerCSRF = "Orange-Csrf"
	fieldCSRF  = "_csrf"
)

// policy is the content security policy: a page loads resources only from this site, has no inline
// scripts or styles, cannot be framed, and sends forms only to this site.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// guardRequests checks every request before a handler sees it, in this order: the Host header names
// this listener (a foreign name that resolves to this address is refused), the request does not come
// from a page of another origin, it carries a valid token or session, its process is not an agent,
// and, if it changes anything, it was sent by a page made for this session.
func (s *Site) guardRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		w := withDeadlines(to, r)
		s.setHeaders(w)
		if !s.ownHost(r.Host) {
			s.writeError(w, withoutCookie(r), newRefusal(http.StatusMisdirectedRequest, "the request names another host: run `orange web` and open the address it prints"))
			return
		}
		if err := s.comesFromHere(r); err != nil {
			s.writeError(w, withoutCookie(r), err)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/static/") { // the same for everybody
			next.ServeHTTP(w, r)
			return
		}
		if q := r.URL.Query(); r.Method == http.MethodGet && (q.Get("token") != "" || q.Get("code") != "") {
			if err := s.mayAct(r); err != nil {
				s.writeError(w, withoutCookie(r), err)
				return
			}
			s.logIn(w, r, q)
			return
		}
		if r.URL.Path == "/mcp" {
			s.guardMCP(w, r, next)
			return
		}
		if !readOnly(r) && !strings.HasPrefix(r.URL.Path, "/api/") {
			r.Body = http.MaxBytesReader(to, r.Body, maxForm)
		}
		if err := s.admitRequest(r); err != nil {
			s.denyRequest(w, r, err)
			return
		}
		next.ServeHTTP(w, s.withVia(r, signal.ViaPage))
	})
}

// setHeaders sets the headers of every response, including errors and files. The Referer header is
// sent to pages of this site only; without it, browsers would hide the origin of forms.
func (s *Site) setHeaders(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
}

// ownHost reports whether a Host header names this listener. Other names must be refused: a foreign
// page whose host name resolves to this address would otherwise have the same origin.
func (s *Site) ownHost(host string) bool {
	_, port, err := net.SplitHostPort(s.o.Address())
	if err != nil {
		return false
	}
	names := []string{"127.0.0.1", "localhost", "[::1]", "orange.localhost"} // the last one has its own cookies
	given := strings.ToLower(host)
	return slices.ContainsFunc(names, func(name string) bool {
		return given == name+":"+port || port == "80" && given == name
	}) || given == strings.ToLower(s.o.Address())
}

// comesFromHere refuses requests that pages of other origins cause. Other ports of this machine are
// other origins, although browsers send them the same cookies. Following a link to this site is
// allowed, because the page with the link cannot read the result.
func (s *Site) comesFromHere(r *http.Request) error {
	foreign := newRefusal(http.StatusForbidden, "the request comes from a page of another origin: open the page itself")
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return foreign
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return nil
	}
	if readOnly(r) && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" {
		return nil
	}
	return foreign
}

func readOnly(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// errUnknown is the response to a request without a token or session.
var errUnknown = errors.New("this page is for the user who runs the server: run `orange web` and open the address it prints")

// errTries is the response after too many wrong tokens or codes. The right token is still accepted.
var errTries = newRefusal(http.StatusTooManyRequests, "too many wrong tokens or codes: wait a second and try again")

// admitRequest authenticates a request by its token or its session, and checks that the caller may
// make it.
func (s *Site) admitRequest(r *http.Request) error {
	if token, shown := BearerToken(r); shown {
		if !EqualSecrets(token, s.o.Token) {
			return s.countWrongTry(http.StatusUnauthorized, "the token does not belong to this server: run `orange web --token` to see it")
		}
		if readOnly(r) {
			return s.mayRead(r)
		}
		return s.mayAct(r)
	}
	if s.sessionOf(r) == "" {
		return &refusal{http.StatusForbidden, errUnknown.Error()}
	}
	if readOnly(r) {
		return s.mayRead(r)
	}
	if err := s.mayAct(r); err != nil {
		return err
	}
	return s.checkForm(r)
}

// countWrongTry counts a wrong token or code and returns the error to respond with.
func (s *Site) countWrongTry(status int, text string) error {
	if !s.tries.takeTry() {
		return errTries
	}
	return newRefusal(status, "%s", text)
}

// checkForm checks that a page of this session sent the request.
func (s *Site) checkForm(r *http.Request) error {
	if r.Header.Get("Origin") == "" { // every browser sends the origin of a form
		return newRefusal(http.StatusForbidden, "the request does not say which page it comes from: use the page, or send the token with Authorization: Bearer")
	}
	given := r.Header.Get(headerCSRF)
	if given == "" && strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		if err := parseForm(r); err != nil {
			return err
		}
		given = r.PostForm.Get(fieldCSRF)
	}
	if !EqualSecrets(given, s.csrfOf(r)) {
		return newRefusal(http.StatusForbidden, "the form belongs to another session: reload the page and try again")
	}
	return nil
}

// parseForm parses a form. guardRequests has limited its size.
func parseForm(r *http.Request) error {
	switch err := r.ParseForm(); {
	case err == nil:
		return nil
	case statusOf(err) == http.StatusRequestEntityTooLarge:
		return newRefusal(http.StatusRequestEntityTooLarge, "the form has more than %d bytes: shorten it", maxForm)
	}
	return newRefusal(http.StatusBadRequest, "cannot read the form: reload the page and try again")
}

// mayAct refuses agents. They run as the same user and can read what that user can, but they must not
// approve their own work.
func (s *Site) mayAct(r *http.Request) error {
	if s.o.Who == nil {
		return nil
	}
	if err := s.o.Who(r); err != nil {
		return newRefusal(http.StatusForbidden, "%v", err)
	}
	return nil
}

// guardMCP passes requests of programs to the MCP handler, which authenticates them itself: an attempt
// has its own token. Requests without a token, such as those of browsers, are refused.
func (s *Site) guardMCP(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if _, shown := BearerToken(r); !shown {
		w.Header().Set("WWW-Authenticate", `Bearer realm="orange"`)
		s.writeError(w, withoutCookie(r), newRefusal(http.StatusUnauthorized, "the request has no token: send it with Authorization: Bearer, see orange web --token"))
		return
	}
	if s.HasBearerToken(r) {
		if err := s.mayAct(r); err != nil {
			s.writeError(w, withoutCookie(r), err)
			return
		}
	}
	next.ServeHTTP(&countingWriter{w, &s.tries}, s.withVia(r, signal.ViaMCP))
}

// countingWriter is a response writer that counts wrong tokens, and responds with errTries after too
// many.
type countingWriter struct {
	http.ResponseWriter
	tries *bucket
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (c *countingWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *countingWriter) WriteHeader(status int) {
	if status == http.StatusUnauthorized && !c.tries.takeTry() {
		status = http.StatusTooManyRequests
	}
	c.ResponseWriter.WriteHeader(status)
}

// Flush implements http.Flusher.
func (c *countingWriter) Flush() { http.NewResponseController(c.ResponseWriter).Flush() } //nolint:errcheck // the client left

// denyRequest refuses a request whose sender may still be signed in: browsers do not send the session
// cookie when a person follows a link from another site, but they do for links within this one. The
// page offers such a link.
func (s *Site) denyRequest(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="orange"`)
	}
	if status != http.StatusForbidden || !readOnly(r) || wantsJSON(r) || r.Header.Get("Sec-Fetch-Site") == "same-origin" {
		s.writeError(w, r, err)
		return
	}
	f := failure{page: page{Now: s.o.Now(), Wants: -1}, Status: status, Title: "Sign in", Message: err.Error()}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		f.Again = ownPath(r.URL.EscapedPath())
	}
	s.renderPage(w, r, status, "error", f)
}

// withoutCookie returns a copy of a request without its cookies, so that its session is ignored.
func withoutCookie(r *http.Request) *http.Request {
	out := r.Clone(r.Context())
	out.Header.Del("Cookie")
	return out
}
