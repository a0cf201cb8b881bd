package linear

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

const planted = "lin_api_planted"

// A reply is one response of a scripted server.
type reply struct {
	status int
	header map[string]string
	body   string
	err    error
}

// script answers with one reply after the other, and with the last one from then on.
type script struct {
	replies []reply
	asked   int
	last    *http.Request
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	r := s.replies[min(s.asked, len(s.replies)-1)]
	s.asked++
	s.last = req
	if r.err != nil {
		return nil, r.err
	}
	h := http.Header{}
	for name, value := range r.header {
		h.Set(name, value)
	}
	return &http.Response{StatusCode: r.status, Header: h, Body: io.NopCloser(strings.NewReader(r.body)), Request: req}, nil
}

func give(secret string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return secret, nil }
}

func scripted(replies ...reply) (*Tracker, *script) {
	s := &script{replies: replies}
	return New(TrackerOptions{URL: "https://user:pa55@linear.test/graphql", Token: give(planted), Scope: "ENG", HTTP: &http.Client{Transport: s}}), s
}

func errorBody(message, kind, code, presentable string) string {
	return `{"data":null,"errors":[{"message":` + strconv.Quote(message) + `,"path":["x"],"extensions":{"type":` + strconv.Quote(kind) +
		`,"code":` + strconv.Quote(code) + `,"userPresentableMessage":` + strconv.Quote(presentable) + `}}]}`
}

const (
	asNotFound = "not found"
	asStale    = "stale"
	asRefusal  = "refusal"
	asOther    = "another error"
	asDone     = "done"
)

func kindOf(err error) string {
	var no *board.Refusal
	switch {
	case err == nil:
		return asDone
	case errors.Is(err, tracker.ErrNotFound):
		return asNotFound
	case errors.Is(err, tracker.ErrStale):
		return asStale
	case errors.As(err, &no):
		return asRefusal
	}
	return asOther
}

func TestWhatAnAnswerMeans(t *testing.T) {
	for name, tc := range map[string]struct {
		reply       reply
		read, write string
		says        string
	}{
		"no such issue": {
			reply{status: 200, body: errorBody("Entity not found: Issue", "invalid input", "INPUT_ERROR", "Could not find referenced Issue.")}, asNotFound, asNotFound, "ENG-1"},
		"no such issue, with another status": {
			reply{status: 400, body: errorBody("Entity not found: Issue - Could not find referenced Issue.", "", "INPUT_ERROR", "")}, asNotFound, asNotFound, "ENG-1"},
		"no such issue, in the sentence only": {
			reply{status: 200, body: errorBody("Argument Validation Error", "invalid input", "INVALID_INPUT", "Could not find referenced Issue.")}, asNotFound, asNotFound, "ENG-1"},
		"no such state": {
			reply{status: 200, body: errorBody("Entity not found: WorkflowState", "invalid input", "INPUT_ERROR", "")}, asOther, asStale, ""},
		"no such label": {
			reply{status: 200, body: errorBody("Entity not found: IssueLabel: labelIds contained an entry that could not be found.", "invalid input", "INPUT_ERROR", "")}, asOther, asStale, ""},
		"a value that is not taken": {
			reply{status: 400, body: errorBody("Argument Validation Error", "invalid input", "INVALID_INPUT", "title must be shorter\nthan that")}, asOther, asRefusal, "title must be shorter than that"},
		"a bad token": {
			reply{status: 401, body: errorBody("Authentication required, not authenticated", "authentication error", "AUTHENTICATION_ERROR", "")}, asOther, asOther, "does not accept the token"},
		"a bad token, with status 200 and without a type": {
			reply{status: 200, body: errorBody("x", "", "AUTHENTICATION_ERROR", "")}, asOther, asOther, "does not accept the token"},
		"a bad token, without a code": {
			reply{status: 400, body: errorBody("x", "authentication error", "", "")}, asOther, asOther, "does not accept the token"},
		"a bad token, without a word": {reply{status: 401}, asOther, asOther, "does not accept the token"},
		"a token that may not": {
			reply{status: 200, body: errorBody("You don't have access", "forbidden", "FORBIDDEN", "")}, asOther, asOther, "give it access to team ENG"},
		"a token that may not, without a word": {reply{status: 403, body: "<html>"}, asOther, asOther, "give it access to team ENG"},
		"the server fails":                     {reply{status: 500, body: "<html>oops</html>"}, asOther, asOther, "answered 500"},
		"the server fails inside": {
			reply{status: 200, body: errorBody("boom", "internal error", "INTERNAL_SERVER_ERROR", "")}, asOther, asOther, "boom"},
		"no JSON":                 {reply{status: 200, body: "<html>"}, asOther, asOther, "check the tracker's url"},
		"nothing":                 {reply{status: 200}, asOther, asOther, "check the tracker's url"},
		"no data":                 {reply{status: 200, body: `{"data":null}`}, asOther, asOther, "check the tracker's url"},
		"data of another form":    {reply{status: 200, body: `{"data":{"issue":7,"issueUpdate":7}}`}, asOther, asOther, "requested form"},
		"the connection is lost":  {reply{err: io.ErrUnexpectedEOF}, asOther, asOther, "unexpected EOF"},
		"an update without a yes": {reply{status: 200, body: `{"data":{"issue":{"team":{"key":"ENG"}},"issueUpdate":{"success":false}}}`}, asDone, asOther, "does not say why"},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := scripted(tc.reply)
			_, read := client.ReadIssue(t.Context(), "ENG-1")
			if got := kindOf(read); got != tc.read {
				t.Errorf("a read is %s, want %s: %v", got, tc.read, read)
			}
			_, write := client.WriteChange(t.Context(), tracker.Issue{Key: "ENG-1", ID: unknownID}, board.Change{Title: "T"})
			if got := kindOf(write); got != tc.write {
				t.Errorf("a write is %s, want %s: %v", got, tc.write, write)
			}
			for _, err := range []error{read, write} {
				if err == nil {
					continue
				}
				if text := err.Error(); strings.ContainsAny(text, "\n\r") || strings.Contains(text, planted) || strings.Contains(text, "pa55") {
					t.Errorf("%q", text)
				}
			}
			if !strings.Contains(write.Error(), tc.says) {
				t.Errorf("%q does not say %q", write, tc.says)
			}
		})
	}
}

