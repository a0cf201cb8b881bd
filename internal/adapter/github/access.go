package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// maxBody is the size limit of a response, in bytes.
const maxBody = 32 << 20

// access sends the token only to the API's own host, not to hosts that a response redirects to,
// and limits the size of responses.
type access struct {
	next  http.RoundTripper
	base  *url.URL
	token func(context.Context) (string, error)

	mu    sync.Mutex
	known string // the token, until it is refused
}

func (a *access) RoundTrip(req *http.Request) (*http.Response, error) {
	token := ""
	if a.token != nil && req.URL.Host == a.base.Host && req.URL.Scheme == a.base.Scheme {
		var err error
		if token, err = a.readSecret(req.Context()); err != nil {
			if req.Body != nil {
				req.Body.Close()
			}
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := a.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized {
		a.forgetToken(token)
	}
	resp.Body = &bounded{ReadCloser: resp.Body, left: maxBody}
	return resp, nil
}

func (a *access) readSecret(ctx context.Context) (string, error) {
	a.mu.Lock()
	known := a.known
	a.mu.Unlock()
	if known != "" {
		return known, nil
	}
	token, err := a.token(ctx)
	if err != nil {
		return "", fmt.Errorf("find github's token: %w", err)
	}
	token = strings.TrimSpace(token)
	if !oneWord(token) {
		return "", errors.New("github's token is not one word: check where the tracker's token comes from")
	}
	a.mu.Lock()
	a.known = token
	a.mu.Unlock()
	return token, nil
}

func (a *access) forgetToken(token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == token {
		a.known = ""
	}
}

// oneWord reports whether text can be a token: printable, without spaces, and not too long.
func oneWord(text string) bool {
	return text != "" && len(text) < 4096 && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// bounded is a body that returns an error if it is too long.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, fmt.Errorf("the answer is longer than %d MB", maxBody>>20)
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
