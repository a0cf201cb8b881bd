package gitea_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "code.gitea.io/sdk/gitea"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"orange/internal/adapter/gitea"
	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/trackertest"
)

func TestForge(t *testing.T) {
	trackertest.RunForge(t, func(t *testing.T) trackertest.ForgeWorld { return newFake(t) })
}

func TestOptionsAreChecked(t *testing.T) {
	for name, tc := range map[string]struct{ url, scope, want string }{
		"all is well":           {"https://forge.example.invalid", "acme/shop", ""},
		"in a folder":           {"https://forge.example.invalid/git/", "acme/shop.go", ""},
		"no url":                {"", "acme/shop", "is not valid"},
		"no scheme":             {"forge.example.invalid", "acme/shop", "is not valid"},
		"another protocol":      {"ssh://forge.example.invalid", "acme/shop", "is not valid"},
		"a secret in the url":   {"https://me:hidden@forge.example.invalid", "acme/shop", "contains a secret"},
		"a query":               {"https://forge.example.invalid/?token=hidden", "acme/shop", "more than a host"},
		"no owner":              {"https://forge.example.invalid", "shop", "OWNER/REPO"},
		"a path above":          {"https://forge.example.invalid", "../shop", "OWNER/REPO"},
		"too much":              {"https://forge.example.invalid", "acme/shop/issues", "OWNER/REPO"},
		"a line break":          {"https://forge.example.invalid", "acme/shop\n", "OWNER/REPO"},
		"nothing but a slash":   {"https://forge.example.invalid", "/", "OWNER/REPO"},
		"a url that is no text": {"https://\x7f", "acme/shop", "is not valid"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := gitea.New(gitea.ForgeOptions{URL: tc.url, Scope: tc.scope})
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), "\n")):
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestPullRequestIsShownWhole(t *testing.T) {
	w := newFake(t)
	f := w.OpenClient(t)
	head := w.PushBranch(t, "work")
	made, err := f.CreatePR(t.Context(), tracker.NewPR{Branch: "work", Base: "main", Title: "Work", Body: "done"})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range []sdk.StatusState{"pending", "success", "failure", "error", "warning", "skipped", "new-word"} {
		w.status(head, &sdk.Status{State: "pending", Context: fmt.Sprint(i)})
		w.status(head, &sdk.Status{State: s, Context: fmt.Sprint(i)})
	}
	said := []tracker.Review{
		{Author: "alice", Verdict: tracker.Commented, Text: "hm"},
		{Author: "alice", Verdict: tracker.ChangesRequested, Text: "no", Lines: []tracker.Remark{{File: "a.go", Line: 3, Text: "why?"}, {File: "b.go", Line: 1, Text: "and this?"}}},
		{Author: "bob", Verdict: tracker.Approved},
		{Author: "bob", Verdict: tracker.Commented, Text: "more than a page"},
	}
	for _, r := range said {
		w.AddReview(t, made.Number, r)
	}
	got, err := f.ReadPR(t.Context(), made.Number)
	if err != nil {
		t.Fatal(err)
	}
	want := made
	for i, s := range []string{"pending", "passed", "failed", "failed", "passed", "passed", "pending"} {
		want.Checks = append(want.Checks, tracker.Check{Name: fmt.Sprint(i), State: s})
	}
	for _, r := range said {
		r.Commit = head
		want.Reviews = append(want.Reviews, r)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(tracker.Review{}, "ID", "At")); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNoReview(t *testing.T) {
	w := newFake(t)
	w.PushBranch(t, "work")
	w.add("Work", "", "work", "main")
	w.reviews[1] = []*sdk.PullReview{
		nil, {ID: 1, State: "PENDING"}, {ID: 2, State: "REQUEST_REVIEW"},
		{ID: 3, State: "APPROVED", Dismissed: true, Body: "fine"}, {ID: 4, State: "REQUEST_CHANGES", Dismissed: true},
		{ID: 5, State: "COMMENT", CodeCommentsCount: 2, Reviewer: &sdk.User{ID: -2, UserName: "gitea-actions"}},
	}
	w.remarks[5] = []*sdk.PullReviewComment{nil, {Path: "gone.go", OldLineNum: 9, Body: "was here"}}
	pr, err := w.OpenClient(t).ReadPR(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []tracker.Review{
		{ID: "3", Verdict: tracker.Commented, Text: "fine"}, {ID: "4", Verdict: tracker.Commented},
		{ID: "5", Verdict: tracker.Commented, Author: "gitea-actions", Bot: true, Lines: []tracker.Remark{{File: "gone.go", Line: 9, Text: "was here"}}},
	}
	if diff := cmp.Diff(want, pr.Reviews); diff != "" {
		t.Error(diff)
	}
}

func TestListsAreReadToTheirEnd(t *testing.T) {
	w := newFake(t)
	for i := range 10 {
		w.PushBranch(t, fmt.Sprint("b", i))
		w.add(fmt.Sprint("Work ", i), "", fmt.Sprint("b", i), "main")
	}
	w.ClosePull(t, 1)
	w.before = func(r *http.Request) { // someone opens another one in between
		if r.FormValue("page") == "2" && len(w.pulls) == 10 {
			w.add("Another", "", "b0", "main")
		}
	}
	prs, err := w.OpenClient(t).ListBranchPRs(t.Context(), "b0")
	if err != nil {
		t.Fatal(err)
	}
	if n := w.requests("GET"); n > 5 {
		t.Errorf("%d requests for 11 of them, %d at once", n, atOnce)
	}
	if len(prs) != 1 || prs[0].Number != 1 || prs[0].State != tracker.Closed {
		t.Errorf("%+v", prs)
	}
	prs, err = w.OpenClient(t).ListBranchPRs(t.Context(), "b0")
	if err != nil || len(prs) != 2 {
		t.Errorf("%+v %v", prs, err)
	}
}

func TestForksAreOthers(t *testing.T) {
	w := newFake(t)
	theirs := w.add("Theirs, for ENG-5", "", "work", "main")
	theirs.Head.RepoID, theirs.Head.Repository = 2, &sdk.Repository{Owner: &sdk.User{UserName: "mallory"}}
	gone := w.add("Gone, for ENG-5", "", "work", "main")
	gone.Head.RepoID = -1
	f := w.OpenClient(t)
	if prs, err := f.ListBranchPRs(t.Context(), "work"); err != nil || len(prs) != 0 {
		t.Errorf("%+v %v", prs, err)
	}
	if prs, err := f.ListBranchPRs(t.Context(), "mallory:work"); err != nil || len(prs) != 0 {
		t.Errorf("%+v %v", prs, err)
	}
	prs, err := f.ListMentioningPRs(t.Context(), "ENG-5")
	if err != nil || len(prs) != 2 || prs[0].Branch != "mallory:work" || prs[1].Branch != "unknown:work" {
		t.Errorf("%+v %v", prs, err)
	}
	w.PushBranch(t, "work")
	if pr, err := f.CreatePR(t.Context(), tracker.NewPR{Branch: "work", Base: "main", Title: "Ours"}); err != nil || pr.Number != 3 {
		t.Errorf("%+v %v", pr, err)
	}
}

func TestMentions(t *testing.T) {
	for text, want := range map[string]struct {
		key              string
		inText, inBranch bool
	}{
		"fix ENG-12":           {"ENG-12", true, true},
		"eng-12: fix":          {"ENG-12", true, true},
		"task/eng-12-fix":      {"ENG-12", true, true},
		"ENG-123 and ENG-12":   {"ENG-12", true, true},
		"ENG-123":              {"ENG-12", false, false},
		"XENG-12":              {"ENG-12", false, false},
		"closes #42.":          {"42", true, true},
		"issue-42":             {"42", false, true},
		"#421":                 {"42", false, false},
		"1 of 42":              {"42", false, true},
		"task-7":               {"task-7", true, true},
		"ünENG-12":             {"ENG-12", false, false},
		"":                     {"ENG-12", false, false},
		"\xff\xfeENG-12\xff":   {"ENG-12", true, true},
		"ENG-12ENG-12 ENG-12x": {"ENG-12", false, false},
	} {
		inText, inBranch := gitea.Mentions(text, want.key)
		if inText != want.inText || inBranch != want.inBranch {
			t.Errorf("%q names %s: %v in a text, %v in a branch", text, want.key, inText, inBranch)
		}
	}
}

func TestNothingIsOpenedThatCannotBe(t *testing.T) {
	w := newFake(t)
	w.PushBranch(t, "work")
	for name, tc := range map[string]struct {
		n    tracker.NewPR
		want string
	}{
		"a branch that was not pushed": {tracker.NewPR{Branch: "nowhere", Base: "main", Title: "T"}, "push them first"},
		"a base that is not there":     {tracker.NewPR{Branch: "work", Base: "nowhere", Title: "T"}, "push them first"},
		"no branch":                    {tracker.NewPR{Base: "main", Title: "T"}, "is not one"},
		"a branch of a fork":           {tracker.NewPR{Branch: "mallory:work", Base: "main", Title: "T"}, "is not one"},
		"into itself":                  {tracker.NewPR{Branch: "main", Base: "main", Title: "T"}, "into itself"},
		"no title":                     {tracker.NewPR{Branch: "work", Base: "main", Title: " "}, "needs a title"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.OpenClient(t).CreatePR(t.Context(), tc.n)
			refused(t, err, tc.want)
		})
	}
}

func TestTextsOfOthersAreTamed(t *testing.T) {
	w := newFake(t)
	w.PushBranch(t, "work")
	p := w.add("one\r\ntwo\x1b[31m\u2028three"+strings.Repeat("x", 9000), "", "work", "main")
	p.HTMLURL = "javascript:alert(1)"
	w.status(p.Head.Sha, &sdk.Status{State: "success", Context: "a\nb", TargetURL: "https://ok.example.invalid/\nX: y"})
	w.AddReview(t, 1, tracker.Review{Author: "al\nice", Verdict: tracker.Approved, Text: strings.Repeat("y", 1<<20)})
	pr, err := w.OpenClient(t).ReadPR(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{pr.Title, pr.URL, pr.Checks[0].Name, pr.Checks[0].URL, pr.Reviews[0].Author} {
		if strings.ContainsAny(s, "\n\r\x1b\u2028") || len(s) > 300 {
			t.Errorf("%.80q", s)
		}
	}
	if pr.URL != "" || pr.Checks[0].URL != "" || len(pr.Reviews[0].Text) > 256<<10 {
		t.Errorf("%q %q, %d bytes of text", pr.URL, pr.Checks[0].URL, len(pr.Reviews[0].Text))
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, strings.ReplaceAll(body, "TOKEN", r.Header.Get("Authorization")))
		}
	}
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"the token is not good":     {answer(401, `{"message":"invalid token"}`), "does not accept the token (invalid token): create a new one"},
		"the token may not do it":   {answer(403, `{"message":"token does not have at least one of required scope(s)"}`), "create one with the scope write:repository"},
		"no such repository":        {answer(404, `{"message":"not found"}`), "check its name"},
		"too many requests":         {answer(429, ``), "fewer requests"},
		"the server is broken":      {answer(500, `{"message":"oh\nno"}`), "answers 500 (oh no): try again later"},
		"a page of a proxy":         {answer(502, `<html>TOKEN bad gateway</html>`), "answers 502: try again later"},
		"another program":           {answer(200, `<html>welcome</html>`), "check the url"},
		"an odd answer":             {answer(418, `{"message":5}`), "answers 418"},
		"an answer without end":     {func(w http.ResponseWriter, _ *http.Request) { flood(w) }, "larger than"},
		"a long reason":             {answer(500, `{"message":"`+strings.Repeat("z", 5000)+`"}`), "answers 500"},
		"a connection that is lost": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(tc.answer)
			defer s.Close()
			f, err := gitea.New(gitea.ForgeOptions{URL: s.URL, Scope: owner + "/" + repo, Token: func(context.Context) (string, error) { return token + "\n", nil }})
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.ListBranchPRs(t.Context(), "work")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error: %v", err)
			}
			if strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 600 {
				t.Errorf("error: %v", err)
			}
		})
	}
}

