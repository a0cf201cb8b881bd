package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"orange/internal/core/task"
)

// stray puts a plain folder in the place of its worktree, hands over from there and ends. The
// second worker does the work.
const stray = `
worker:
  - section: {name: Plan, text: "APPROACH: straight on"}
  - run: orange task update --status working
  - run: |
      file=$(readlink TASK.md); dir=$PWD; cd /; rm -rf "$dir"; mkdir "$dir"; cd "$dir"; ln -s "$file" TASK.md
      echo x >x.txt; git add x.txt && git commit -qm stray
      printf '\n## Handoff\n\nDONE: it\n' >>TASK.md
      orange task update --status agent-review 2>../../../said || true
  - exit: 0
worker#2:
  - commit: {file: second.txt, text: "x\n", message: second}
  - section: {name: Handoff, text: "DONE: by the second"}
  - run: orange task update --status agent-review
  - idle:
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
`

func (s *env) workspace(t task.Task) string { return filepath.Join(s.home, "workspaces", t.Workspace) }

// reasons are what the history gives as the reason of events of one type.
func (s *env) reasons(id task.ID, event string) string {
	s.t.Helper()
	var out []string
	for _, line := range s.history(id) {
		if strings.HasPrefix(line, event) {
			out = append(out, strings.TrimPrefix(line, event))
		}
	}
	return strings.Join(out, "\n")
}

// What an agent does in a folder that is not its worktree counts for nothing, even where
// that folder is inside another repository; the next agent gets a worktree.
func TestAFolderThatIsNoWorktreeOpensNoGate(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.git(s.dir, "init", "-q", "-b", "feature")
	s.git(s.dir, "-c", "user.name=Outer", "-c", "user.email=outer@example.com", "commit", "-q", "--allow-empty", "-m", "outer")
	s.git(s.dir, "config", "user.name", "Outer")
	s.git(s.dir, "config", "user.email", "outer@example.com")
	outer := s.git(s.dir, "rev-parse", "HEAD")
	id := s.create("feature", stray)
	got := s.await(id, "the end is seen", func(t task.Task) bool { return t.Crashed == "worker" })
	if said, err := os.ReadFile(filepath.Join(s.dir, "said")); err != nil || !strings.Contains(string(said), "is no longer a worktree of "+s.repo) {
		t.Errorf("it was not refused: %q, %v", said, err)
	}
	if why := s.reasons(id, "agent.crashed"); got.Status != "working" || !strings.Contains(why, "is no longer a worktree of") || strings.Contains(why, "Handoff") {
		t.Errorf("%s: %s", got.Status, why)
	}
	if s.git(s.dir, "rev-parse", "HEAD") != outer {
		t.Error("it committed into the repository around it")
	}
	s.orange("task", "respawn", string(id))
	got = s.reaches(id, "reviewing")
	if text := s.git(s.repo, "show", "feature:second.txt"); text != "x" || s.git(s.workspace(got), "symbolic-ref", "--short", "HEAD") != "feature" {
		t.Errorf("the second did not work in a worktree: %q", text)
	}
	aside := filepath.Join(s.home, "workspaces", ".aside", got.Workspace, string(id), "folder")
	if text, err := os.ReadFile(filepath.Join(aside, "x.txt")); err != nil || string(text) != "x\n" {
		t.Errorf("the folder was not kept: %v", err)
	}
	if told := s.orange("task", "history", string(id)); !strings.Contains(told, aside) {
		t.Errorf("nobody is told where it is:\n%s", told)
	}
	s.orange("task", "replay", string(id))
}

// Whatever happens to a worktree, the next agent works on the branch of its task.
func TestAWorktreeThatWasRemovedIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(s *env, dir string){
		"removed": func(s *env, dir string) { check(s.t, os.RemoveAll(dir)) },
		"removed and pruned": func(s *env, dir string) {
			check(s.t, os.RemoveAll(dir))
			s.git(s.repo, "worktree", "prune")
		},
		"pruned": func(s *env, dir string) {
			check(s.t, os.Rename(dir, dir+".elsewhere"))
			s.git(s.repo, "worktree", "prune")
			check(s.t, os.Rename(dir+".elsewhere", dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openEnv(t, "headless")
			id := s.create("feature", planner)
			damage(s, s.workspace(s.reaches(id, "working")))
			kill(t, s.alive(id, 1).Child.PID)
			s.await(id, "the end is seen", func(t task.Task) bool { return t.Crashed == "worker" })
			s.orange("task", "respawn", string(id))
			s.reaches(id, "reviewing")
			if text := s.git(s.repo, "show", "feature:second.txt"); text != "x" {
				t.Errorf("%q", text)
			}
			damage(s, s.workspace(s.task(id))) // a person needs no workspace
			s.orange("task", "merge", string(id))
			s.reaches(id, "done")
			if text := s.git(s.repo, "worktree", "list"); strings.Contains(text, "prunable") {
				t.Error(text)
			}
		})
	}
}

