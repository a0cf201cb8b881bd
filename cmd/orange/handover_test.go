package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/task"
)

// An agent that hands over with files that are not committed gets their names; what is handed
// over in the end is what is merged, and stays visible.
func TestWorkIsHandedOverCommitted(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - section: {name: Handoff, text: "DONE: one"}
  - run: "orange task update --status agent-review 2>../../../empty; echo two >two.txt"
  - commit: {file: one.txt, text: "one\n", message: one}
  - run: "echo more >>one.txt; orange task update --status agent-review 2>../../../dirty"
worker#2:
  - run: git add -A && git commit -qm rest
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
`)
	got := s.reaches(id, "reviewing")
	for name, want := range map[string]string{"empty": "has no commit that is not in main", "dirty": "clean: uncommitted in the worktree: "} {
		text, err := os.ReadFile(filepath.Join(s.dir, name))
		if check(t, err); !strings.Contains(string(text), want) {
			t.Errorf("%s: %s", name, text)
		}
	}
	if n := count(s.history(id), "agent.undone"); n != 1 || got.CounterValue("crash_count") != 0 || count(s.history(id), "agent.crashed") != 0 {
		t.Errorf("%q", s.history(id))
	}
	prompt, err := os.ReadFile(filepath.Join(s.home, "attempts", string(id), "2", "prompt.md"))
	if check(t, err); !strings.Contains(string(prompt), "git status prints nothing") || !strings.Contains(string(prompt), "one.txt, two.txt") {
		t.Errorf("it is told %s", prompt)
	}
	before := s.landed(id)
	if out := s.orange("task", "merge", string(id)); !strings.HasPrefix(out, "Merged shop/feature") {
		t.Errorf("%s", out)
	}
	s.reaches(id, "done")
	s.git(s.repo, "branch", "-D", "feature")
	if after := s.landed(id); before != after || before != "one.txt two.txt" {
		t.Errorf("before the merge %q, after it %q", before, after)
	}
	if w := s.task(id).Work; w == nil || !w.Landed || w.Head != s.git(s.repo, "rev-parse", "main") {
		t.Errorf("%+v", w)
	}
}

// A commit that comes while a hook of the merge runs is not merged, and the answer says so.
func TestACommitDuringAMergeIsNamed(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", diligent)
	workspace := s.workspace(s.reaches(id, "reviewing"))
	hook := filepath.Join(s.repo, ".git", "hooks", "post-merge")
	check(t, os.MkdirAll(filepath.Dir(hook), 0o750))
	check(t, os.WriteFile(hook, []byte("#!/bin/sh\nunset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE\ngit -C '"+workspace+"' commit -q --allow-empty -m late\n"), 0o700))
	s.orange("project", "update", "shop", "--trust-git")
	out := s.orange("task", "merge", string(id))
	late := s.git(s.repo, "rev-parse", "--short=7", "feature")
	if want := "stays reviewing, because it cannot go to done: merged: branch feature (" + late + ") is not in main"; !strings.HasPrefix(out, "Merged shop/feature") || !strings.Contains(out, want) {
		t.Errorf("%q does not say %q", out, want)
	}
}

// landed is what the task's diff names.
func (s *env) landed(id task.ID) string {
	s.t.Helper()
	c := clientOf(s.home, s.getenv)
	defer c.Close()
	d, err := c.ReadDiff(s.t.Context(), string(id))
	check(s.t, err)
	var names []string
	for _, f := range d.Files {
		if names = append(names, f.Path); f.Uncommitted {
			names[len(names)-1] += " (uncommitted)"
		}
	}
	return strings.Join(names, " ")
}

// An agent that leaves its work uncommitted twice is not asked a third time: a person is.
func TestWorkThatIsNeverCommittedIsHeldAndSalvaged(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - commit: {file: one.txt, text: "one\n", message: one}
  - run: "echo two >>one.txt"
  - section: {name: Handoff, text: "DONE: one"}
worker#2:
  - print: I see no need
reviewer:
  - idle:
`)
	got := s.await(id, "it is held", func(t task.Task) bool { return t.WorkFailed != "" })
	if got.Status != "working" || got.CounterValue("crash_count") != 0 || got.AttemptCount() != 2 {
		t.Errorf("%+v", got)
	}
	if inbox := s.orange("inbox"); !strings.Contains(inbox, "one.txt") || !strings.Contains(inbox, "orange task respawn "+string(id)) {
		t.Errorf("the inbox says %s", inbox)
	}
	if got := s.landed(id); got != "one.txt (uncommitted)" {
		t.Errorf("the diff says %q", got)
	}
	_, said, err := s.run("task", "complete", string(id))
	if check(t, err); !strings.Contains(said, "warning: the task is agent-review now, and its work is incomplete: clean: uncommitted in the worktree: one.txt") {
		t.Errorf("a person is told %q", said)
	}
	s.await(id, "it is reviewed", func(t task.Task) bool { return t.Status == "agent-review" })
	_, said, err = s.run("task", "cancel", string(id), "--yes")
	check(t, err)
	got = s.reaches(id, "cancelled")
	if len(got.Salvages) != 1 || !strings.Contains(said, got.Salvages[0]) {
		t.Fatalf("kept at %q, and a person is told %q", got.Salvages, said)
	}
	for _, args := range [][]string{{"inbox"}, {"task", "show", string(id)}, {"task", "history", string(id)}} {
		if out := s.orange(args...); !strings.Contains(strings.Join(strings.Fields(out), " "), got.Salvages[0]) {
			t.Errorf("%q does not name %s:\n%s", args, got.Salvages[0], out)
		}
	}
}

