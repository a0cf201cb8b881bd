package linear

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// maxWait is how long a request waits, in all, for Linear to take requests again.
const maxWait = time.Minute

// limited says that Linear takes no more requests for a while. Nothing was done.
type limited struct {
	until time.Time // zero if it does not say
}

func (l *limited) Error() string { return "linear takes no more requests for now" }

// parseLimit reads from an answer's header until when nothing is taken: what it says about
// trying again, or when that of which nothing is left comes back.
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

// ResetTime is when Linear takes requests again, as an answer's header says; zero if it
// does not say.
func ResetTime(h http.Header) time.Time { return parseLimit(h, time.Now()).until }

// IsRateLimited says whether an answer that begins like this turns a request away as one too
// many: Linear tells so in the body, with a status that means many things.
func IsRateLimited(body []byte) bool { return hasErrorCode(body, "RATELIMITED") }

// IsDenied says likewise that the token is not accepted.
func IsDenied(body []byte) bool { return hasErrorCode(body, "AUTHENTICATION_ERROR") }

// hasErrorCode finds a code among the errors of an answer. What people wrote cannot look like
// one: its quotes are escaped.
func hasErrorCode(body []byte, code string) bool {
	return bytes.Contains(body, []byte(`"errors"`)) && bytes.Contains(body, []byte(`"`+code+`"`))
}

// pauses are the waits of one request.
type pauses struct {
	times  int
	waited time.Duration
}

// waitForLimit waits until Linear takes requests again: as long as it says, and longer every
// time it says nothing or not long enough. The error says when to come back.
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
