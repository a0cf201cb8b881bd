package main

import (
	"encoding/json"
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/trackertest/fakelinear"
)

// oneWorker is an agent of the workflow solo.
const oneWorker = `
worker:
  - commit: {file: "{task}.txt", text: "done\n", message: do it}
  - run: orange task update --status reviewing
`

// runs runs orange run --json to its end and returns the task that it created.
func (s *env) runs(args ...string) task.ID {
	s.t.Helper()
	out := s.orange(append([]string{"run", "--json", "--harness", "script:" + s.write("scripts/solo.yaml", oneWorker), "--workflow", "solo"}, args...)...)
	var first, last struct {
		Event, Result, State string
		Task                 *task.Task
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	check(s.t, json.Unmarshal([]byte(lines[0]), &first))
	check(s.t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	if first.Task == nil || last.Result != "reached" || last.State != "reviewing" {
		s.t.Fatalf("it ended with %+v:\n%s", last, out)
	}
	return first.Task.ID
}

// An issue of Linear, read over HTTP, becomes a task that is linked with it, once.
func TestRunWorksOnAnIssueOfLinear(t *testing.T) {
	t.Parallel()
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	s := openEnv(t, "headless")
	s.secret("linear.token", w.Secret())
	s.addTracker("lin", oneWorker, "--kind", "linear", "--url", w.URL, "--scope", "ENG", "--author", "alice", "--column", "In Review=Delivered")
	key := w.AddIssue(t, filed("Show the cart", "Backlog"))
	address := "https://linear.app/acme/issue/" + key + "/show-the-cart"
	s.refused("read issue ENG-99 of lin", "run", "--issue", "https://linear.app/acme/issue/ENG-99")
	id := s.runs("--issue", address)
	got := s.task(id)
	if got.TrackerRef != "lin:"+key || got.Summary != "Show the cart" || !strings.HasPrefix(got.Branch, strings.ToLower(key)) {
		t.Errorf("%+v", got)
	}
	hasAll(t, "the task", s.orange("task", "show", string(id)), "Do it well.")
	hasAll(t, "the prompt", s.prompt(id, 1), "Do it well.")
	s.refused("has a task: orange run --follow "+string(id), "run", "--issue", address)
	s.sound(id)
}

// An issue of the project's own repository needs no tracker. Its words are quoted: they are no requirements.
func TestRunWorksOnAnIssueOfGitHub(t *testing.T) {
	t.Parallel()
	s, h := openHub(t)
	key := h.AddIssue(t, filed("Log in", "Backlog"))
	issues := strings.TrimSuffix(h.URL(), "/") + "/" + h.Scope() + "/issues/"
	s.refused("read issue 99 of "+h.Scope(), "run", "--issue", issues+"99")
	s.refused("no tracker or forge of project shop has the issues of other/repo", "run", "--issue", strings.Replace(issues, h.Scope(), "other/repo", 1)+key)
	id := s.runs("--issue", issues+key)
	got := s.task(id)
	if got.Summary != "Log in" {
		t.Errorf("%+v", got)
	}
	shown := s.orange("task", "show", string(id))
	hasAll(t, "the task", shown, "Do it well.", "## Context")
	if strings.Contains(shown, "## Requirements") {
		t.Errorf("text of a tracker is a requirement:\n%s", shown)
	}
	s.sound(id)
}

// Work for another base is pushed, and its pull request asks to merge into that base; main stays as it is.
func TestAPullRequestGoesToAnotherBase(t *testing.T) {
	t.Parallel()
	s, h := openHub(t)
	s.git(s.repo, "switch", "-qc", "release/2.1")
	s.write("shop/release.txt", "2.1\n")
	s.git(s.repo, "add", ".")
	s.git(s.repo, "commit", "-qm", "release")
	s.git(s.repo, "push", "-q", "origin", "release/2.1")
	s.git(s.repo, "switch", "-q", "main")
	before := s.git(h.bare, "rev-parse", "main")
	id := s.create("hotfix", diligent, "--base", "release/2.1")
	got := s.reaches(id, "reviewing")
	number := pullOf(s, got)
	if branch, base := h.PullBranches(t, number); base != "release/2.1" || branch != "hotfix" {
		t.Errorf("it asks to merge %s into %s", branch, base)
	}
	s.git(h.bare, "merge-base", "--is-ancestor", "release/2.1", "hotfix") // it starts there
	h.AcceptPull(t, number)
	s.git(h.bare, "update-ref", "refs/heads/release/2.1", s.git(h.bare, "rev-parse", "hotfix"))
	s.heard()
	if got = s.rests(id, "done"); got.PRState != tracker.Merged || got.BaseBranch != "release/2.1" {
		t.Errorf("%+v", got)
	}
	if after := s.git(h.bare, "rev-parse", "main"); after != before {
		t.Error("main moved")
	}
	s.sound(id)
}

// Work for another base that is delivered by a push lands on that base of the remote.
func TestAMergeIntoAnotherBaseIsPushed(t *testing.T) {
	t.Parallel()
	s, h := openHub(t)
	s.orange("project", "update", "shop", "--delivery", "push")
	s.git(s.repo, "push", "-q", "origin", "main:refs/heads/develop")
	s.git(s.repo, "fetch", "-q", "origin", "develop:develop")
	before := s.git(h.bare, "rev-parse", "main")
	id := s.create("feature", diligent, "--base", "develop")
	s.reaches(id, "reviewing")
	s.orange("task", "merge", string(id))
	s.rests(id, "done")
	s.eventually("the base is pushed", func() bool {
		return s.git(h.bare, "rev-parse", "develop") == s.git(s.repo, "rev-parse", "develop")
	})
	if s.git(h.bare, "show", "develop:"+string(id)+".txt") != "done" || s.git(h.bare, "rev-parse", "main") != before {
		t.Error("the work is not on develop alone")
	}
	s.sound(id)
}