// flood writes until the reader stops.
func flood(w io.Writer) {
	chunk := []byte(strings.Repeat(" ", 1<<20))
	for range 64 {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

func TestTokenThatCannotBeHad(t *testing.T) {
	for name, token := range map[string]func(context.Context) (string, error){
		"there is none": func(context.Context) (string, error) { return " ", nil },
		"an error":      func(context.Context) (string, error) { return "", errors.New("env:FORGE_TOKEN is not set") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newFake(t)
			_, err := w.client(t, func(o *gitea.ForgeOptions) { o.Token = token }).ListBranchPRs(t.Context(), "work")
			if err == nil || !strings.Contains(err.Error(), "the token of acme/shop") || w.requests("") != 0 {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestPostIsNotSentOnAsGet(t *testing.T) {
	w := newFake(t)
	w.PushBranch(t, "work")
	moved := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			say(rw, 200, []string{})
			return
		}
		http.Redirect(rw, r, w.server.URL+r.URL.Path, http.StatusMovedPermanently)
	}))
	defer moved.Close()
	_, err := w.client(t, func(o *gitea.ForgeOptions) { o.URL = moved.URL }).CreatePR(t.Context(), tracker.NewPR{Branch: "work", Base: "main", Title: "T"})
	if err == nil || !strings.Contains(err.Error(), "give its new url") || w.requests("") != 0 {
		t.Errorf("error: %v", err)
	}
}

func TestContextEndsEverything(t *testing.T) {
	w := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.before = func(*http.Request) { cancel() }
	if _, err := w.OpenClient(t).ReadPR(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
}

func TestNewOpensNothing(t *testing.T) {
	w := newFake(t)
	w.PushBranch(t, "work")
	f := w.OpenClient(t)
	if n := w.requests(""); n != 0 {
		t.Errorf("%d requests before there was anything to ask", n)
	}
	if _, err := f.CreatePR(t.Context(), tracker.NewPR{Branch: "work", Base: "main", Title: "T"}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadPR(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if n := w.requests("GET /version"); n != 0 {
		t.Errorf("asked %d times for the version, which nothing needed", n)
	}
}

func TestMomentOfCreation(t *testing.T) {
	w := newFake(t)
	w.PushBranch(t, "work")
	pr, err := w.OpenClient(t).CreatePR(t.Context(), tracker.NewPR{Branch: "work", Base: "main", Title: "T"})
	if err != nil || !pr.CreatedAt.Equal(began.Add(time.Hour)) {
		t.Errorf("%v %v", pr.CreatedAt, err)
	}
}

func refused(t *testing.T, err error, why string) {
	t.Helper()
	var no *board.Refusal
	if !errors.As(err, &no) || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "\n") {
		t.Errorf("no refusal that says %q: %v", why, err)
	}
}
