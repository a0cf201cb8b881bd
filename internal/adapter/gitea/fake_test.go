package gitea_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"orange/internal/adapter/gitea"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
	"orange/internal/trackertest"
)

const (
	owner = "acme"
	repo  = "shop"
	token = "a-token-that-nobody-may-see"
)

// began is when the fake's first pull request was opened.
var began = time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)

// A fake is a Gitea with one repository: its responses are those of a real one. It returns
// small pages, and fails on demand.
type fake struct {
	server  *httptest.Server
	version string
	style   sdk.MergeStyle              // "" if merge commits are allowed
	blind   bool                        // it opens a second one, as a real one does in a race
	refusal func(w http.ResponseWriter) // of merges, instead of doing them
	before  func(r *http.Request)

	mu       sync.Mutex
	branches map[string]string
	pulls    []*sdk.PullRequest
	statuses map[string][]*sdk.Status
	reviews  map[int64][]*sdk.PullReview
	remarks  map[int64][]*sdk.PullReviewComment
	asked    []string // METHOD path
	last     int64
	fault    trackertest.Fault
	required []string
}

// atOnce is the largest page, whatever the request.
const atOnce = 3

func newFake(t testing.TB) *fake {
	t.Helper()
	f := &fake{
		version: "1.25.5", branches: map[string]string{"main": sum("main")}, statuses: map[string][]*sdk.Status{},
		reviews: map[int64][]*sdk.PullReview{}, remarks: map[int64][]*sdk.PullReviewComment{},
	}
	mux := http.NewServeMux()
	at := "/api/v1/repos/" + owner + "/" + repo
	mux.HandleFunc("GET /api/v1/version", func(w http.ResponseWriter, _ *http.Request) { say(w, 200, map[string]string{"version": f.version}) })
	mux.HandleFunc("GET "+at, func(w http.ResponseWriter, _ *http.Request) {
		say(w, 200, sdk.Repository{AllowMerge: f.style == "", DefaultMergeStyle: cmp.Or(f.style, sdk.MergeStyleMerge)})
	})
	mux.HandleFunc("GET "+at+"/pulls", f.list)
	mux.HandleFunc("POST "+at+"/pulls", f.create)
	mux.HandleFunc("PATCH "+at+"/pulls/{n}", f.edit)
	mux.HandleFunc("GET "+at+"/pulls/{n}", f.show)
	mux.HandleFunc("POST "+at+"/pulls/{n}/merge", f.merge)
	mux.HandleFunc("POST "+at+"/pulls/{n}/update", f.update)
	mux.HandleFunc("GET "+at+"/branches/{name}", func(w http.ResponseWriter, r *http.Request) {
		if f.branches[r.PathValue("name")] == "" {
			say(w, 404, problem("branch does not exist"))
			return
		}
		say(w, 200, sdk.Branch{Name: r.PathValue("name"), Protected: len(f.required) > 0, EnableStatusCheck: len(f.required) > 0, StatusCheckContexts: f.required})
	})
	mux.HandleFunc("GET "+at+"/commits/{ref}/statuses", func(w http.ResponseWriter, r *http.Request) { page(w, r, f.statuses[r.PathValue("ref")]) })
	mux.HandleFunc("GET "+at+"/pulls/{n}/reviews", func(w http.ResponseWriter, r *http.Request) { page(w, r, f.reviews[id(r, "n")]) })
	mux.HandleFunc("GET "+at+"/pulls/{n}/reviews/{id}/comments", func(w http.ResponseWriter, r *http.Request) { say(w, 200, f.remarks[id(r, "id")]) })
	f.server = httptest.NewServer(f.guard(mux))
	t.Cleanup(f.server.Close)
	return f
}

// guard lets in whom it knows, one at a time, and fails if that is due.
func (f *fake) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.asked = append(f.asked, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/v1"))
		if f.before != nil {
			f.before(r)
		}
		kind := ""
		if f.fault.Times > 0 && (!f.fault.Writes || r.Method != http.MethodGet) {
			f.fault.Times--
			kind = f.fault.Kind
		}
		switch {
		case kind == trackertest.Denied || r.Header.Get("Authorization") != "token "+token:
			say(w, 401, problem("invalid username, password or token"))
		case kind == trackertest.Broken:
			http.Error(w, "<html>broken</html>", http.StatusInternalServerError)
		case kind == trackertest.Limited:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "slowly", http.StatusTooManyRequests)
		case kind == trackertest.Lost:
			next.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	var out []*sdk.PullRequest
	for _, p := range slices.Backward(f.pulls) {
		if state := r.FormValue("state"); state == "all" || string(p.State) == cmp.Or(state, "open") {
			out = append(out, f.now(p))
		}
	}
	page(w, r, out)
}

