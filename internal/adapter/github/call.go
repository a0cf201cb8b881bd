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
	// shortWait is how long a rate limit may last for a request to wait for its end.
	shortWait = 10 * time.Second
	// maxWaits is how often one request waits.
	maxWaits = 3
	// defaultWait is for a limit without a duration.
	defaultWait = time.Minute
	// perPage is the largest page that GitHub returns.
	perPage = 100
	// maxPages ends a list that has no end.
	maxPages = 1000
)

// A failure is an error response of GitHub.
type failure struct {
	doing string
	code  int
	said  string
}

func (f *failure) Error() string {
	switch f.code {
	case http.StatusUnauthorized:
		return f.doing + ": github does not accept the token: check where the tracker's token comes from, or run gh auth login"
	case http.StatusForbidden:
		return fmt.Sprintf("%s: github forbids it (%s): give the token the permission, or another token", f.doing, f.said)
	case http.StatusNotFound, http.StatusGone:
		return f.doing + ": github does not have it, or the token may not see it: check OWNER/REPO and the token's permissions"
	}
	return fmt.Sprintf("%s: github answers %d: %s", f.doing, f.code, f.said)
}

// responseStatus returns the status with which GitHub refused, or 0 if it did not.
func responseStatus(err error) int {
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	return 0
}

// isMissing reports whether err means that GitHub does not have the requested resource.
func isMissing(err error) bool {
	code := responseStatus(err)
	return code == http.StatusNotFound || code == http.StatusGone
}

// notFound returns the error for a resource that was requested by its number.
func notFound(err error, what string) error {
	if isMissing(err) {
		return fmt.Errorf("%s: %w", what, tracker.ErrNotFound)
	}
	return err
}

// asRefusal converts an error that a retry cannot fix to a refusal.
func asRefusal(err error) error {
	var f *failure
	if errors.As(err, &f) && (f.code == http.StatusUnprocessableEntity || f.code == http.StatusBadRequest) {
		return board.Refusef("%s: github refuses it: %s", f.doing, f.said)
	}
	return err
}

// callAPI sends a request, and sends it again after a limit that ends soon. A request that hits
// a limit has no effect.
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
			return fmt.Errorf("%s: github's limit of requests lasts until %s: wait until then, or sync less often", doing, c.now().Add(wait).UTC().Format(time.RFC3339))
		}
		if err := sleepContext(ctx, wait); err != nil {
			return fmt.Errorf("%s: wait for github's limit: %w", doing, err)
		}
	}
}

// limitDelay returns how long a limit lasts, if the error is one.
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

// explainError returns an error without addresses and headers.
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

// responseMessage returns GitHub's message about an error, in one line.
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

// A pagePosition is where a list continues: GitHub numbers pages, and uses cursors in some
// lists.
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
