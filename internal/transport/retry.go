package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// retryDelay returns how long to wait before a request is sent again, and why. why is "" if it
// must not be: it succeeded, another try would not help, or it could have an effect twice.
func (t *Transport) retryDelay(req *http.Request, resp *http.Response, err error, n int) (wait time.Duration, why string) {
	var locked *LockedOut
	if n+1 >= t.o.Tries || errors.As(err, &locked) {
		return 0, ""
	}
	if err != nil {
		if isSafe(req) || isUnsent(err) {
			return t.o.Wait(n), "no reply"
		}
		return 0, ""
	}
	if why = t.retryReason(req, resp); why == "" {
		return 0, ""
	}
	asked, ok := t.requestedDelay(resp)
	switch {
	case ok && asked > t.o.MaxWait:
		return 0, ""
	case ok:
		return asked, why
	}
	return t.o.Wait(n), why
}

// retryReason returns why a response is not final. A request that was refused because of a
// limit, or by a server that announces when it is back, had no effect.
func (t *Transport) retryReason(req *http.Request, resp *http.Response) string {
	switch {
	case t.isRateLimited(resp):
		return "rate limit"
	case resp.StatusCode == http.StatusNotImplemented:
		return ""
	case resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "",
		resp.StatusCode >= 500 && isSafe(req):
		return "status " + strconv.Itoa(resp.StatusCode)
	}
	return ""
}

// isUnsent reports whether a request was certainly not sent: nothing listens, or the host does
// not exist.
func isUnsent(err error) bool {
	var dns *net.DNSError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &dns)
}

// requestedDelay returns how long a server wants clients to wait, or false if it does not tell.
func (t *Transport) requestedDelay(resp *http.Response) (time.Duration, bool) {
	now := time.Now()
	if wait, ok := retryAfter(resp.Header, now); ok {
		return wait, true
	}
	if t.o.Resets != nil {
		if end := t.o.Resets(resp); !end.IsZero() {
			return max(0, end.Sub(now)), true
		}
	}
	if usedUp(resp.Header) {
		return limitReset(resp.Header, now)
	}
	return 0, false
}

// usedUp reports whether the common rate limit headers show that no request is left.
func usedUp(h http.Header) bool { return strings.TrimSpace(h.Get("X-RateLimit-Remaining")) == "0" }

// limitReset parses when such a limit resets: a time in seconds or milliseconds since 1970, or
// a number of seconds from now, which servers write in the same header.
func limitReset(h http.Header, now time.Time) (time.Duration, bool) {
	const aDecade, inMillis = 10 * 365 * 24 * 3600, 1e11
	n, err := strconv.ParseInt(strings.TrimSpace(h.Get("X-RateLimit-Reset")), 10, 64)
	switch {
	case err != nil || n < 0:
		return 0, false
	case n < aDecade:
		return time.Duration(n) * time.Second, true
	case n < inMillis:
		return max(0, time.Unix(n, 0).Sub(now)), true
	}
	return max(0, time.UnixMilli(n).Sub(now)), true
}

// retryAfter parses the header Retry-After: seconds, or a date, which is compared with the
// server's own clock if the response contains it.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		return time.Duration(min(seconds, math.MaxInt64/uint64(time.Second))) * time.Second, true
	} else if errors.Is(err, strconv.ErrRange) {
		return math.MaxInt64, true
	}
	end, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(0, end.Sub(now)), true
}

// replayRequest returns a copy of a request that can be sent again.
func replayRequest(req *http.Request) (*http.Request, error) {
	again := req.Clone(req.Context())
	if req.Body == nil || req.Body == http.NoBody {
		return again, nil
	}
	if req.GetBody == nil {
		return nil, errors.New("the body of the request can be read once only")
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, fmt.Errorf("read the body of the request again: %w", err)
	}
	again.Body = body
	return again, nil
}

// jitter shortens a wait by up to half, so that clients that failed together do not retry
// together.
func jitter(d time.Duration) time.Duration { return d - rand.N(d/2+1) }

// PeekBody returns the beginning of a response's body, at most most bytes, and leaves the whole
// body readable.
func PeekBody(resp *http.Response, most int64) []byte {
	if resp == nil || resp.Body == nil {
		return nil
	}
	body := resp.Body
	seen, err := io.ReadAll(io.LimitReader(body, most))
	rest := io.Reader(body)
	if err != nil {
		rest = failing{err}
	}
	resp.Body = peeked{Reader: io.MultiReader(bytes.NewReader(seen), rest), Closer: body}
	return seen
}

type peeked struct {
	io.Reader
	io.Closer
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
