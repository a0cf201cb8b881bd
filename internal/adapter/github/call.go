package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	gh "github.com/google/go-github/v92/github"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

const (
	// shortWait is how long a limit may last to be waited for.
	shortWait = 10 * time.Second
	// maxWaits is how often one request waits.
	maxWaits = 3
	// defaultWait is for a limit that does not say how long it lasts.
	defaultWait = time.Minute
	// perPage is the most that GitHub gives at once.
	perPage = 100
	// maxPages ends a list that has no end.
	maxPages = 1000
)

// A failure is an answer of GitHub that is none.
type failure struct {
	doing string
	code  int
	said  string
}

func (f *failure) Error() string {
	switch f.code {
	case http.StatusUnauthorized:
		return f.doing + ": github does not accept the token: look at where the tracker's token comes from, or run gh auth login"
	case http.StatusForbidden:
		return fmt.Sprintf("%s: github forbids it (%s): give the token the permission, or another token", f.doing, f.said)
	case http.StatusNotFound, http.StatusGone:
		return f.doing + ": github has no such thing, or the token may not see it: look at OWNER/REPO and at the token's permissions"
	}
	return fmt.Sprintf("%s: github answers %d: %s", f.doing, f.code, f.said)
}

// responseStatus says with which status GitHub refused, 0 if it did not.
func responseStatus(err error) int {
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	return 0
}

// isMissing says whether GitHub has no such thing.
func isMissing(err error) bool {
	code := responseStatus(err)
	return code == http.StatusNotFound || code == http.StatusGone
}

// notFound makes the error of a thing that was asked for by its number.
func notFound(err error, what string) error {
	if isMissing(err) {
		return fmt.Errorf("%s: %w", what, tracker.ErrNotFound)
	}
	return err
}

// asRefusal makes a refusal of what GitHub will not do however often it is asked.
func asRefusal(err error) error {
	var f *failure
	if errors.As(err, &f) && (f.code == http.StatusUnprocessableEntity || f.code == http.StatusBadRequest) {
		return board.Refusef("%s: github refuses it: %s", f.doing, f.said)
	}
	return err
}

// callAPI makes a request, again after a limit that is over soon. A request that came upon a
// limit did nothing.
func (c *client) callAPI(ctx context.Context, doing string, do func() (*gh.Response, error)) error {
	for waited := 0; ; waited++ {
		_, err := do()
		if err == nil {
			return nil
		}
		wait, limited := c.limitDelay(err)
		if !limited {
			return explainError(doing, err)
		}
		if wait > shortWait || waited == maxWaits {
			return fmt.Errorf("%s: github's limit of requests lasts until %s: wait until then, or look less often", doing, c.now().Add(wait).UTC().Format(time.RFC3339))
		}
		if err := sleepContext(ctx, wait); err != nil {
			return fmt.Errorf("%s: wait for github's limit: %w", doing, err)
		}
	}
}

// limitDelay says how long a limit lasts, if the error is one.
func (c *client) limitDelay(err error) (time.Duration, bool) {
	var primary *gh.RateLimitError
	var secondary *gh.AbuseRateLimitError
	var other *gh.ErrorResponse
	switch {
	case errors.As(err, &primary):
		if primary.Response != nil {
			if wait, ok := retryAfter(primary.Response.Header); ok {
				return wait, true
			}
		}
		return max(0, primary.Rate.Reset.Sub(c.now())), true
	case errors.As(err, &secondary):
		if secondary.RetryAfter == nil {
			return defaultWait, true
		}
		return max(0, *secondary.RetryAfter), true
	case errors.As(err, &other) && other.Response != nil:
		wait, ok := retryAfter(other.Response.Header)
		if other.Response.StatusCode != http.StatusTooManyRequests && !(ok && other.Response.StatusCode == http.StatusForbidden) {
			return 0, false
		}
		if !ok {
			wait = defaultWait
		}
		return wait, true
	}
	return 0, false
}

func retryAfter(h http.Header) (time.Duration, bool) {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0, false
	}
	return time.Duration(min(seconds, 1<<20)) * time.Second, true
}

func sleepContext(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// explainError says what went wrong, without addresses and headers.
func explainError(doing string, err error) error {
	var answer *gh.ErrorResponse
	var otp *gh.TwoFactorAuthError
	var wire *url.Error
	switch {
	case errors.As(err, &otp):
		return &failure{doing: doing, code: http.StatusUnauthorized}
	case errors.As(err, &answer) && answer.Response != nil:
		return &failure{doing: doing, code: answer.Response.StatusCode, said: responseMessage(answer)}
	case errors.As(err, &wire):
		return fmt.Errorf("%s: ask github: %w", doing, wire.Err)
	}
	return fmt.Errorf("%s: ask github: %w", doing, err)
}

// responseMessage is what GitHub says about an error, in one line.
func responseMessage(answer *gh.ErrorResponse) string {
	text := answer.Message
	for _, e := range answer.Errors {
		if e.Message != "" {
			text += "; " + e.Message
		} else if e.Field != "" {
			text += "; " + e.Field + " is " + e.Code
		}
	}
	if text == "" {
		text = http.StatusText(answer.Response.StatusCode)
	}
	return shortText(text)
}

// A pagePosition is where a list goes on: GitHub counts pages, and names places in some lists.
type pagePosition struct {
	gh.ListOptions
	after string
}

// listAll reads all pages of a list.
func listAll[T any](ctx context.Context, c *client, doing string, page func(pagePosition) ([]T, *gh.Response, error)) ([]T, error) {
	var out []T
	at := pagePosition{ListOptions: gh.ListOptions{PerPage: perPage}}
	for range maxPages {
		next := pagePosition{}
		err := c.callAPI(ctx, doing, func() (*gh.Response, error) {
			some, resp, err := page(at)
			if err == nil {
				out = append(out, some...)
				next = pagePosition{ListOptions: gh.ListOptions{PerPage: perPage, Page: resp.NextPage}, after: resp.After}
			}
			return resp, err
		})
		if err != nil {
			return nil, err
		}
		if next.Page <= at.Page && (next.after == "" || next.after == at.after) {
			return out, nil
		}
		at = next
	}
	return nil, fmt.Errorf("%s: github's list has no end", doing)
}
