package github_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/adapter/github"
	"orange/internal/core/tracker"
	"orange/internal/trackertest"
	"orange/internal/trackertest/fakegithub"
)

func TestNewRefusesWhatItCannotUse(t *testing.T) {
	for name, o := range map[string]github.RepositoryOptions{
		"no scope":           {},
		"half a scope":       {Scope: "acme"},
		"a path":             {Scope: "acme/shop/x"},
		"a way out":          {Scope: "acme/.."},
		"a query":            {Scope: "acme/shop?x=y"},
		"an address without": {Scope: "acme/shop", URL: "github.com"},
		"a secret in it":     {Scope: "acme/shop", URL: "https://alice:s3cret@github.com"},
		"another protocol":   {Scope: "acme/shop", URL: "file:///etc/passwd"},
		"a way to merge":     {Scope: "acme/shop", MergeMethod: "force"},
	} {
		if _, _, err := github.New(o); err == nil || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatDidNotChangeCostsNothing(t *testing.T) {
	s := serve(t, fakegithub.FakeOptions{PageSize: 5})
	tr, f := clients(t, s)
	key := s.AddIssue(t, issue("Backlog"))
	for i := range 12 {
		s.CommentIssue(t, key, "bob", fmt.Sprint("comment ", i))
	}
	s.LinkPull(t, key, tracker.PR{Number: 7, State: tracker.Open, Title: "T", Branch: "b"})
	look := func() (cost int) {
		before, _ := s.CountRequests()
		is, err := tr.ReadIssue(t.Context(), key)
		if err != nil || len(is.Comments) < 12 || len(is.PRs) != 1 {
			t.Fatalf("%d comments, %d pull requests, %v", len(is.Comments), len(is.PRs), err)
		}
		if list, err := tr.ListIssues(t.Context(), tracker.Query{}); err != nil || len(list) != 1 {
			t.Fatalf("%d issues, %v", len(list), err)
		}
		if _, err := f.ReadPR(t.Context(), 7); err != nil {
			t.Fatal(err)
		}
		if _, err := tr.ReadVocabulary(t.Context()); err != nil {
			t.Fatal(err)
		}
		after, _ := s.CountRequests()
		return after - before
	}
	if first := look(); first < 10 {
		t.Errorf("the first look costs %d", first)
	}
	for range 3 {
		if again := look(); again != 0 {
			t.Errorf("a look at what did not change costs %d", again)
		}
	}
	s.CommentIssue(t, key, "bob", "one more")
	if is, err := tr.ReadIssue(t.Context(), key); err != nil || len(is.Comments) != 13 {
		t.Errorf("%d comments, %v", len(is.Comments), err)
	}
	if cost := look(); cost > 4 { // the list; what was read just now is known
		t.Errorf("a look after a change costs %d", cost)
	}
	if _, repeated := s.CountRequests(); repeated == 0 {
		t.Error("nothing was asked for again")
	}
}

func TestTheTokenIsReadAgainWhenItIsRefused(t *testing.T) {
	s := serve(t, fakegithub.FakeOptions{})
	token, asked := "old", 0
	tr, _, err := github.New(github.RepositoryOptions{URL: s.URL(), Scope: s.Scope(), Token: func(context.Context) (string, error) { asked++; return token, nil }})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tr.AccountName(t.Context())
	if err == nil || !strings.Contains(err.Error(), "token") || strings.Contains(err.Error(), "old") {
		t.Errorf("with a bad token: %v", err)
	}
	token = s.Secret()
	for range 3 {
		if who, err := tr.AccountName(t.Context()); err != nil || who != "orange-app" {
			t.Errorf("%q, %v", who, err)
		}
	}
	if asked != 2 {
		t.Errorf("the token was read %d times, want twice", asked)
	}
}

func TestABadTokenIsNotSent(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	for name, token := range map[string]func(context.Context) (string, error){
		"none":      always(""),
		"two lines": always("abc\r\nX-Evil: yes"),
		"an error":  func(context.Context) (string, error) { return "", errors.New("run gh auth login") },
	} {
		tr, _, err := github.New(github.RepositoryOptions{URL: server.URL, Scope: "acme/shop", Token: token})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tr.AccountName(t.Context()); err == nil || strings.Contains(err.Error(), "Evil") || !strings.Contains(err.Error(), "token") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if asked.Load() != 0 {
		t.Error("a request was made")
	}
}

func TestTheTokenIsShownToItsHostOnly(t *testing.T) {
	var shown atomic.Value
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown.Store(r.Header.Get("Authorization"))
		_, _ = w.Write([]byte(`{"login":"mallory"}`))
	}))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	tr, _, err := github.New(github.RepositoryOptions{URL: server.URL, Scope: "acme/shop", Token: always("t0ken")})
	if err != nil {
		t.Fatal(err)
	}
	who, err := tr.AccountName(t.Context())
	if got := shown.Load(); got != "" {
		t.Errorf("the other host was shown %q; %q, %v", got, who, err)
	}
}