func (f *fake) create(w http.ResponseWriter, r *http.Request) {
	var o sdk.CreatePullRequestOption
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		say(w, 422, problem(err.Error()))
		return
	}
	head, base := f.branches[o.Head], f.branches[o.Base]
	switch {
	case head == "" || base == "":
		say(w, 404, problem("The target couldn't be found."))
	case !f.blind && slices.ContainsFunc(f.pulls, func(p *sdk.PullRequest) bool {
		return p.State == sdk.StateOpen && p.Head.Name == o.Head && p.Base.Ref == o.Base && p.Head.RepoID == 1
	}):
		say(w, 409, problem("pull request already exists for these targets"))
	default:
		say(w, 201, f.now(f.add(o.Title, o.Body, o.Head, o.Base)))
	}
}

func (f *fake) add(title, body, head, base string) *sdk.PullRequest {
	n := int64(len(f.pulls) + 1)
	at := began.Add(time.Duration(n) * time.Hour)
	p := &sdk.PullRequest{
		Index: n, Title: title, Body: body, State: sdk.StateOpen, Mergeable: true, Created: &at, Updated: &at,
		Draft: strings.HasPrefix(title, "WIP:"), Poster: &sdk.User{ID: 1, UserName: "orange"},
		HTMLURL: fmt.Sprintf("https://forge.example.invalid/%s/%s/pulls/%d", owner, repo, n),
		Head:    &sdk.PRBranchInfo{Name: head, Ref: head, RepoID: 1, Sha: f.branches[head]}, Base: &sdk.PRBranchInfo{Name: base, Ref: base, RepoID: 1},
	}
	p.Mergeable = !p.Draft
	f.pulls = append(f.pulls, p)
	return p
}

// now returns a pull request with the head that its branch has; a merged one keeps its own.
func (f *fake) now(p *sdk.PullRequest) *sdk.PullRequest {
	if commit, ok := f.branches[p.Head.Name]; ok && !p.HasMerged && p.Head.RepoID == 1 {
		p.Head.Sha = commit
	}
	return p
}

func (f *fake) find(r *http.Request) *sdk.PullRequest {
	n := id(r, "n")
	if n < 1 || n > int64(len(f.pulls)) {
		return nil
	}
	return f.now(f.pulls[n-1])
}

func (f *fake) show(w http.ResponseWriter, r *http.Request) {
	p := f.find(r)
	if p == nil {
		say(w, 404, problem("The target couldn't be found."))
		return
	}
	say(w, 200, p)
}

func (f *fake) edit(w http.ResponseWriter, r *http.Request) {
	var o sdk.EditPullRequestOption
	p := f.find(r)
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil || p == nil || o.State == nil {
		say(w, 422, problem("nothing to do"))
		return
	}
	p.State = *o.State
	say(w, 201, p)
}

func (f *fake) update(w http.ResponseWriter, r *http.Request) {
	p := f.find(r)
	if p == nil || p.State != sdk.StateOpen {
		say(w, 404, problem("The target couldn't be found."))
		return
	}
	f.last++
	f.branches[p.Head.Name] = sum(fmt.Sprint(p.Head.Name, f.last))
	w.WriteHeader(http.StatusOK)
}

func (f *fake) RequireChecks(_ testing.TB, names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.required = names
}

func (f *fake) merge(w http.ResponseWriter, r *http.Request) {
	var o sdk.MergePullRequestOption
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		say(w, 422, problem(err.Error()))
		return
	}
	p := f.find(r)
	switch {
	case p == nil || !p.HasMerged && p.State != sdk.StateOpen:
		say(w, 404, problem("The target couldn't be found."))
	case p.HasMerged:
		say(w, 405, problem("The PR is already merged"))
	case p.Draft:
		say(w, 405, problem("Work in progress PRs cannot be merged"))
	case !p.Mergeable:
		say(w, 405, problem("Please try again later"))
	case o.Style != cmp.Or(f.style, sdk.MergeStyleMerge):
		say(w, 405, problem(string(o.Style)+" is not allowed an allowed merge style for this repository"))
	case o.HeadCommitId != p.Head.Sha:
		say(w, 409, problem("head out of date"))
	case f.refusal != nil:
		f.refusal(w)
	default:
		p.HasMerged, p.State, p.Mergeable = true, sdk.StateClosed, false
		w.WriteHeader(http.StatusOK)
	}
}

