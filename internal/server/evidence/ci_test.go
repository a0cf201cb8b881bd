package evidence

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/adapter/git"
	"orange/internal/adapter/github"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
	"orange/internal/runtime/local"
	"orange/internal/runtime/trackers"
	"orange/internal/trackertest/fakegithub"
)

func TestTheChecksOfThePullRequestAreEvidence(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repo")
	gitIn(t, t.TempDir(), "init", "-qb", "main", dir)
	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "begin")
	gitIn(t, dir, "checkout", "-qb", "feature")
	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "work")
	head := gitIn(t, dir, "rev-parse", "HEAD")

	forge, err := fakegithub.New(fakegithub.FakeOptions{})
	check(t, err)
	t.Cleanup(forge.Stop)
	_, client, err := github.New(github.RepositoryOptions{URL: forge.URL(), Scope: forge.Scope(), Token: func(context.Context) (string, error) { return forge.Secret(), nil }})
	check(t, err)
	source := Source{Git: git.New(), Pull: func(ctx context.Context, _ task.Project, url, branch string) (tracker.PR, error) {
		pr, ok, err := trackers.FindPR(ctx, client, url, branch)
		if err == nil && !ok {
			err = tracker.ErrNotFound
		}
		return pr, err
	}, Required: func(ctx context.Context, p task.Project) ([]string, error) {
		return client.RequiredChecks(ctx, p.DefaultBranch)
	}}
	q := local.Question{Name: workflow.CI, Project: task.Project{Name: "p", Path: dir, DefaultBranch: "main"}, Task: &task.Task{ID: "t", Branch: "feature"}}
	probe := func(holds bool, detail string) {
		t.Helper()
		if e := source.Probe(t.Context(), q); e.Holds != holds || !strings.Contains(e.Detail, detail) {
			t.Errorf("%v, %q; want %v, %q", e.Holds, e.Detail, holds, detail)
		}
	}
	probe(false, "does not deliver by pull request")
	q.Task.Delivery = task.DeliverPR
	probe(false, "has no pull request: open one with orange task create-pr t")
	forge.AddPull(t, "feature", "T", "")
	probe(false, "push it with orange task push t")
	forge.AdoptCommit("feature", head)
	probe(false, "has no checks yet")
	forge.AddCheck(t, head, tracker.Check{Name: "build", State: tracker.CheckPassed})
	forge.AddCheck(t, head, tracker.Check{Name: "ci/test", State: tracker.CheckPending})
	probe(false, "pending: ci/test")
	forge.AddCheck(t, head, tracker.Check{Name: "ci/test", State: tracker.CheckFailed})
	probe(false, "failed: ci/test")
	forge.AddCheck(t, head, tracker.Check{Name: "ci/test", State: tracker.CheckPassed})
	probe(true, "all 2 checks")
	forge.AddCheck(t, head, tracker.Check{Name: "nightly", State: tracker.CheckFailed})
	probe(false, "failed: nightly")
	forge.RequireChecks(t, "build", "ci/test")
	probe(true, "all 2 required checks")
	forge.RequireChecks(t, "build", "ci/deploy")
	probe(false, "pending: ci/deploy")
	forge.RequireChecks(t)
	forge.AddCheck(t, head, tracker.Check{Name: "nightly", State: tracker.CheckPassed})

	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "more")
	probe(false, "push it with orange task push t")
	forge.Stop()
	probe(false, "")
}
