package github_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/adapter/github"
	"orange/internal/core/tracker"
	"orange/internal/testneeds"
	"orange/internal/trackertest/fakegithub"
)

const hookSecret = "a secret of both sides"

func signed(event string, body []byte) http.Header {
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write(body)
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("X-GitHub-Event", event)
	h.Set("X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958")
	h.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	return h
}

func newTracker(t testing.TB, scope string) *github.Tracker {
	t.Helper()
	tr, _, err := github.New(github.RepositoryOptions{Scope: scope, WebhookSecret: always(hookSecret)})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestHear(t *testing.T) {
	const repo = `"repository":{"full_name":"Acme/Shop"}`
	for name, tc := range map[string]struct {
		event, body string
		keys        []string
		prs         []int
	}{
		"an issue":                           {"issues", `{"action":"opened","issue":{"number":12}}`, []string{"12"}, nil},
		"a comment":                          {"issue_comment", `{"issue":{"number":12,"pull_request":null},"comment":{}}`, []string{"12"}, nil},
		"a comment on a pull request":        {"issue_comment", `{"issue":{"number":7,"pull_request":{"url":"x"}}}`, nil, []int{7}},
		"a sub-issue":                        {"sub_issues", `{"parent_issue":{"number":1},"sub_issue":{"number":2}}`, []string{"1", "2"}, nil},
		"a dependency":                       {"issue_dependencies", `{"blocked_issue":{"number":3},"blocking_issue":{"number":3}}`, []string{"3"}, nil},
		"a pull request":                     {"pull_request", `{"number":7,"pull_request":{"number":7}}`, nil, []int{7}},
		"a review":                           {"pull_request_review", `{"review":{},"pull_request":{"number":7}}`, nil, []int{7}},
		"a remark":                           {"pull_request_review_comment", `{"pull_request":{"number":7}}`, nil, []int{7}},
		"a check run":                        {"check_run", `{"check_run":{"head_sha":"x","pull_requests":[{"number":9},{"number":7},{"number":9}]}}`, nil, []int{7, 9}},
		"a check suite":                      {"check_suite", `{"check_suite":{"pull_requests":[{"number":7}]}}`, nil, []int{7}},
		"a status of nobody's":               {"status", `{"sha":"abc"}`, nil, nil},
		"a push of nobody's":                 {"push", `{"ref":"refs/heads/x"}`, nil, nil},
		"a label":                            {"label", `{"action":"deleted","label":{"name":"status:X"}}`, nil, nil},
		"a ping":                             {"ping", `{"zen":"Keep it."}`, nil, nil},
		"an event of another kind":           {"gollum", `{"pages":[]}`, nil, nil},
		"an event whose number is something": {"issues", `{"issue":{"number":-3}}`, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			body := []byte(strings.Replace(tc.body, "{", "{"+repo+",", 1))
			got, err := newTracker(t, "acme/shop").ParseWebhook(signed(tc.event, body), body)
			want := tracker.Event{Delivery: "72d3162e-cc78-11e3-81ab-4c9367dc0958", Keys: tc.keys, PRs: tc.prs}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			elsewhere, err := newTracker(t, "acme/other").ParseWebhook(signed(tc.event, body), body)
			if err != nil || len(elsewhere.Keys)+len(elsewhere.PRs) != 0 {
				t.Errorf("of another repository: %+v, %v", elsewhere, err)
			}
		})
	}
}