// A task that needs no change is finished without a merge, and nobody says otherwise.
func TestNothingIsNotMerged(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - section: {name: Handoff, text: "NOTHING: it works already"}
  - run: orange task update --status agent-review
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
`)
	s.reaches(id, "reviewing")
	if inbox := s.orange("inbox"); !strings.Contains(inbox, "there is nothing to merge") || !strings.Contains(inbox, "orange task complete "+string(id)) {
		t.Errorf("the inbox says %s", inbox)
	}
	s.refused("branch feature has no commits: nothing was merged", "task", "merge", string(id))
	s.orange("task", "complete", string(id))
	s.reaches(id, "done")
	if told := strings.Join(s.history(id), "\n"); s.task(id).Work.Landed || strings.Contains(told, "is in main") {
		t.Errorf("%s", told)
	}
}

// A branch that was moved to a newer main is in main, and its work is not: nobody says that it was merged, and the command
// that is printed brings the work back.
func TestABranchThatWasResetIsNotMerged(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - commit: {file: one.txt, text: "one\n", message: one}
  - commit: {file: two.txt, text: "two\n", message: two}
  - section: {name: Handoff, text: "DONE: one"}
  - run: orange task update --status agent-review
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
`)
	got := s.reaches(id, "reviewing")
	worktree := strings.TrimSpace(s.orange("task", "path", string(id)))
	s.git(s.repo, "commit", "-q", "--allow-empty", "-m", "newer")
	s.git(worktree, "reset", "-q", "--hard", "main")

	const lost = "branch feature has lost its commits"
	s.refused(lost, "task", "merge", string(id))
	_, said, err := s.run("task", "complete", string(id))
	if now := s.task(id); err == nil || now.Status != "reviewing" || now.Work.Landed || !strings.Contains(said, lost) {
		t.Errorf("%s, %v: %q", now.Status, err, said)
	}
	_, command, _ := strings.Cut(said, "restore it with git -C ")
	fields := strings.Fields(command)
	if len(fields) < 4 || fields[0] != worktree || !strings.HasPrefix(got.Work.Head, fields[3]) {
		t.Fatalf("it prints %q", said)
	}
	s.git(fields[0], fields[1:4]...)

	s.git(worktree, "reset", "-q", "--hard", "HEAD~1") // and now without its second commit
	out, said, err := s.run("task", "merge", string(id))
	left := "branch feature no longer has commits of its handover: " + got.Work.Head[:12]
	if check(t, err); !strings.HasPrefix(out, "Merged shop/feature") || !strings.Contains(said, left) {
		t.Errorf("%q, %q", out, said)
	}
	s.reaches(id, "done")
	if history := s.orange("task", "history", string(id)); !strings.Contains(strings.Join(strings.Fields(history), " "), left) {
		t.Errorf("the history does not name %s:\n%s", got.Work.Head, history)
	}
	if got := s.landed(id); got != "one.txt" {
		t.Errorf("after the merge the diff names %q", got)
	}
}
