package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/adapter/git"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/server/forges"
	"orange/internal/trackertest/fakegithub"
)

const someTask = task.ID("0123456789abcdefghijk")

// env is a repository with a remote whose pull requests are at a GitHub: branch feature has a pull request.
type env struct {
	t            *testing.T
	root, remote string
	github       *fakegithub.FakeServer
	number       int
	project      task.Project
	now          time.Time
	service      Service
	updated      string // the head that GitHub made
}

func newEnv(t *testing.T) *env {
	t.Helper()
	dir := t.TempDir()
	e := &env{t: t, root: filepath.Join(dir, "shop"), remote: filepath.Join(dir, "origin.git"), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	e.git(dir, "init", "-q", "--bare", "-b", "main", e.remote)
	e.git(dir, "clone", "-q", e.remote, e.root)
	e.commit("README", "begin\n")
	e.git(e.root, "push", "-q", "origin", "main")
	e.git(e.root, "switch", "-q", "-c", "feature")
	e.commit("feature", "f\n")
	e.git(e.root, "push", "-q", "origin", "feature")
	e.git(e.root, "switch", "-q", "main")

	var err error
	if e.github, err = fakegithub.New(fakegithub.FakeOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.github.Stop)
	e.github.AdoptCommit("main", e.at("main"))
	e.number = e.github.AddPull(t, "feature", "Feature", "")
	e.github.AdoptCommit("feature", e.at("feature"))
	e.github.UseRepository(func(branch, base string) { e.updated = e.merge(base, branch) }, func(branch, base string) string { return e.merge(branch, base) })
	t.Setenv("ORANGE_SECRET_TEST", e.github.Secret())
	e.project = task.Project{Name: "shop", Path: e.root, DefaultBranch: "main", Policy: task.Policy{
		Delivery: task.DeliverPR, MergePR: task.MergePRAuto,
		Forge: task.Forge{Kind: task.ForgeGitHub, URL: e.github.URL(), Scope: e.github.Scope(), Token: "env:ORANGE_SECRET_TEST"},
	}}
	log := slog.New(slog.DiscardHandler)
	e.service = Service{
		Git: git.New(), Forges: &forges.Directory{Git: git.New(), Log: log}, Log: log, Waits: &Waits{Clock: func() time.Time { return e.now }},
		Project:         func(string) (task.Project, bool) { return e.project, true },
		RequireApproval: func(context.Context, task.Project, *task.Task) error { return nil },
	}
	return e
}

func (e *env) git(dir string, args ...string) string {
	e.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		e.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (e *env) commit(file, text string) {
	e.t.Helper()
	if err := os.WriteFile(filepath.Join(e.root, file), []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
	e.git(e.root, "add", file)
	e.git(e.root, "commit", "-qm", file)
}

// at returns the commit of a branch of the remote.
func (e *env) at(branch string) string { return e.git(e.remote, "rev-parse", branch) }

// merge merges a branch of the remote into another one, as a forge does, and returns the commit.
func (e *env) merge(branch, into string) string {
	e.t.Helper()
	dir := e.t.TempDir()
	e.git(dir, "clone", "-q", "-b", into, e.remote, "scratch")
	e.git(filepath.Join(dir, "scratch"), "merge", "-q", "--no-ff", "-m", "Merge", "origin/"+branch)
	e.git(filepath.Join(dir, "scratch"), "push", "-q", "origin", into)
	return e.at(into)
}

// person commits a file to a branch of the remote.
func (e *env) person(branch, file, text string) {
	e.t.Helper()
	dir := filepath.Join(e.t.TempDir(), "person")
	e.git(e.root, "clone", "-q", "-b", branch, e.remote, dir)
	if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
	e.git(dir, "add", ".")
	e.git(dir, "commit", "-qm", "of a person")
	e.git(dir, "push", "-q", "origin", branch)
	e.github.AdoptCommit(branch, e.at(branch))
}

// lands requests the merge, and compares what came of it.
func (e *env) lands(outcome, words string) task.Candidate {
	e.t.Helper()
	pull := fmt.Sprintf("%s/%s/pull/%d", e.github.URL(), e.github.Scope(), e.number)
	t := task.Task{ID: someTask, Project: "shop", Branch: "feature", Resources: task.Resources{PRURL: pull}, Setup: task.Setup{Delivery: task.DeliverPR}}
	done, err := e.service.Merge(e.t.Context(), t, task.Effect{ID: "e", Do: task.MergeDo, Arg: task.LandAuto})
	said := ""
	if err != nil {
		said = err.Error()
	}
	if done.Landing != outcome || !strings.Contains(said, words) || (err == nil) != (words == "") {
		e.t.Fatalf("%q, %q; want %q, %q", done.Landing, said, outcome, words)
	}
	if outcome == signal.LandingWaits && done.Since.IsZero() {
		e.t.Error("it does not say since when it waits")
	}
	if done.Candidate == nil {
		return task.Candidate{}
	}
	return *done.Candidate
}

func TestAPullRequestIsMergedThroughTheForge(t *testing.T) {
	e := newEnv(t)
	head := e.at("feature")
	e.github.RequireChecks(t, "build")
	e.github.AddCheck(t, head, tracker.Check{Name: "nightly", State: tracker.CheckFailed}) // nobody requires it
	e.lands(signal.LandingWaits, "waits for checks at "+head[:12]+": build")
	e.github.AddCheck(t, head, tracker.Check{Name: "build", State: tracker.CheckPending})
	e.lands(signal.LandingWaits, "build")
	e.github.AddCheck(t, head, tracker.Check{Name: "build", State: tracker.CheckFailed})
	if c := e.lands(task.LandingFailed, "failed at "+head[:12]+": build"); c.TargetName() != "origin/main" || c.Head != head {
		t.Errorf("%+v", c)
	}
	e.github.AddCheck(t, head, tracker.Check{Name: "build", State: tracker.CheckPassed})

	e.person("main", "theirs", "x\n")
	e.lands(signal.LandingWaits, "is being brought up to date with main")
	e.github.AdoptCommit("feature", e.updated)
	if e.git(e.root, "rev-parse", "feature") != head {
		t.Error("the branch here was written")
	}
	e.lands(signal.LandingWaits, "waits for checks at "+e.updated[:12]+": build")
	e.github.AddCheck(t, e.updated, tracker.Check{Name: "build", State: tracker.CheckPassed})

	e.github.RefuseMerges("At least 1 approving review is required by reviewers with write access.")
	e.lands(task.LandingBlocked, "At least 1 approving review is required by reviewers with write access.")
	e.github.RefuseMerges("")
	if c := e.lands("", ""); c.Head != e.updated || c.Commit != e.at("main") {
		t.Errorf("%+v", c)
	}
	if files := e.git(e.root, "ls-tree", "--name-only", "origin/main"); files != "README\nfeature\ntheirs" {
		t.Errorf("main has %q", files)
	}
	e.lands("", "") // it was merged before
}

func TestAPullRequestThatAPersonMerges(t *testing.T) {
	e := newEnv(t)
	e.project.MergePR = ""
	e.lands("", "is open: merge it there (it has no checks), or")
	e.github.AddCheck(t, e.at("feature"), tracker.Check{Name: "build", State: tracker.CheckPassed})
	e.github.AddReview(t, e.number, tracker.Review{Author: "ann", Verdict: tracker.Approved, Text: "good"})
	e.lands("", "is open: merge it there (its required checks passed, ann approved it), or")
}

func TestWhatIsNotTheWorkOfTheTaskIsNotMerged(t *testing.T) {
	e := newEnv(t)
	e.person("feature", "more", "x\n")
	e.lands("", `has commits that branch feature does not have: review them, bring them here with git pull --no-rebase origin feature in the folder that orange task path `+string(someTask)+` prints, and request the merge again`)
	e.git(e.root, "switch", "-q", "feature")
	e.git(e.root, "pull", "-q", "--no-rebase", "origin", "feature")
	e.commit("unpushed", "x\n")
	e.lands("", "push it with orange task push")
}

func TestAConflictOfAPullRequestGoesBackWithItsFiles(t *testing.T) {
	e := newEnv(t)
	e.person("main", "feature", "theirs\n")
	e.github.ForbidMerging(true)
	c := e.lands(task.LandingConflict, "feature and main conflict")
	if c.TargetName() != "origin/main" || c.Ref == "" || e.git(e.root, "rev-parse", c.Ref) != e.git(e.root, "rev-parse", "feature") {
		t.Errorf("%+v", c)
	}
}

// Of several tasks that wait for the same person, each is told the same time.
func TestWaits(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := Waits{Clock: func() time.Time { return now }}
	first := w.since("x")
	for range 6 {
		now = now.Add(time.Minute)
		if got := w.since("x"); !got.Equal(first) {
			t.Fatalf("since %s, not %s", got, first)
		}
	}
	if got := w.since("y"); !got.Equal(now) {
		t.Errorf("something else waits since %s", got)
	}
	now = now.Add(3 * time.Minute)
	if got := w.since("x"); !got.Equal(now) {
		t.Errorf("nobody saw it for a while, and it counts since %s", got)
	}
	now = now.Add(time.Second)
	w.forget("x")
	if got := w.since("x"); !got.Equal(now) {
		t.Errorf("it was over, and counts since %s", got)
	}
}