func TestHearAForm(t *testing.T) {
	body := []byte(url.Values{"payload": {`{"issue":{"number":5},"repository":{"full_name":"acme/shop"}}`}}.Encode())
	h := signed("issues", body)
	h.Set("Content-Type", "application/x-www-form-urlencoded")
	got, err := newTracker(t, "acme/shop").ParseWebhook(h, body)
	if err != nil || len(got.Keys) != 1 || got.Keys[0] != "5" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestHearNothingFalse(t *testing.T) {
	body := []byte(`{"issue":{"number":5}}`)
	without := func(name string) http.Header {
		h := signed("issues", body)
		h.Del(name)
		return h
	}
	tr := newTracker(t, "acme/shop")
	for name, tc := range map[string]struct {
		header http.Header
		body   []byte
		want   error
	}{
		"no signature":     {without("X-Hub-Signature-256"), body, tracker.ErrForged},
		"another body":     {signed("issues", body), []byte(`{"issue":{"number":6}}`), tracker.ErrForged},
		"no delivery":      {without("X-GitHub-Delivery"), body, tracker.ErrMalformed},
		"no repository":    {signed("issues", body), body, tracker.ErrMalformed},
		"null":             {signed("issues", []byte("null")), []byte("null"), tracker.ErrMalformed},
		"what is no JSON":  {signed("issues", []byte("{")), []byte("{"), tracker.ErrMalformed},
		"a ping, no JSON":  {signed("ping", []byte("{")), []byte("{"), tracker.ErrMalformed},
		"another JSON":     {signed("issues", []byte(`{"issue":{"number":"five"}}`)), []byte(`{"issue":{"number":"five"}}`), tracker.ErrMalformed},
		"an empty payload": {signed("issues", nil), nil, tracker.ErrMalformed},
	} {
		got, err := tr.ParseWebhook(tc.header, tc.body)
		if !errors.Is(err, tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	asked := 0
	counting, _, err := github.New(github.RepositoryOptions{Scope: "acme/shop", WebhookSecret: func(context.Context) (string, error) { asked++; return hookSecret, nil }})
	if err != nil {
		t.Fatal(err)
	}
	for _, signature := range []string{"", "sha256=", "sha256=x", "sha1=" + strings.Repeat("a", 64), "sha256=" + strings.Repeat("z", 64)} {
		h := signed("issues", body)
		h.Set("X-Hub-Signature-256", signature)
		if _, err := counting.ParseWebhook(h, body); !errors.Is(err, tracker.ErrForged) || asked > 0 {
			t.Errorf("%q: %v, the secret was asked for %d times", signature, err, asked)
		}
	}
	silent, _, err := github.New(github.RepositoryOptions{Scope: "acme/shop"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := silent.ParseWebhook(signed("issues", body), body); !errors.Is(err, tracker.ErrForged) {
		t.Errorf("without a secret: %v", err)
	}
	open, _, err := github.New(github.RepositoryOptions{Scope: "acme/shop", WebhookSecret: always("")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open.ParseWebhook(signed("issues", body), body); !errors.Is(err, tracker.ErrForged) {
		t.Errorf("with an empty secret: %v", err)
	}
}

func TestNewsOfCommitsNameThePullRequestsThatWereSeen(t *testing.T) {
	s := serve(t, fakegithub.FakeOptions{})
	tr, f := clients(t, s)
	head := s.PushBranch(t, "work/one")
	pr, err := f.CreatePR(t.Context(), tracker.NewPR{Branch: "work/one", Base: s.BaseBranch(), Title: "One"})
	if err != nil {
		t.Fatal(err)
	}
	s.TakeDeliveries(t)
	s.AddCheck(t, head, tracker.Check{Name: "ci/test", State: tracker.CheckFailed})
	s.AddCheck(t, head, tracker.Check{Name: "build", State: tracker.CheckFailed})
	s.PushBranch(t, "work/one")
	s.PushBranch(t, "work/two")
	named := 0
	for _, d := range s.TakeDeliveries(t) {
		e, err := tr.ParseWebhook(d.Header, d.Body)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.PRs) == 1 && e.PRs[0] == pr.Number {
			named++
		}
	}
	if named != 4 { // status, check_run, push, pull_request
		t.Errorf("%d deliveries name it, want 4", named)
	}
}

// TestHearExamples parses every kind of delivery that GitHub is known to send.
func TestHearExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testneeds.NPM(t, "@octokit/webhooks-examples"), "*", "index.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	heard, named := 0, map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []struct {
			Name     string
			Examples []json.RawMessage
		}
		if err := json.Unmarshal(text, &kinds); err != nil {
			t.Fatal(err)
		}
		for _, kind := range kinds {
			for i, body := range kind.Examples {
				var of struct {
					Repository struct {
						FullName string `json:"full_name"`
					}
				}
				_ = json.Unmarshal(body, &of) // some are of an organisation
				scope := of.Repository.FullName
				if scope == "" {
					scope = "acme/shop"
				}
				e, err := newTracker(t, scope).ParseWebhook(signed(kind.Name, body), body)
				if err != nil {
					t.Errorf("%s: %s %d: %v", filepath.Base(filepath.Dir(file)), kind.Name, i, err)
				}
				heard++
				if len(e.Keys)+len(e.PRs) > 0 {
					named[kind.Name]++
				}
			}
		}
	}
	for _, kind := range []string{"issues", "issue_comment", "pull_request", "pull_request_review", "pull_request_review_comment"} {
		if named[kind] == 0 {
			t.Errorf("no example of %s names anything", kind)
		}
	}
	t.Logf("%d examples, of which these name something: %v", heard, named)
}

func FuzzHear(f *testing.F) {
	f.Add("issues", `{"issue":{"number":5},"repository":{"full_name":"acme/shop"}}`, "application/json")
	f.Add("push", `payload=%7B%7D`, "application/x-www-form-urlencoded")
	f.Add("check_run", `{"check_run":{"pull_requests":[null,{"number":1e400}]}}`, "")
	f.Fuzz(func(t *testing.T, event, body, kind string) {
		h := signed(event, []byte(body))
		h.Set("Content-Type", kind)
		e, err := newTracker(t, "acme/shop").ParseWebhook(h, []byte(body))
		if errors.Is(err, tracker.ErrForged) {
			t.Fatal("what is signed is taken for forged")
		}
		if err != nil && (strings.ContainsAny(err.Error(), "\r\n") || len(err.Error()) > 1000) {
			t.Fatalf("%q", err)
		}
		for _, key := range e.Keys {
			if n, err := strconv.Atoi(key); err != nil || n < 1 {
				t.Fatalf("key %q", key)
			}
		}
		h.Set("X-Hub-Signature-256", fmt.Sprintf("sha256=%064d", 0))
		if _, err := newTracker(t, "acme/shop").ParseWebhook(h, []byte(body)); !errors.Is(err, tracker.ErrForged) {
			t.Fatal("what is not signed is believed")
		}
	})
}
