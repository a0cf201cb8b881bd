package main

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// A branch that changes paths which need a person is merged after an approval, and an approval is for a content.
func TestPathsThatNeedAPerson(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "solo", "--unchanged", "Makefile", "--unchanged", "ci/**")
	if text := s.orange("project", "list"); !strings.Contains(text, "Makefile, ci/**") {
		t.Error(text)
	}
	s.refused(`pattern "docs" is not one of the project's`, "project", "update", "shop", "--may-change", "docs")
	s.refused("names no paths", "project", "update", "shop", "--unchanged", "[")

	step := func(file, text string) string {
		return "  - commit: {file: " + file + ", text: \"" + text + "\\n\", message: " + text + "}\n  - run: orange task update --status reviewing\n"
	}
	id := s.create("feat/a", "worker:\n"+step("ci/build.sh", "first")+"worker#2:\n  - run: orange task approve-changes {task}\n"+step("ci/build.sh", "second"))
	s.reaches(id, "reviewing")
	s.orange("project", "update", "shop", "--may-change", "ci/**") // the task keeps what it was created with
	if text := s.prompt(id, 1); !strings.Contains(text, "Paths that need a person's approval, as in .gitignore: Makefile, ci/**.") {
		t.Error(text)
	}
	for _, command := range [][]string{{"inbox"}, {"task", "show", string(id)}, {"task", "explain", string(id)}} {
		if text := s.orange(command...); !strings.Contains(text, "ci/build.sh") {
			t.Errorf("%s:\n%s", command, text)
		}
	}
	if text := s.orange("inbox"); !strings.Contains(text, "orange task approve-changes") {
		t.Error(text)
	}
	s.refused("changes paths that need a person's approval: ci/build.sh", "task", "merge", string(id))
	if text := s.orange("task", "approve-changes", string(id)); !strings.Contains(text, "you approved the changes of ci/build.sh") {
		t.Error(text)
	}
	s.refused("nothing needs an approval", "task", "approve-changes", string(id))

	s.orange("task", "request-changes", string(id), "again")
	s.await(id, "it changed again", func(t task.Task) bool {
		return t.Status == "reviewing" && len(t.UnapprovedChanges()) == 1
	})
	s.refused("changes paths that need a person's approval: ci/build.sh", "task", "merge", string(id))
	if log := s.orange("task", "log", string(id)); !strings.Contains(log, "only a person may approve changes") {
		t.Errorf("the worker was not refused:\n%s", log)
	}
	s.orange("task", "approve-changes", string(id))
	s.orange("task", "merge", string(id))
	s.reaches(id, "done")
	if got := s.git(s.repo, "show", "main:ci/build.sh"); got != "second\n" && got != "second" {
		t.Errorf("merged: %q", got)
	}
	if !slices.ContainsFunc(s.journal(id), func(e journal.Entry) bool { return e.Type == journal.ChangesApproved && len(e.Approved) == 1 }) {
		t.Error("no approval is in the journal")
	}
	s.orange("task", "replay", string(id))
}

// autoMerge is a workflow that merges what its worker hands over.
const autoMerge = `
name: auto-merge
version: 1
describe: Work is merged when its worker hands it over.
roles:
  worker: {session: visit, prompt: work}
counters:
  crashes: {max: 2, per: state, counts: crashes}
gates:
  committed: {evidence: commits}
  clean: {evidence: clean}
  merged: {evidence: merged}
states:
  todo: {kind: queued}
  working: {kind: agent, role: worker, deadline: {wall: 1h}}
  merging: {kind: human}
  stuck: {kind: halt}
  done: {kind: terminal}
edges:
  - {from: new, to: todo, on: create, by: [human]}
  - {from: todo, to: working, on: [request, ready], as: complete, by: [human, engine], do: [acquire_workspace]}
  - {from: working, to: merging, on: [request, exit], as: complete, by: [worker, human], gate: [committed, clean], do: [merge]}
  - {from: working, to: stuck, on: crash-limit}
  - {from: stuck, to: working, as: resume, by: [human]}
  - {from: merging, to: done, on: [request, {pr: merged}], as: complete, by: [human, engine, tracker], gate: merged, do: [kill_session, release_workspace]}
prompts:
  work: "{summary}"
`

// A merge that a workflow starts is given up, and waits in the inbox for the approval.
func TestAMergeByAWorkflowWaitsForAnApproval(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--unchanged", "ci/")
	s.write("shop/.git/info/exclude", "/.orange\n")
	s.write("shop/.orange/workflows/auto-merge.yaml", autoMerge)
	hand := "  - run: orange task update --status merging\n"
	id := s.create("feat/a", "worker:\n  - commit: {file: ci/build.sh, text: \"x\\n\", message: x}\n"+hand, "--workflow", "auto-merge")
	held := s.await(id, "the merge is given up", func(t task.Task) bool { return t.Attention != "" })
	if held.Status != "merging" || !strings.Contains(held.Attention, "ci/build.sh") {
		t.Errorf("%s: %s", held.Status, held.Attention)
	}
	if text := s.orange("inbox"); !strings.Contains(text, "orange task approve-changes") {
		t.Error(text)
	}
	s.orange("task", "approve-changes", string(id))
	s.orange("task", "merge", string(id))
	s.reaches(id, "done")

	id = s.create("feat/b", "worker:\n  - commit: {file: main.txt, text: \"x\\n\", message: x}\n"+hand, "--workflow", "auto-merge")
	s.reaches(id, "done")
}
