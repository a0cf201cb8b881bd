package linear

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// parrot answers every request with the same words.
type parrot struct {
	status int
	body   []byte
}

func (p parrot) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: p.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(p.body)), Request: r}, nil
}

// FuzzAnswers runs the client against a Linear that sends arbitrary responses.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "null", `{"data":null}`, `{"data":{"viewer":{"displayName":"a"}}}`, `{"errors":[{"message":"x\ny","extensions":{"code":"RATELIMITED"}}]}`,
		`{"data":{"issue":{"id":"1","identifier":"ENG-1","title":"t","state":{"name":"Todo","type":"unstarted"},"labels":{"nodes":[{"name":"a"}]},"comments":{"nodes":[null]}}}}`,
		`{"data":{"issues":{"nodes":[{"identifier":"ENG-1"}],"pageInfo":{"hasNextPage":true,"endCursor":"x"}}}}`,
		`{"data":{"teams":{"nodes":[{"id":"t","key":"ENG","states":{"nodes":[{"id":"s","name":"Todo"}]},"labels":{"nodes":[]}}]}}}`,
	} {
		f.Add(200, []byte(seed))
		f.Add(400, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 599 {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // it waits as the response requires
		defer cancel()
		tr := New(TrackerOptions{URL: "http://linear.invalid", Scope: "ENG/Shop", Token: give("lin_api_planted"), HTTP: &http.Client{Transport: parrot{status, body}}, Now: func() time.Time { return noon }})
		_, who := tr.AccountName(ctx)
		is, one := tr.ReadIssue(ctx, "ENG-1")
		list, all := tr.ListIssues(ctx, tracker.Query{Limit: 5})
		_, words := tr.ReadVocabulary(ctx)
		_, wrote := tr.WriteChange(ctx, tracker.Issue{Key: "ENG-1"}, board.Change{Comment: "hi"})
		for what, err := range map[string]error{"whoami": who, "issue": one, "list": all, "words": words, "write": wrote} {
			if err != nil && (strings.ContainsAny(err.Error(), "\n\r") || strings.Contains(err.Error(), "lin_api_planted")) {
				t.Errorf("%s: %q", what, err)
			}
		}
		if one == nil {
			list = append(list, is)
		}
		if all != nil && one != nil {
			return
		}
		for _, is := range list {
			if strings.ContainsAny(is.Key, " \n/") {
				t.Errorf("key %q", is.Key)
			}
		}
	})
}
