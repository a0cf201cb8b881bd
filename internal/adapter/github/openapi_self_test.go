package github_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"orange/internal/testneeds"
)

// complaints is a test that only records failures.
type complaints struct {
	testing.TB
	said []string
}

func (c *complaints) Errorf(format string, args ...any) {
	c.said = append(c.said, fmt.Sprintf(format, args...))
}

func TestWhatGitHubDoesNotDescribeIsNoticed(t *testing.T) {
	testneeds.NPM(t, "@octokit/openapi")
	const label = `{"id":1,"node_id":"x","url":"https://x/","name":"n","description":null,"color":"c","default":false}`
	for name, tc := range map[string]struct {
		method, path, body string
		code               int
		answer             string
		want               string // "" if nothing is wrong
	}{
		"a list as it is":                {"GET", "/repos/a/b/labels", "", 200, "[" + label + "]", ""},
		"an answer without a field":      {"GET", "/repos/a/b/labels", "", 200, "[" + strings.Replace(label, `"color":"c",`, "", 1) + "]", `"color" is missing`},
		"an answer with another type":    {"GET", "/repos/a/b/labels", "", 200, "[" + strings.Replace(label, `"id":1`, `"id":"1"`, 1) + "]", "integer"},
		"a path that is not known":       {"GET", "/repos/a/b/labelz", "", 404, "{}", "no matching operation"},
		"a parameter that is not known":  {"GET", "/repos/a/b/labels?colour=red", "", 200, "[]", `no parameter "colour"`},
		"a state that is not known":      {"GET", "/repos/a/b/issues?state=ajar", "", 200, "[]", "state"},
		"a number that is none":          {"GET", "/repos/a/b/issues/x", "", 404, "{}", "issue_number"},
		"a body as it is":                {"POST", "/repos/a/b/issues/1/comments", `{"body":"x"}`, 404, `{"message":"m"}`, ""},
		"a body without a field":         {"POST", "/repos/a/b/issues/1/comments", `{"bodi":"x"}`, 404, `{"message":"m"}`, `"body" is missing`},
		"labels as a mere list":          {"POST", "/repos/a/b/issues/1/labels", `["x"]`, 404, `{"message":"m"}`, "doesn't match"},
		"a status that is not described": {"GET", "/repos/a/b/labels", "", 502, "<html>", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := &complaints{TB: t}
			h := checked(c)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tc.code)
				_, _ = w.Write([]byte(tc.answer))
			}))
			r := httptest.NewRequest(tc.method, tc.path, strings.NewReader(tc.body))
			if tc.body != "" {
				r.Header.Set("Content-Type", "application/json")
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
			if got := strings.Join(c.said, "\n"); (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
				t.Errorf("said %q, want %q", got, tc.want)
			}
		})
	}
}