// A workspace that cannot be repaired without leaving something behind stops the task, with
// one sentence; no agent is started and no crash is counted for that.
func TestAWorkspaceOnAnotherBranchWaitsForAPerson(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", `
worker:
  - section: {name: Plan, text: "APPROACH: elsewhere"}
  - run: orange task update --status working
  - run: "git switch -q -c other && echo mine >README"
  - section: {name: Handoff, text: "DONE: on another branch"}
  - run: "orange task update --status agent-review 2>../../../said || true"
  - exit: 0
worker#2:
  - commit: {file: second.txt, text: "x\n", message: second}
  - section: {name: Handoff, text: "DONE: by the second"}
  - run: orange task update --status agent-review
  - idle:
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
`)
	s.await(id, "the end is seen", func(t task.Task) bool { return t.Crashed == "worker" })
	s.orange("task", "respawn", string(id))
	got := s.await(id, "a person is called", func(t task.Task) bool { return t.Attention != "" })
	if !strings.Contains(got.Attention, "is on branch other instead of feature") || got.CounterValue("crash_count") != 1 || count(s.history(id), "agent.spawned") != 1 {
		t.Errorf("%q, %q", got.Attention, s.history(id))
	}
	if it := s.wanted(id); !strings.Contains(it.Text, "git -C "+s.workspace(got)+" switch feature") {
		t.Errorf("%+v", it)
	}
	if text, err := os.ReadFile(filepath.Join(s.workspace(got), "README")); err != nil || string(text) != "mine\n" {
		t.Errorf("the change is gone: %q, %v", text, err)
	}
	s.git(s.workspace(got), "commit", "-qam", "mine")
	s.orange("resume", string(id)) // it is switched back as soon as that leaves nothing behind
	got = s.reaches(id, "reviewing")
	if s.git(s.workspace(got), "symbolic-ref", "--short", "HEAD") != "feature" {
		t.Error("it is on another branch")
	}
}

// What an agent left in a workspace does not keep it from the next task.
func TestNothingHoldsASlotForEver(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--pool-size", "1")
	s.git(s.repo, "config", "filter.broken.clean", "false")
	s.git(s.repo, "config", "filter.broken.required", "true")
	s.orange("project", "update", "shop", "--trust-git")
	for branch, leave := range map[string]string{
		"nested":   "git init -q inner; echo x >inner/work",
		"lock":     "echo changed >README; touch $(git rev-parse --git-dir)/index.lock",
		"a-filter": "echo '* filter=broken' >.gitattributes",
	} {
		id := s.create(branch, "worker:\n  - run: \""+leave+"\"\n  - section: {name: Plan, text: \"APPROACH: x\"}\n  - run: orange task update --status working\n  - idle:\n")
		s.reaches(id, "working")
		s.orange("task", "cancel", string(id), "--yes")
		if got := s.reaches(id, "cancelled"); got.Workspace != "" || got.Attention != "" && !strings.Contains(got.Attention, "is kept at") {
			t.Errorf("%s: %q", branch, got.Attention)
		}
		want := map[string]string{"nested": "inner in workspace shop--1 is a separate git repository", "lock": "index.lock", "a-filter": ".aside/shop--1/" + string(id) + "/folder"}[branch]
		if told := s.reasons(id, "effect.done"); !strings.Contains(told, want) {
			t.Errorf("%s: nobody is told %q:\n%s", branch, want, told)
		}
	}
	s.reaches(s.create("next", diligent), "reviewing")
}

// Work that git cannot save is told like a salvage, in every place, and stays until a person names it.
func TestWorkThatGitCannotSaveIsTold(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--pool-size", "1")
	s.git(s.repo, "config", "filter.broken.clean", "false")
	s.git(s.repo, "config", "filter.broken.required", "true")
	s.orange("project", "update", "shop", "--trust-git")
	id := s.create("cancelled", "worker:\n  - run: \"echo keep >keep.txt; echo '* filter=broken' >.gitattributes\"\n  - section: {name: Plan, text: \"APPROACH: x\"}\n  - run: orange task update --status working\n  - idle:\n")
	s.reaches(id, "working")
	_, cancelled, err := s.run("task", "cancel", string(id), "--yes")
	check(t, err)
	s.git(s.repo, "config", "--remove-section", "filter.broken")
	s.rests(id, "cancelled")
	merged := s.create("merged", diligent)
	damaged := s.workspace(s.reaches(merged, "reviewing"))
	check(t, os.Remove(filepath.Join(damaged, ".git")))
	check(t, os.WriteFile(filepath.Join(damaged, "precious.txt"), []byte("precious"), 0o600))
	_, landed, err := s.run("task", "merge", string(merged))
	check(t, err)
	said := map[task.ID]string{id: cancelled, merged: landed}
	s.rests(merged, "done")
	for id, file := range map[task.ID]string{id: "keep.txt", merged: "precious.txt"} {
		aside := filepath.Join(s.home, "workspaces", ".aside", "shop--1", string(id))
		folder := filepath.Join(aside, "folder")
		if _, err := os.Stat(filepath.Join(folder, file)); err != nil {
			t.Errorf("%s is gone: %v", file, err)
		}
		for what, text := range map[string]string{
			"the command": said[id], "the inbox": s.orange("inbox"), "show": s.orange("task", "show", string(id)), "history": s.orange("task", "history", string(id)), "gc": s.orange("workspace", "gc", "--purge", "--older", "1s"),
		} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), folder) && what != "gc" || what == "gc" && !strings.Contains(text, "a whole workspace was set aside") {
				t.Errorf("%s does not name %s:\n%s", what, folder, text)
			}
		}
		s.orange("resume", string(id)) // it needs no attention any more
		if text := s.orange("task", "show", string(id)); s.task(id).Attention != "" || !regexp.MustCompile(`(?m)^ *Set aside +`+regexp.QuoteMeta(folder)+"$").MatchString(text) {
			t.Errorf("show does not name %s later:\n%s", folder, text)
		}
		if told := s.orange("workspace", "gc", "--purge", aside); !strings.Contains(told, "removed shop--1: a whole workspace that was set aside") {
			t.Error(told)
		}
		if _, err := os.Stat(aside); err == nil {
			t.Error("it was named and is still there")
		}
	}
}
