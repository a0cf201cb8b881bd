//go:build forge

package forge_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"orange/internal/adapter/gitea"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
	"orange/internal/trackertest"
	"orange/internal/transport"
)

// A world is one repository of the server, a clone of it, and people. The adapter's requests go through a proxy that
// fails on demand; all others do not.
type world struct {
	*server
	token  string // of the adapter
	repo   string
	clone  string
	proxy  string
	pushed int

	mu    sync.Mutex
	fault trackertest.Fault
	users map[string]bool
}

// open creates a repository with one commit on main.
func (s *server) open(t *testing.T, repo string) *world {
	t.Helper()
	w := &world{server: s, token: s.token, repo: repo, clone: filepath.Join(t.TempDir(), "clone"), users: map[string]bool{chief: true}}
	_, _, err := s.as(t, chief).CreateRepo(sdk.CreateRepoOption{Name: repo, DefaultBranch: "main"})
	must(t, err)
	w.proxy = w.serve(t)
	must(t, os.Mkdir(w.clone, 0o700))
	w.git(t, "init", "--quiet", "--initial-branch=main")
	w.git(t, "remote", "add", "origin", s.url+"/"+chief+"/"+repo+".git")
	w.write(t, "README.md", "hello\n")
	w.git(t, "commit", "--quiet", "-m", "begin")
	w.git(t, "push", "--quiet", "origin", "main")
	until(t, "the repository is empty no more", func() bool { // the forge notices it a moment later
		r, _, err := s.as(t, chief).GetRepo(chief, repo)
		return err == nil && !r.Empty
	})
	return w
}

func (w *world) OpenClient(t testing.TB) trackers.Forge {
	t.Helper()
	return w.adapter(t, nil, time.Now)
}

// withRetries returns the adapter as Orange uses it, over a transport that retries.
func (w *world) withRetries(t testing.TB) trackers.Forge {
	t.Helper()
	return w.adapter(t, &http.Client{Transport: transport.New(transport.ClientOptions{Name: "gitea"})}, time.Now)
}

func (w *world) adapter(t testing.TB, client *http.Client, now func() time.Time) trackers.Forge {
	t.Helper()
	f, err := gitea.New(gitea.ForgeOptions{
		URL: w.proxy, Scope: chief + "/" + w.repo, HTTP: client, Now: now,
		Token: func(context.Context) (string, error) { return w.token, nil },
	})
	must(t, err)
	return f
}

func (w *world) BaseBranch() string { return "main" }

// PushBranch adds a unique file to the branch, so that branches do not conflict, and the files that reviews are about,
// which are the same everywhere.
func (w *world) PushBranch(t testing.TB, branch string) string {
	t.Helper()
	w.pushed++
	w.on(t, branch)
	for _, name := range []string{"main.go", "docs/läs mig.md", fmt.Sprintf("file%d.txt", w.pushed)} {
		w.write(t, name, "one\ntwo\nthree\nfour\nfive\n")
	}
	return w.push(t, branch)
}

// commit pushes one file.
func (w *world) commit(t testing.TB, branch, name, text string) string {
	t.Helper()
	w.on(t, branch)
	w.write(t, name, text)
	return w.push(t, branch)
}

func (w *world) on(t testing.TB, branch string) {
	t.Helper()
	w.git(t, "fetch", "--quiet", "--prune", "origin")
	from := "origin/" + branch
	if w.git(t, "branch", "--remotes", "--list", from) == "" {
		from = "origin/main"
	}
	w.git(t, "switch", "--quiet", "--no-track", "--force-create", branch, from)
}

func (w *world) push(t testing.TB, branch string) string {
	t.Helper()
	w.git(t, "commit", "--quiet", "-m", "change "+branch)
	w.git(t, "push", "--quiet", "origin", branch)
	return w.git(t, "rev-parse", "HEAD")
}

func (w *world) write(t testing.TB, name, text string) {
	t.Helper()
	file := filepath.Join(w.clone, name)
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must(t, os.WriteFile(file, []byte(text), 0o600))
	w.git(t, "add", name)
}

