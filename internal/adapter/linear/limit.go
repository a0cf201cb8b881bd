package linear

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// maxWait is how long a request waits, in all, for the end of a rate limit.
const maxWait = time.Minute

// limited means that Linear is rate-limited. Nothing was done.
type limited struct {
	until time.Time // zero if unknown
}

func (l *limited) Error() string { return "linear accepts no more requests for now" }

// parseLimit reads the end of a rate limit from a response's header: the time to retry, or the
// reset time of the allowance that is used up.
func parseLimit(h http.Header, now time.Time) *limited {
	if after := h.Get("Retry-After"); after != "" {
		if n, err := strconv.Atoi(after); err == nil && n >= 0 {
			return &limited{until: now.Add(time.Duration(min(n, 1<<20)) * time.Second)}
		}
		if at, err := http.ParseTime(after); err == nil {
			return &limited{until: at}
		}
	}
	var l limited
	for _, what := range []string{"Requests", "Complexity", "Endpoint-Requests"} {
		ms, err := strconv.ParseInt(h.Get("X-RateLimit-"+what+"-Reset"), 10, 64)
		if err != nil || h.Get("X-RateLimit-"+what+"-Remaining") != "0" {
			continue
		}
		if at := time.UnixMilli(ms); at.After(l.until) {
			l.until = at
		}
	}
	return &l
}

// ResetTime returns when Linear accepts requests again, according to a response's header, or
// zero if the header does not contain it.
func ResetTime(h http.Header) time.Time { return parseLimit(h, time.Now()).until }

// IsRateLimited reports whether a response that begins with body refuses a request because of a
// rate limit: Linear reports that in the body, with a status that has several meanings.
func IsRateLimited(body []byte) bool { return hasErrorCode(body, "RATELIMITED") }

// IsDenied reports likewise whether the token is not accepted.
func IsDenied(body []byte) bool { return hasErrorCode(body, "AUTHENTICATION_ERROR") }

// hasErrorCode finds a code among the errors of a response. Text that people wrote cannot look
// like one, because its quotes are escaped.
func hasErrorCode(body []byte, code string) bool {
	return bytes.Contains(body, []byte(`"errors"`)) && bytes.Contains(body, []byte(`"`+code+`"`))
}

// pauses counts the waits of one request.
type pauses struct {
	times  int
	waited time.Duration
}

// waitForLimit waits until Linear accepts requests again: as long as Linear gives, and longer
// each time if Linear gives no time or too little. The error contains when to retry.
func (p *pauses) waitForLimit(ctx context.Context, busy *limited, now time.Time) error {
	pause := 100 * time.Millisecond << min(p.times, 9)
	if busy.until.IsZero() {
		pause = time.Second << min(p.times, 6)
	}
	pause = max(pause, busy.until.Sub(now))
	if p.waited+pause > maxWait {
		return fmt.Errorf("%w: try again after %s", busy, now.Add(pause).UTC().Format(time.RFC3339))
	}
	p.times++
	p.waited += pause
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
