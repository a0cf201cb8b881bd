// Package transport speaks HTTP with trackers and forges for whoever has a request: it
// tries again what may be tried again, waits as long as a server asks for, sends no
// faster than it may, and stops asking while credentials are refused. It knows no
// tracker, reads no secret, and writes down neither headers nor bodies.
package transport

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// Options say how to speak with one server under one secret. All but the name may be
// left out.
type Options struct {
	Name   string            // of the tracker, for errors and the log
	Secret string            // where its secret is found, never the secret: env:NAME, file:PATH
	Base   http.RoundTripper // what sends; by default one that waits 30 s for a reply to begin

	Tries   int                       // at most so many for one request: 3
	Wait    func(n int) time.Duration // before try n+1, counted from 0: 1 s, doubled up to 10 s, less a random part
	MaxWait time.Duration             // the longest wait a server may ask for: 60 s

	Rate  float64 // requests per second, 0 for as many as there are
	Burst int     // of them at once: 1

	// Limited finds replies that say "too much" in other ways than 429 or a 403 whose
	// headers show a limit, Resets the end of a limit that neither Retry-After nor
	// X-RateLimit-Reset gives, and Denied replies that refuse the credentials in other
	// ways than 401 and 403. What they say about a body they have from Peek.
	Limited func(*http.Response) bool
	Forbids bool // a 403 refuses one thing only: it says nothing about the secret
	Resets  func(*http.Response) time.Time
	Denied  func(*http.Response) bool

	Log func(msg string, args ...any) // what was tried again and why, in pairs as slog has them
}

// A Transport is an http.RoundTripper for one server under one secret.
type Transport struct {
	o       Options
	mu      sync.Mutex
	breaker Breaker
	bucket  bucket
}

// New returns a transport in which nothing has gone wrong yet.
func New(o Options) *Transport {
	if o.Base == nil {
		o.Base = baseTransport()
	}
	if o.Tries < 1 {
		o.Tries = 3
	}
	if o.Wait == nil {
		o.Wait = func(n int) time.Duration { return jitter(Backoff{}.Delay(n)) }
	}
	if o.MaxWait <= 0 {
		o.MaxWait = time.Minute
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	return &Transport{o: o, bucket: bucket{rate: o.Rate, burst: max(1, o.Burst)}}
}

func baseTransport() http.RoundTripper {
	usual, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	own := usual.Clone()
	own.ResponseHeaderTimeout = 30 * time.Second
	return own
}

type safeKey struct{}

// MarkSafe marks requests that change nothing, whatever their method: a query in GraphQL is a
// POST that only reads.
func MarkSafe(ctx context.Context) context.Context { return context.WithValue(ctx, safeKey{}, true) }

// isSafe reports whether a request may be sent twice without doing anything twice.
func isSafe(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	return req.Context().Value(safeKey{}) != nil
}

// RoundTrip sends a request until there is a reply that another try would not change. It
// returns the last reply or error there was. A wait that would outlast the request's
// deadline is not begun.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	next := req
	for n := 0; ; n++ {
		resp, err := t.sendOnce(next)
		wait, why := t.retryDelay(req, resp, err, n)
		if why == "" || outlastsDeadline(ctx, wait) {
			return resp, err
		}
		again, bodyErr := replayRequest(req)
		if bodyErr != nil {
			return resp, err
		}
		next = again
		t.o.Log("request is tried again", "tracker", t.o.Name, "method", req.Method, "host", req.URL.Host, "why", why, "try", n+2, "wait", wait)
		discardBody(resp)
		if err := sleepContext(ctx, wait); err != nil {
			closeBody(next)
			return nil, err
		}
	}
}

// sendOnce sends a request once, if it may be sent.
func (t *Transport) sendOnce(req *http.Request) (*http.Response, error) {
	probe, err := t.waitForTurn(req.Context())
	if err != nil {
		closeBody(req)
		return nil, err
	}
	resp, err := t.o.Base.RoundTrip(req)
	t.recordReply(t.judgeReply(resp, err), probe)
	return resp, err
}

// waitForTurn waits for its turn and asks whether there is any use. A probe is the one request
// that finds out whether there is again.
func (t *Transport) waitForTurn(ctx context.Context) (probe bool, err error) {
	t.mu.Lock()
	wait := t.bucket.reserveTurn(time.Now())
	t.mu.Unlock()
	if wait > 0 {
		if err := sleepContext(ctx, wait); err != nil {
			t.mu.Lock()
			t.bucket.giveBack()
			t.mu.Unlock()
			return false, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if !t.breaker.Allow(now) {
		return false, t.lockedOutError(now)
	}
	return t.breaker.State(now) == HalfOpen, nil
}

// recordReply learns from a reply whether the credentials are any good. No reply, and one of a
// server that is in trouble, says nothing about them.
// What was sent before the breaker opened and is refused now is no news.
func (t *Transport) recordReply(v verdict, probe bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	switch {
	case v == accepted:
		t.breaker.RecordSuccess()
	case v == denied && (probe || t.breaker.State(now) != HalfOpen):
		t.breaker.RecordFailure(now)
	case probe:
		t.breaker.ReleaseProbe()
	}
}

type verdict int

const (
	unsaid verdict = iota
	denied
	accepted
)

func (t *Transport) judgeReply(resp *http.Response, err error) verdict {
	switch {
	case err != nil || t.isRateLimited(resp) || resp.StatusCode >= 500:
		return unsaid
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden && !t.o.Forbids:
		return denied
	case t.o.Denied != nil && t.o.Denied(resp):
		return denied
	}
	return accepted
}

func (t *Transport) isRateLimited(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden:
		if usedUp(resp.Header) || resp.Header.Get("Retry-After") != "" {
			return true
		}
	}
	return t.o.Limited != nil && t.o.Limited(resp)
}

// BreakerStatus returns how the breaker stands, for people who look.
func (t *Transport) BreakerStatus() (state State, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.breaker.State(time.Now()), t.breaker.OpenUntil()
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// maxDiscard bounds what is read of a reply that nobody wants, so that its connection can
// be used again.
const maxDiscard = 64 << 10

func discardBody(resp *http.Response) {
	if resp != nil && resp.Body != nil {
		_, _ = io.CopyN(io.Discard, resp.Body, maxDiscard)
		resp.Body.Close()
	}
}

// sleepContext waits, or ends with the context's error.
func sleepContext(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return ctx.Err()
	}
}

func outlastsDeadline(ctx context.Context, wait time.Duration) bool {
	end, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Now().Add(wait).After(end)
}