func TestACommentThatIsThereAlreadyIsSaid(t *testing.T) {
	there := errorBody("conflict on insert of Comment", "invalid input", "INPUT_ERROR", "Entity Comment with id x already exists.")
	for _, status := range []int{200, 400} {
		client, _ := scripted(reply{status: status, body: there})
		if _, err := client.WriteChange(t.Context(), tracker.Issue{Key: "ENG-1", ID: unknownID}, board.Change{Key: "k", Comment: "Hello."}); err != nil {
			t.Errorf("status %d: %v", status, err)
		}
		if _, err := client.WriteChange(t.Context(), tracker.Issue{Key: "ENG-1", ID: unknownID}, board.Change{Comment: "Hello."}); err == nil {
			t.Error("one that was given no id cannot be there")
		}
	}
}

func TestABlockerThatIsHiddenStillBlocks(t *testing.T) {
	client, _ := scripted(reply{status: 200, body: `{
		"data": {"issue": {"id": "i", "identifier": "ENG-1", "team": {"key": "ENG"}, "inverseRelations": {"nodes": [
			{"type": "blocks", "issue": null}, {"type": "related", "issue": {"identifier": "ENG-3"}}]}}},
		"errors": [{"message": "Entity not found: Issue", "path": ["issue", "inverseRelations", "nodes", 0, "issue"]}]}`})
	is, err := client.ReadIssue(t.Context(), "ENG-1")
	if err != nil || len(is.BlockedBy) != 1 || is.BlockedBy[0].Closed {
		t.Errorf("blocked by %+v, %v", is.BlockedBy, err)
	}
}

func TestTokens(t *testing.T) {
	for name, tc := range map[string]struct{ token, header string }{
		"a personal key":       {"lin_api_abc\n", "lin_api_abc"},
		"an OAuth token":       {"lin_oauth_abc", "Bearer lin_oauth_abc"},
		"one with its word":    {"Bearer abc", "Bearer abc"},
		"none":                 {" \n", ""},
		"two words":            {"two words", ""},
		"control characters":   {"abc\x00", ""},
		"more than one header": {"abc\r\nX-Evil: 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			client, s := scripted(reply{status: 200, body: `{"data":{"viewer":{"displayName":"me"}}}`})
			client.opts.Token = give(tc.token)
			_, err := client.AccountName(t.Context())
			if tc.header == "" {
				if err == nil || s.asked > 0 || strings.Contains(err.Error(), "abc") {
					t.Errorf("%v after %d requests", err, s.asked)
				}
				return
			}
			if err != nil || s.last.Header.Get("Authorization") != tc.header {
				t.Errorf("%q, %v", s.last.Header.Get("Authorization"), err)
			}
		})
	}
	client, s := scripted(reply{status: 200})
	client.opts.Token = func(context.Context) (string, error) { return "", errors.New("no such file") }
	if _, err := client.AccountName(t.Context()); err == nil || s.asked > 0 {
		t.Error(err)
	}
	client.opts.Token = nil
	if _, err := client.AccountName(t.Context()); err == nil || s.asked > 0 {
		t.Error(err)
	}
}

