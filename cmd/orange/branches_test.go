package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestABranchThatATaskCannotHaveIsRefusedWhenItIsAskedFor(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.git(s.repo, "branch", "taken/deep")
	s.git(s.repo, "branch", "flat")
	s.git(s.repo, "branch", "mine")
	s.git(s.repo, "worktree", "add", "-q", filepath.Join(s.dir, "mine"), "mine")
	s.create("open/one", "worker:\n  - idle:\n", "--no-spawn")
	id := string(s.create("plain", "worker:\n  - idle:\n", "--no-spawn"))
	harness := "script:" + filepath.Join(s.dir, "scripts", "plain.yaml")
	for branch, want := range map[string]string{
		"taken":                  "cannot be made beside branch taken/deep",
		"flat/er":                "cannot be made beside branch flat",
		"open":                   "cannot be made beside",
		"open/one/more":          "cannot be made beside",
		"mine":                   "is checked out in " + filepath.Join(s.dir, "mine"),
		strings.Repeat("n", 241): "has 241 bytes and the limit is 240",
	} {
		for what, args := range map[string][]string{
			"create": {"task", "create", "--project", "shop", branch, "x", "--no-spawn", "--harness", harness},
			"rename": {"task", "update", id, "--branch", branch},
		} {
			_, out, err := s.run(args...)
			if err == nil || !strings.Contains(out, want) || strings.Count(strings.TrimSpace(out), "\n") > 0 {
				t.Errorf("%s %.20s: %v: %s", what, branch, err, out)
			}
		}
	}
}

func TestARepositoryWithoutCommitsHasNoTasks(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	empty := filepath.Join(s.dir, "empty")
	s.git(s.dir, "init", "-q", "-b", "main", empty)
	s.orange("project", "add", empty)
	_, out, err := s.run("task", "create", "--project", "empty", "b", "x", "--harness", "script:"+s.write("scripts/b.yaml", "worker:\n  - idle:\n"))
	if err == nil || !strings.Contains(out, "has no commit that a branch could begin at") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestAProjectFollowsItsRepositoryToAnotherFolder(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - run: "while ! test -e ../../../go; do sleep 0.02; done"
  - commit: {file: a.txt, text: "x\n", message: a}
  - section: {name: Handoff, text: "DONE: in the moved repository"}
  - run: orange task update --status agent-review
  - idle:
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
`)
	s.reaches(id, "working")
	moved := filepath.Join(s.dir, "elsewhere", "shop")
	check(t, os.MkdirAll(filepath.Dir(moved), 0o755))
	check(t, os.Rename(s.repo, moved))
	s.repo = moved
	if out, said, _ := s.run("doctor"); !strings.Contains(out+said, "orange project update shop --path") {
		t.Errorf("doctor does not say what to do: %s", out)
	}
	other := filepath.Join(s.dir, "other")
	s.git(s.dir, "init", "-q", "-b", "main", other)
	s.git(other, "-c", "user.name=O", "-c", "user.email=o@example.com", "commit", "-q", "--allow-empty", "-m", "other")
	if _, out, err := s.run("project", "update", "shop", "--path", other); err == nil || !strings.Contains(out, "is not the repository that was at") {
		t.Errorf("another repository: %v: %s", err, out)
	}
	s.orange("project", "update", "shop", "--path", moved)
	s.write("go", "")
	s.reaches(id, "reviewing")
	s.orange("task", "merge", string(id))
	s.reaches(id, "done")
	if text, err := os.ReadFile(filepath.Join(moved, "a.txt")); err != nil || string(text) != "x\n" {
		t.Errorf("the work is not in the moved repository: %q, %v", text, err)
	}
}

// What lies in the folder of workspaces is given to tasks, and removed.
func TestAWorkspaceIsNoProject(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", planner)
	held := filepath.Join(s.home, "workspaces", s.reaches(id, "working").Workspace)
	free := filepath.Join(s.home, "workspaces", "shop--2")
	s.git(s.repo, "worktree", "add", "-q", "-b", "mine", free)
	inner := filepath.Join(free, "inner")
	s.git(s.dir, "clone", "-q", s.repo, inner)
	for _, place := range []string{held, free, inner} {
		s.refused("is in the folder of Orange's workspaces", "project", "update", "shop", "--path", place)
	}
	for _, place := range []string{free, inner} {
		s.refused("is in the folder of Orange's workspaces", "project", "add", place, "--name", "other")
	}
	s.refused("is registered already", "project", "add", held, "--name", "other") // it means the project of its task
	if out := s.orange("project", "list"); strings.Contains(out, "workspaces/") || strings.Contains(out, "other") {
		t.Errorf("the projects are now:\n%s", out)
	}
}

// Two projects may share a repository, and a branch of it belongs to one task.
func TestABranchOfARepositoryIsOfOneTaskWhateverItsProject(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	own := filepath.Join(s.dir, "own")
	s.git(s.repo, "worktree", "add", "-q", "-b", "mine", own)
	s.orange("project", "add", own, "--name", "other", "--base", "main")
	first := s.create("feature", planner)
	s.reaches(first, "working")
	queued := s.create("later/on", planner, "--no-spawn")
	harness := "script:" + filepath.Join(s.dir, "scripts", "feature.yaml")
	id := string(s.createWith("free", "--project", "other", "--no-spawn", "--harness", harness))
	for branch, want := range map[string]string{
		"feature":  "task " + string(first) + " of project shop works on branch feature of the same repository already",
		"later/on": "task " + string(queued) + " of project shop works on branch later/on of the same repository already",
		"later":    "cannot be made beside the branch of task " + string(queued) + " of project shop",
	} {
		s.refused(want, "task", "create", "--project", "other", branch, "x", "--no-spawn", "--harness", harness)
		s.refused(want, "task", "update", id, "--branch", branch)
	}
	s.orange("task", "cancel", string(queued), "--yes")
	s.orange("task", "update", id, "--branch", "later/on")
}
