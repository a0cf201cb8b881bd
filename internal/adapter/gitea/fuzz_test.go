package gitea_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"orange/internal/adapter/gitea"
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

// FuzzAnswers runs the client against a Gitea that sends arbitrary responses.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", "null", `{"message":"x\ny"}`, `{"version":"1.22.0"}`,
		`{"number":1,"state":"open","title":"t","html_url":"https://h/o/r/pulls/1","head":{"ref":"b","sha":"abc"},"base":{"ref":"main"},"mergeable":true}`,
		`[{"number":1,"state":"closed","merged":true,"head":{"ref":"b"},"base":{"ref":"main"}},null]`, `[{"number":1,"head":null,"base":null,"user":null}]`,
	} {
		f.Add(200, []byte(seed))
		f.Add(404, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 599 {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		forge, err := gitea.New(gitea.ForgeOptions{URL: "http://forge.invalid", Scope: "acme/shop", Token: func(context.Context) (string, error) { return "planted", nil }, HTTP: &http.Client{Transport: parrot{status, body}}})
		if err != nil {
			t.Fatal(err)
		}
		gitea.Hasten(forge)
		_, created := forge.CreatePR(ctx, tracker.NewPR{Branch: "b", Base: "main", Title: "t"})
		_, one := forge.ReadPR(ctx, 1)
		_, list := forge.ListBranchPRs(ctx, "b")
		_, named := forge.ListMentioningPRs(ctx, "ENG-1")
		merged := forge.MergePR(ctx, 1, "abc")
		for what, err := range map[string]error{"create": created, "one": one, "list": list, "mentioning": named, "merge": merged} {
			if err != nil && (strings.ContainsAny(err.Error(), "\n\r") || strings.Contains(err.Error(), "planted")) {
				t.Errorf("%s: %q", what, err)
			}
		}
	})
}
