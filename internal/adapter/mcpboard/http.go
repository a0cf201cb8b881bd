package mcpboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// maxBody is the size limit of a response: an answer of maxAnswer bytes, quoted as JSON.
const maxBody = 4 << 20

// A bearer is a round tripper that sends the token, to the board's own host only, and turns an
// unsuccessful status into a *statusError.
type bearer struct {
	base  http.RoundTripper
	host  *url.URL
	token func(ctx context.Context) (string, error)
}

func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b.token != nil && r.URL.Host == b.host.Host && r.URL.Scheme == b.host.Scheme {
		token, err := b.token(r.Context())
		if err != nil {
			return nil, &tokenError{err}
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
	}
	resp, err := b.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if e := checkStatus(resp); e != nil && r.Method == http.MethodPost {
		_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
		resp.Body.Close()
		return nil, e
	}
	resp.Body = &bounded{ReadCloser: resp.Body, left: maxBody}
	return resp, nil
}

// A tokenError is the reason why there is no token.
type tokenError struct{ err error }

func (e *tokenError) Error() string { return fmt.Sprintf("read the board's token: %v", e.err) }
func (e *tokenError) Unwrap() error { return e.err }

// checkStatus returns the error for a status. It leaves a lost session (404) and errors in the
// form of the protocol (400) to the protocol's client.
func checkStatus(resp *http.Response) error {
	switch code := resp.StatusCode; {
	case code >= 300 && code < 400, code == 401, code == 403, code == 429, code >= 500:
		e := &statusError{code: code}
		if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
			e.after = min(time.Duration(s)*time.Second, maxPause)
		}
		return e
	}
	return nil
}

// A statusError is an unsuccessful status.
type statusError struct {
	code  int
	after time.Duration
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%d %s", e.code, http.StatusText(e.code))
}

func (e *statusError) errorKind() string {
	switch e.code {
	case 401, 403:
		return kindDenied
	case 429:
		return kindLimited
	}
	return kindBroken
}

// bounded is a body that returns an error if it is too long.
type bounded struct {
	io.ReadCloser
	left int
}

var errTooLong = errors.New("the response is too long")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// httpClient returns the caller's client with the token added and without redirects.
func httpClient(c *http.Client, to *url.URL, token func(ctx context.Context) (string, error)) *http.Client {
	out := &http.Client{}
	if c != nil {
		*out = *c
	}
	base := out.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	out.Transport = &bearer{base: base, host: to, token: token}
	out.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return out
}