// git runs git in the clone. The token is only in the environment of the process.
func (w *world) git(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = w.clone
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.invalid",
		"GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.invalid",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraHeader", "GIT_CONFIG_VALUE_0=Authorization: token " + w.server.token,
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) AddCheck(t testing.TB, commit string, c tracker.Check) {
	t.Helper()
	states := map[string]sdk.StatusState{
		tracker.CheckPending: sdk.StatusPending, tracker.CheckPassed: sdk.StatusSuccess, tracker.CheckFailed: sdk.StatusFailure,
	}
	w.status(t, commit, sdk.CreateStatusOption{State: states[c.State], Context: c.Name, TargetURL: c.URL, Description: c.Text})
}

func (w *world) status(t testing.TB, commit string, o sdk.CreateStatusOption) {
	t.Helper()
	_, _, err := w.as(t, chief).CreateStatus(chief, w.repo, commit, o)
	must(t, err)
}

func (w *world) AddReview(t testing.TB, number int, r tracker.Review) {
	t.Helper()
	w.person(t, r.Author)
	states := map[string]sdk.ReviewStateType{
		tracker.Approved: sdk.ReviewStateApproved, tracker.ChangesRequested: sdk.ReviewStateRequestChanges, tracker.Commented: sdk.ReviewStateComment,
	}
	o := sdk.CreatePullReviewOptions{State: states[r.Verdict], Body: r.Text, CommitID: r.Commit}
	for _, l := range r.Lines {
		o.Comments = append(o.Comments, sdk.CreatePullReviewComment{Path: l.File, Body: l.Text, NewLineNum: int64(l.Line)})
	}
	_, _, err := w.as(t, r.Author).CreatePullReview(chief, w.repo, int64(number), o)
	must(t, err)
}

// person creates an account that may work in the repository.
func (w *world) person(t testing.TB, who string) {
	t.Helper()
	if w.users[who] {
		return
	}
	w.users[who] = true
	no, write := false, sdk.AccessModeWrite
	if _, _, err := w.as(t, chief).GetUserInfo(who); err != nil {
		_, _, err := w.as(t, chief).AdminCreateUser(sdk.CreateUserOption{
			Username: who, Email: who + "@example.invalid", Password: "Correct-horse-" + who, MustChangePassword: &no,
		})
		must(t, err)
	}
	_, err := w.as(t, chief).AddCollaborator(chief, w.repo, who, sdk.AddCollaboratorOption{Permission: &write})
	must(t, err)
}

func (w *world) ClosePull(t testing.TB, number int) {
	t.Helper()
	closed := sdk.StateClosed
	_, _, err := w.as(t, chief).EditPullRequest(chief, w.repo, int64(number), sdk.EditPullRequestOption{State: &closed})
	must(t, err)
}

func (w *world) RequireChecks(t testing.TB, names ...string) {
	t.Helper()
	_, _, err := w.as(t, chief).CreateBranchProtection(chief, w.repo, sdk.CreateBranchProtectionOption{RuleName: "main", EnableStatusCheck: true, StatusCheckContexts: names})
	must(t, err)
}

func (w *world) InjectFault(f trackertest.Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = f
}

// CanDo reports whether the world has a fault: all, because the proxy makes them.
func (w *world) CanDo(string) bool { return true }

func (w *world) Secret() string { return w.token }

// failing returns one of the failures that are due.
func (w *world) failing(r *http.Request) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fault.Times == 0 || w.fault.Writes && r.Method == http.MethodGet {
		return ""
	}
	w.fault.Times--
	return w.fault.Kind
}

func (w *world) serve(t *testing.T) string {
	t.Helper()
	to, err := url.Parse(w.url)
	must(t, err)
	through := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch w.failing(r) {
		case trackertest.Broken:
			http.Error(rw, "broken", http.StatusInternalServerError)
		case trackertest.Limited:
			rw.Header().Set("Retry-After", "1")
			http.Error(rw, "slowly", http.StatusTooManyRequests)
		case trackertest.Denied:
			http.Error(rw, `{"message":"invalid username, password or token"}`, http.StatusUnauthorized)
		case trackertest.Lost:
			through.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		default:
			through.ServeHTTP(rw, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