// wire answers requests without a network.
type wire func(*http.Request) (int, http.Header, string)

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	code, header, body := w(r)
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: code, Status: strconv.Itoa(code), Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r, ProtoMajor: 1}, nil
}

func wired(t *testing.T, w wire) (*github.Tracker, *github.Forge) {
	t.Helper()
	tr, f, err := github.New(github.RepositoryOptions{Scope: "acme/shop", Token: always("t0ken"), HTTP: &http.Client{Transport: w}})
	if err != nil {
		t.Fatal(err)
	}
	return tr, f
}

func TestLimits(t *testing.T) {
	const secondary = `{"message":"secondary","documentation_url":"https://docs.github.com/x#about-secondary-rate-limits"}`
	for name, tc := range map[string]struct {
		code   int
		header map[string]string // reset is in so many seconds
		body   string
		wait   time.Duration // -1: it is not waited for
		until  string
	}{
		"a secondary limit of a moment":    {403, map[string]string{"Retry-After": "3"}, secondary, 3 * time.Second, ""},
		"a secondary limit of an hour":     {403, map[string]string{"Retry-After": "3600"}, secondary, -1, "2000-01-01T01:00:00Z"},
		"a secondary limit of some time":   {429, nil, secondary, -1, "2000-01-01T00:01:00Z"},
		"a primary limit of a moment":      {403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "5"}, `{"message":"limit"}`, 5 * time.Second, ""},
		"a primary limit of half an hour":  {429, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1800"}, `{"message":"limit"}`, -1, "2000-01-01T00:30:00Z"},
		"somebody in between":              {429, map[string]string{"Retry-After": "2"}, "slow down", 2 * time.Second, ""},
		"somebody in between without time": {429, nil, "slow down", -1, "2000-01-01T00:01:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, asked := time.Now(), 0
				tr, _ := wired(t, func(*http.Request) (int, http.Header, string) {
					if asked++; asked > 1 {
						return 200, nil, `{"login":"orange-app"}`
					}
					h := http.Header{}
					for k, v := range tc.header {
						if k == "X-RateLimit-Reset" {
							in, _ := strconv.Atoi(v)
							v = strconv.FormatInt(time.Now().Unix()+int64(in), 10)
						}
						h.Set(k, v)
					}
					return tc.code, h, tc.body
				})
				who, err := tr.AccountName(t.Context())
				if tc.wait < 0 {
					if err == nil || !strings.Contains(err.Error(), tc.until) || asked != 1 || time.Since(began) != 0 {
						t.Errorf("%v after %s and %d requests, want it to say %s", err, time.Since(began), asked, tc.until)
					}
					return
				}
				if err != nil || who != "orange-app" || time.Since(began) != tc.wait {
					t.Errorf("%q, %v after %s, want %s", who, err, time.Since(began), tc.wait)
				}
			})
		})
	}
}

func TestALimitThatDoesNotEndIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		tr, _ := wired(t, func(*http.Request) (int, http.Header, string) {
			asked++
			return 429, http.Header{"Retry-After": {"1"}}, ""
		})
		if _, err := tr.AccountName(t.Context()); err == nil || asked > 10 {
			t.Errorf("%v after %d requests", err, asked)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if _, err := tr.AccountName(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that waits no longer: %v", err)
		}
	})
}

func TestAnswersThatAreNone(t *testing.T) {
	endless := http.Header{"Link": {`<https://api.github.com/x?page=2>; rel="next"`}}
	for name, w := range map[string]wire{
		"a page of a proxy": func(*http.Request) (int, http.Header, string) { return 502, nil, "<html>\nBad Gateway\n</html>" },
		"nothing":           func(*http.Request) (int, http.Header, string) { return 500, nil, "" },
		"what is no JSON":   func(*http.Request) (int, http.Header, string) { return 200, nil, "<html>" },
		"another JSON":      func(*http.Request) (int, http.Header, string) { return 200, nil, `{"number":"x","login":1,"a":[` },
		"too much":          func(*http.Request) (int, http.Header, string) { return 200, nil, strings.Repeat(" ", 33<<20) },
		"many lines": func(*http.Request) (int, http.Header, string) {
			return 418, nil, `{"message":"a\nb\u0000c` + strings.Repeat("x", 5000) + `"}`
		},
		"a page that comes again": func(r *http.Request) (int, http.Header, string) {
			if strings.HasSuffix(r.URL.Path, "/issues/1") {
				return 500, nil, ""
			}
			return 200, endless, "[]"
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr, f := wired(t, w)
			_, issue := tr.ReadIssue(t.Context(), "1")
			_, pr := f.ReadPR(t.Context(), 1)
			for what, err := range map[string]error{"issue": issue, "pull request": pr} {
				if err == nil || errors.Is(err, tracker.ErrNotFound) || strings.ContainsAny(err.Error(), "\r\n\x00") || len(err.Error()) > 1000 || strings.Contains(err.Error(), "t0ken") {
					t.Errorf("%s: %.300q", what, err)
				}
			}
		})
	}
}

