// Package transport sends HTTP requests to trackers and forges: it retries what may be retried,
// waits as long as a server requires, limits the rate, and stops sending while credentials are
// refused. It knows no particular tracker, reads no secret, and logs neither headers nor
// bodies.
package transport

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"orange/internal/backoff"
)

// ClientOptions describe how to talk to one server with one secret. All but the name are optional.
type ClientOptions struct {
	Name   string            // of the tracker, for errors and the log
	Secret string            // where its secret comes from, never the secret: env:NAME, file:PATH
	Base   http.RoundTripper // sends requests; by default one that waits 30 s for a response to begin

	Tries   int                       // at most this many for one request: 3
	Wait    func(n int) time.Duration // before try n+1, counted from 0: 1 s, doubled up to 10 s, minus a random part
	MaxWait time.Duration             // the longest wait that a server may require: 60 s

	Rate  float64 // requests per second; 0 for no limit
	Burst int     // requests in a burst: 1

	// Limited recognizes responses that report a limit in other ways than 429 or a 403 whose
	// headers show a limit, Resets returns the end of a limit that neither Retry-After nor
	// X-RateLimit-Reset gives, and Denied recognizes responses that refuse the credentials in
	// other ways than 401 and 403. They read bodies with PeekBody.
	Limited func(*http.Response) bool
	Forbids bool // a 403 refuses one request only and means nothing for the secret
	Resets  func(*http.Response) time.Time
	Denied  func(*http.Response) bool

	Log func(msg string, args ...any) // logs retries and their reasons; args are pairs as in slog
}

// A Transport is an http.RoundTripper for one server and one secret.
type Transport struct {
	o       ClientOptions
	mu      sync.Mutex
	breaker Breaker
	bucket  bucket
}

// usualWaits are the longest waits between tries: jitter shortens them.
var usualWaits = backoff.Backoff{First: time.Second, Most: 10 * time.Second}

// New returns a transport in its initial state.
func New(o ClientOptions) *Transport {
	if o.Base == nil {
		o.Base = baseTransport()
	}
	if o.Tries < 1 {
		o.Tries = 3
	}
	if o.Wait == nil {
		o.Wait = func(n int) time.Duration { return jitter(usualWaits.Delay(n)) }
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

// MarkSafe marks requests that change nothing, whatever their method: a GraphQL query is a POST
// that only reads.
func MarkSafe(ctx context.Context) context.Context { return context.WithValue(ctx, safeKey{}, true) }

// isSafe reports whether a request may be sent twice without having an effect twice.
func isSafe(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	return req.Context().Value(safeKey{}) != nil
}

// RoundTrip sends a request until there is a response that another try would not change. It
// returns the last response or error. It does not begin a wait that would exceed the request's
// deadline.
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

// waitForTurn waits for the rate limit and checks the breaker. probe is true for the one
// request that tests whether the credentials are accepted again.
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

// recordReply updates the breaker after a response. No response, or that of a server with a
// problem, means nothing for the credentials. A refusal of a request that was sent before the
// breaker opened is ignored.
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
	undecided verdict = iota
	denied
	accepted
)

func (t *Transport) judgeReply(resp *http.Response, err error) verdict {
	switch {
	case err != nil || t.isRateLimited(resp) || resp.StatusCode >= 500:
		return undecided
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

// BreakerStatus returns the state of the breaker, for display.
func (t *Transport) BreakerStatus() (state BreakerState, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.breaker.State(time.Now()), t.breaker.OpenUntil()
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// maxDiscard limits how much of an unused response is read, so that its connection can be used
// again.
const maxDiscard = 64 << 10

func discardBody(resp *http.Response) {
	if resp != nil && resp.Body != nil {
		_, _ = io.CopyN(io.Discard, resp.Body, maxDiscard)
		resp.Body.Close()
	}
}

// sleepContext waits for d, or returns the context's error.
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