func TestLimitsAreHonoured(t *testing.T) {
	fine := reply{status: 200, body: `{"data":{"viewer":{"displayName":"me"}}}`}
	busy := func(status int, header map[string]string) reply {
		return reply{status: status, header: header, body: errorBody("Rate limit exceeded", "ratelimited", "RATELIMITED", "")}
	}
	in := func(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).UnixMilli(), 10) }
	for name, tc := range map[string]struct {
		replies func() []reply // made when the clock is set
		waits   time.Duration
		fails   bool
	}{
		"seconds": {func() []reply { return []reply{busy(429, map[string]string{"Retry-After": "7"}), fine} }, 7 * time.Second, false},
		"a date": {func() []reply {
			return []reply{{status: 429, header: map[string]string{"Retry-After": time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat)}}, fine}
		}, 9 * time.Second, false},
		"what is used up comes back": {func() []reply {
			return []reply{busy(400, map[string]string{
				"X-RateLimit-Requests-Remaining": "0", "X-RateLimit-Requests-Reset": in(20 * time.Second),
				"X-RateLimit-Complexity-Remaining": "100", "X-RateLimit-Complexity-Reset": in(time.Hour),
			}), fine}
		}, 20 * time.Second, false},
		"nothing is said":          {func() []reply { return []reply{busy(400, nil), busy(200, nil), fine} }, 3 * time.Second, false},
		"at once":                  {func() []reply { return []reply{busy(429, map[string]string{"Retry-After": "0"}), fine} }, 100 * time.Millisecond, false},
		"too long":                 {func() []reply { return []reply{busy(429, map[string]string{"Retry-After": "3600"})} }, 0, true},
		"again and again":          {func() []reply { return []reply{busy(429, map[string]string{"Retry-After": "25"})} }, 50 * time.Second, true},
		"always, and at once":      {func() []reply { return []reply{busy(429, map[string]string{"Retry-After": "0"})} }, 51100 * time.Millisecond, true},
		"always, without a word":   {func() []reply { return []reply{busy(400, nil)} }, 31 * time.Second, true},
		"a number out of all size": {func() []reply { return []reply{busy(429, map[string]string{"Retry-After": "999999999"})} }, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, _ := scripted(tc.replies()...)
				begin := time.Now()
				_, err := client.AccountName(t.Context())
				if waited := time.Since(begin); waited != tc.waits || (err != nil) != tc.fails {
					t.Errorf("after %s: %v; want to wait %s", waited, err, tc.waits)
				}
				if err != nil && !strings.Contains(err.Error(), "try again after 20") {
					t.Errorf("%q does not say until when", err)
				}
			})
		})
	}
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := scripted(reply{status: 429, header: map[string]string{"Retry-After": "30"}})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := client.AccountName(ctx); !errors.Is(err, context.DeadlineExceeded) || s.asked != 1 {
			t.Errorf("%v after %d requests", err, s.asked)
		}
	})
}

func TestListsThatDoNotEnd(t *testing.T) {
	client, s := scripted(reply{status: 200, body: `{"data":{
		"teams":{"nodes":[{"key":"ENG"}]},
		"issues":{"nodes":[],"pageInfo":{"hasPreviousPage":true,"startCursor":"same"}},
		"workflowStates":{"nodes":[],"pageInfo":{"hasNextPage":true,"endCursor":"same"}}}}`})
	if _, err := client.ListIssues(t.Context(), tracker.Query{}); !errors.Is(err, errEndless) {
		t.Error(err)
	}
	if _, err := client.ReadVocabulary(t.Context()); !errors.Is(err, errEndless) {
		t.Error(err)
	}
	if s.asked > 10 {
		t.Errorf("%d requests", s.asked)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	client, _ := scripted(reply{status: 200, body: strings.Repeat(" ", maxAnswer+1)})
	if _, err := client.AccountName(t.Context()); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Error(err)
	}
}

func TestReadsAreMarked(t *testing.T) {
	type mark struct{}
	client, s := scripted(reply{status: 200, body: `{"data":{"viewer":{"displayName":"me"},"issueUpdate":{"success":true}}}`})
	client.opts.Reads = func(ctx context.Context) context.Context { return context.WithValue(ctx, mark{}, true) }
	if _, err := client.AccountName(t.Context()); err != nil || s.last.Context().Value(mark{}) == nil {
		t.Errorf("a read is not marked, %v", err)
	}
	if _, err := client.WriteChange(t.Context(), tracker.Issue{ID: unknownID}, board.Change{Title: "T"}); err != nil || s.last.Context().Value(mark{}) != nil {
		t.Errorf("a write is marked, %v", err)
	}
}

func TestWhatTransportsMayKnow(t *testing.T) {
	limited := []byte(errorBody("x", "ratelimited", "RATELIMITED", ""))
	denied := []byte(errorBody("x", "", "AUTHENTICATION_ERROR", ""))
	people := []byte(`{"data":{"issue":{"title":"\"errors\" \"RATELIMITED\" \"AUTHENTICATION_ERROR\""}}}`)
	if !IsRateLimited(limited) || IsRateLimited(denied) || IsRateLimited(people) || IsRateLimited(nil) {
		t.Error("Limited")
	}
	if !IsDenied(denied) || IsDenied(limited) || IsDenied(people) {
		t.Error("Denied")
	}
	h := http.Header{}
	h.Set("X-RateLimit-Requests-Remaining", "0")
	h.Set("X-RateLimit-Requests-Reset", "1700000000000")
	if got := ResetTime(h); got.Unix() != 1700000000 {
		t.Error(got)
	}
	if got := ResetTime(http.Header{}); !got.IsZero() {
		t.Error(got)
	}
}
