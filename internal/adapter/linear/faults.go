package linear

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/lazy"
)

// A fault is one error of a response.
type fault struct {
	Message    string `json:"message"`
	Path       []any  `json:"path"`
	Extensions struct {
		Type        string `json:"type"`
		Code        string `json:"code"`
		Presentable string `json:"userPresentableMessage"`
	} `json:"extensions"`
}

// isKind reports whether a fault is of a kind. Linear gives the kind as a code, as a type, or
// as both.
func (f *fault) isKind(code string) bool {
	kind := strings.ReplaceAll(strings.ToUpper(f.Extensions.Type), " ", "_")
	return strings.EqualFold(f.Extensions.Code, code) || kind == code
}

// shortText returns the message of a fault as one short line.
func (f *fault) shortText() string {
	said := f.Extensions.Presentable
	if said == "" {
		said = f.Message
	}
	return cutLine(oneLine(said), 200)
}

// refused is a request that Linear refuses. The caller knows what that means for an issue.
type refused struct{ fault }

func (r *refused) Error() string { return "linear refused: " + r.shortText() }

var (
	notFound   = lazy.NewRegexp(`(?i)^entity not found:? *(\w+)`)
	unresolved = lazy.NewRegexp(`(?i)could not find referenced (\w+)`)
)

// missingKind returns the kind of thing that Linear could not find, or "" if the fault is
// another one.
func (f *fault) missingKind() string {
	if m := notFound.FindStringSubmatch(f.Message); m != nil {
		return strings.ToLower(m[1])
	}
	if m := unresolved.FindStringSubmatch(f.Extensions.Presentable); m != nil {
		return strings.ToLower(m[1])
	}
	return ""
}

// alreadyExists reports whether something was not created because it already exists.
func (f *fault) alreadyExists() bool {
	return strings.HasPrefix(strings.ToLower(f.Message), "conflict on insert of") ||
		strings.HasSuffix(strings.TrimSuffix(f.Extensions.Presentable, "."), "already exists")
}

// answerError returns the error of a request, or nil. If part of the requested data is hidden
// from the token, that is not an error: the data leaves it out.
func (t *Tracker) answerError(resp *http.Response, faults []fault, hasData bool) error {
	for _, f := range faults {
		if f.isKind("RATELIMITED") {
			return parseLimit(resp.Header, t.opts.Now())
		}
	}
	if resp.StatusCode == http.StatusTooManyRequests {
		return parseLimit(resp.Header, t.opts.Now())
	}
	for _, f := range faults {
		switch {
		case f.isKind("AUTHENTICATION_ERROR"):
			return errDenied
		case f.isKind("FORBIDDEN"), f.isKind("FEATURE_NOT_ACCESSIBLE"):
			return fmt.Errorf("linear does not let this token do that (%s): give it access to team %s", f.shortText(), t.team)
		case hasData && len(f.Path) > 1 && f.missingKind() != "":
		default:
			return &refused{f}
		}
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return errDenied
	case resp.StatusCode == http.StatusForbidden:
		return fmt.Errorf("linear denies this token access: give it access to team %s", t.team)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return fmt.Errorf("linear answered %d: try again later", resp.StatusCode)
	}
	return nil
}

var errDenied = errors.New("linear does not accept the token: check the secret that the tracker's token names")

// ofIssue converts a refusal for a caller that reads an issue.
func ofIssue(err error, key string) error {
	var no *refused
	if errors.As(err, &no) && no.missingKind() == "issue" {
		return fmt.Errorf("issue %s: %w", key, tracker.ErrNotFound)
	}
	return err
}

// ofWrite converts a refusal for a caller that changes an issue: names that no longer exist
// become ErrStale, so that they are looked up again, and what Linear cannot accept becomes a
// refusal, which is not retried.
func ofWrite(err error, key string) error {
	var no *refused
	if !errors.As(err, &no) {
		return err
	}
	switch what := no.missingKind(); {
	case what == "issue":
		return fmt.Errorf("issue %s: %w", key, tracker.ErrNotFound)
	case what == "workflowstate" || what == "issuelabel" || what == "label":
		return fmt.Errorf("change %s: %w", key, tracker.ErrStale)
	case no.isKind("INVALID_INPUT") || no.isKind("INPUT_ERROR") || no.isKind("USER_ERROR"):
		return board.Refusef("linear does not accept this change of %s: %s", key, no.shortText())
	}
	return err
}