// The rest makes it a world.

func (f *fake) OpenClient(t testing.TB) trackers.Forge { return f.client(t, nil) }

// client opens the adapter, with other options if that is wanted.
func (f *fake) client(t testing.TB, change func(*gitea.ForgeOptions)) *gitea.Repository {
	t.Helper()
	o := gitea.ForgeOptions{
		URL: f.server.URL, Scope: owner + "/" + repo, HTTP: f.server.Client(),
		Token: func(context.Context) (string, error) { return token, nil },
		Now:   func() time.Time { return began.Add(1000 * time.Hour) },
	}
	if change != nil {
		change(&o)
	}
	forge, err := gitea.New(o)
	if err != nil {
		t.Fatal(err)
	}
	gitea.Hasten(forge)
	return forge
}

func (f *fake) BaseBranch() string { return "main" }

func (f *fake) PushBranch(_ testing.TB, branch string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	f.branches[branch] = sum(fmt.Sprint(branch, f.last))
	return f.branches[branch]
}

func (f *fake) AddCheck(t testing.TB, commit string, c tracker.Check) {
	t.Helper()
	states := map[string]sdk.StatusState{tracker.CheckPending: "pending", tracker.CheckPassed: "success", tracker.CheckFailed: "failure"}
	f.status(commit, &sdk.Status{State: states[c.State], Context: c.Name, TargetURL: c.URL, Description: c.Text})
}

func (f *fake) status(commit string, s *sdk.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	s.ID = f.last
	f.statuses[commit] = append(f.statuses[commit], s)
}

func (f *fake) AddReview(_ testing.TB, number int, r tracker.Review) {
	f.mu.Lock()
	defer f.mu.Unlock()
	states := map[string]sdk.ReviewStateType{tracker.Approved: "APPROVED", tracker.ChangesRequested: "REQUEST_CHANGES", tracker.Commented: "COMMENT"}
	f.last++
	raw := &sdk.PullReview{
		ID: f.last, Reviewer: &sdk.User{ID: 7, UserName: r.Author}, State: states[r.Verdict], Body: r.Text,
		CommitID: cmp.Or(r.Commit, f.now(f.pulls[number-1]).Head.Sha), CodeCommentsCount: len(r.Lines), Submitted: began.Add(time.Duration(f.last) * time.Minute),
	}
	f.reviews[int64(number)] = append(f.reviews[int64(number)], raw)
	for i, l := range slices.Backward(r.Lines) {
		f.remarks[raw.ID] = append(f.remarks[raw.ID], &sdk.PullReviewComment{ID: int64(i + 1), Path: l.File, LineNum: uint64(l.Line), Body: l.Text})
	}
}

func (f *fake) ClosePull(_ testing.TB, number int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pulls[number-1].State = sdk.StateClosed
}

func (f *fake) InjectFault(fault trackertest.Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

func (f *fake) CanDo(string) bool { return true }

func (f *fake) Secret() string { return token }

// requests returns those so far that begin so.
func (f *fake) requests(prefix string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, a := range f.asked {
		if strings.HasPrefix(a, prefix) {
			n++
		}
	}
	return n
}

func problem(text string) map[string]string {
	return map[string]string{"message": text, "url": "https://forge.example.invalid/api/swagger"}
}

func say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// page returns a part of a list, and the total. Like a real Gitea, it links to the next page
// only in some lists.
func page[T any](w http.ResponseWriter, r *http.Request, list []T) {
	n, _ := strconv.Atoi(r.FormValue("page"))
	from := min((max(n, 1)-1)*atOnce, len(list))
	to := min(from+atOnce, len(list))
	w.Header().Set("X-Total-Count", strconv.Itoa(len(list)))
	say(w, 200, append([]T{}, list[from:to]...))
}

func id(r *http.Request, name string) int64 {
	n, _ := strconv.ParseInt(r.PathValue(name), 10, 64)
	return n
}

// sum returns something that looks like a commit.
func sum(of string) string { return fmt.Sprintf("%040x", []byte(of + "....................")[:20]) }