func TestAnIssueThatMovedIsNotFound(t *testing.T) {
	for name, answer := range map[string]string{
		"to another repository": `{"number":1,"repository_url":"https://api.github.com/repos/acme/other"}`,
		"to another number":     `{"number":9,"repository_url":"https://api.github.com/repos/acme/shop"}`,
	} {
		tr, _ := wired(t, func(r *http.Request) (int, http.Header, string) {
			if strings.HasSuffix(r.URL.Path, "/labels") {
				return 200, nil, "[]"
			}
			return 200, nil, answer
		})
		if _, err := tr.ReadIssue(t.Context(), "1"); !errors.Is(err, tracker.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEnterpriseHostsAreAskedBelowTheirPath(t *testing.T) {
	var path string
	tr, _, err := github.New(github.RepositoryOptions{URL: github.APIBase("ghe.example"), Scope: "acme/shop", HTTP: &http.Client{Transport: wire(func(r *http.Request) (int, http.Header, string) {
		path = r.URL.String()
		return 200, nil, `[{"name":"status:X"}]`
	})}})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := tr.ReadVocabulary(t.Context()); err != nil || len(v.Columns) != 1 || !strings.HasPrefix(path, "https://ghe.example/api/v3/repos/acme/shop/labels") {
		t.Errorf("%+v, %v, %s", v, err, path)
	}
}

func TestConclusions(t *testing.T) {
	for conclusion, want := range map[string]string{
		"success": tracker.CheckPassed, "neutral": tracker.CheckPassed, "skipped": tracker.CheckPassed,
		"failure": tracker.CheckFailed, "timed_out": tracker.CheckFailed, "cancelled": tracker.CheckFailed, "action_required": tracker.CheckFailed,
		"startup_failure": tracker.CheckFailed, "stale": tracker.CheckFailed, "of the future": tracker.CheckPending,
	} {
		_, f := wired(t, func(r *http.Request) (int, http.Header, string) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/check-runs"):
				return 200, nil, `{"check_runs":[{"name":"x","status":"completed","conclusion":"` + conclusion + `"}]}`
			case strings.HasSuffix(r.URL.Path, "/status"):
				return 200, nil, `{"statuses":[{"context":"y","state":"error"}]}`
			case strings.HasSuffix(r.URL.Path, "/reviews"):
				return 200, nil, `[]`
			}
			return 200, nil, `{"number":1,"head":{"sha":"abc"}}`
		})
		pr, err := f.ReadPR(t.Context(), 1)
		if err != nil || len(pr.Checks) != 2 || pr.Checks[0].State != want || pr.Checks[1].State != tracker.CheckFailed {
			t.Errorf("%s: %+v, %v", conclusion, pr.Checks, err)
		}
	}
}

func TestSmallPages(t *testing.T) {
	s := serve(t, fakegithub.FakeOptions{PageSize: 1})
	tr := port(t, s)
	v, err := tr.ReadVocabulary(t.Context())
	if err != nil || len(v.Columns) != len(trackertest.Columns) || len(v.Tags) != len(trackertest.Tags) {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestAnOldTagDoesNotHideNews(t *testing.T) {
	n := 0
	tr, _ := wired(t, func(r *http.Request) (int, http.Header, string) {
		n++
		switch n {
		case 1:
			return 200, http.Header{"Etag": {`"1"`}}, `{"login":"first"}`
		case 2:
			if r.Header.Get("If-None-Match") != `"1"` {
				t.Error("it is not asked whether something changed")
			}
			return 200, http.Header{"Etag": {`"2"`}}, `{"login":"second"}`
		case 3:
			return 500, nil, ""
		}
		if r.Header.Get("If-None-Match") != `"2"` {
			t.Error("it is not asked whether something changed again")
		}
		return 304, http.Header{"Etag": {`"2"`}}, ""
	})
	var got []string
	for range 4 {
		who, err := tr.AccountName(t.Context())
		got = append(got, fmt.Sprint(who, " ", err != nil))
	}
	if want := "[first false second false  true second false]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
