package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orange/internal/adapter/lock"
	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/testneeds"
	"orange/internal/ui/client"
)

// mergeOnly is a workflow without agents: a task waits for its branch to be merged.
const mergeOnly = `
name: merge-only
version: 1
describe: A branch waits to be merged.
gates:
  merged: {evidence: merged}
states:
  reviewing: {kind: human}
  done: {kind: terminal}
edges:
  - {from: new, to: reviewing, on: create, by: [human]}
  - {from: reviewing, to: done, on: [request, {pr: merged}], as: complete, by: [human, engine, tracker], gate: merged}
`

// idle is a script for agents that are never started.
const idle = "worker:\n  - idle:\n"

// secondOrange is another installation that works on the same repository.
func (s *env) secondOrange() *env {
	s.t.Helper()
	dir, err := os.MkdirTemp("", "s")
	check(s.t, err)
	other := &env{t: s.t, program: s.program, dir: dir, home: filepath.Join(dir, "home"), repo: s.repo}
	for _, kv := range s.environ {
		other.environ = append(other.environ, strings.ReplaceAll(kv, s.dir, dir))
	}
	other.cfg, err = config.Load(other.getenv, os.UserHomeDir)
	check(s.t, err)
	other.client = client.FromOptions(client.DialOptions{Socket: other.cfg.Socket, Home: other.cfg.Home})
	other.write("config/orange/config.json", `{"sessions":"headless"}`)
	s.t.Cleanup(other.close)
	other.orange("project", "add", s.repo)
	return other
}

// Sixteen tasks of two installations are merged at the same time, into a checkout with the
// user's own changes, while one of the servers is killed again and again.
func TestManyTasksAreMergedAtTheSameTime(t *testing.T) {
	t.Parallel()
	seed := uint64(13)
	kills := 3
	if n, ok := testneeds.SoakSeed(t); ok {
		seed, kills = n, 15
	}
	random := rand.New(rand.NewPCG(seed, 0))
	s := openEnv(t, "headless")
	second := s.secondOrange()
	s.write("shop/.git/info/exclude", "/.orange\n")
	s.write("shop/.orange/workflows/merge-only.yaml", mergeOnly)
	var ids [2][]task.ID
	for i := range 16 {
		branch := fmt.Sprintf("b%02d", i)
		s.git(s.repo, "switch", "-q", "-c", branch, "main")
		s.write("shop/of-"+branch, branch+"\n")
		s.git(s.repo, "add", "of-"+branch)
		s.git(s.repo, "commit", "-qm", branch)
	}
	s.git(s.repo, "switch", "-q", "main")
	s.write("shop/README", "the user's own\n")
	s.write("shop/staged", "staged\n")
	s.git(s.repo, "add", "staged")
	s.write("shop/untracked", "untracked\n")
	status := s.git(s.repo, "status", "--porcelain")
	for i := range 16 {
		in := []*env{s, second}[i%2]
		ids[i%2] = append(ids[i%2], in.create(fmt.Sprintf("b%02d", i), idle, "--workflow", "merge-only"))
	}

	var all sync.WaitGroup
	for i, in := range []*env{s, second} {
		for n, id := range ids[i] {
			strategy := []string{"auto", "merge"}[n%2]
			all.Go(func() {
				_, said, err := in.run("task", "merge", string(id), "--no-wait", "--strategy", strategy)
				for end := time.Now().Add(longest); err != nil && time.Now().Before(end) && !strings.Contains(said, "under way already") && in.task(id).Status != "done"; {
					_, said, err = in.run("task", "merge", string(id), "--no-wait", "--strategy", strategy) // its server was killed
				}
			})
		}
	}
	for range kills {
		time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
		if pid := lock.ReadHolder(s.home).PID; pid > 0 {
			syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may have been killed already
		}
		s.run("task", "list") //nolint:errcheck // it starts the next server
	}
	all.Wait()
	for i, in := range []*env{s, second} {
		for _, id := range ids[i] {
			in.reaches(id, "done")
		}
	}
	for i := range 16 {
		branch := fmt.Sprintf("b%02d", i)
		s.git(s.repo, "merge-base", "--is-ancestor", branch, "main")
		if text, err := os.ReadFile(filepath.Join(s.repo, "of-"+branch)); err != nil || string(text) != branch+"\n" {
			t.Errorf("of-%s is %q, %v", branch, text, err)
		}
	}
	s.git(s.repo, "fsck", "--strict", "--no-dangling")
	if now := s.git(s.repo, "status", "--porcelain"); now != status {
		t.Errorf("the checkout was\n%s\nand is\n%s", status, now)
	}
	for name, want := range map[string]string{"README": "the user's own\n", "staged": "staged\n", "untracked": "untracked\n"} {
		if text, err := os.ReadFile(filepath.Join(s.repo, name)); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
}

// A server is killed while git runs a slow hook of a merge. The next one waits for that git
// and then says what is true.
func TestTheServerIsKilledDuringAHookOfAMerge(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.write("shop/.git/info/exclude", "/.orange\n")
	s.write("shop/.orange/workflows/merge-only.yaml", mergeOnly)
	s.git(s.repo, "switch", "-q", "-c", "feature")
	s.write("shop/new", "new\n")
	s.git(s.repo, "add", "new")
	s.git(s.repo, "commit", "-qm", "new")
	s.git(s.repo, "switch", "-q", "main")
	id := s.create("feature", idle, "--workflow", "merge-only")
	hook := s.write("shop/.git/hooks/reference-transaction", strings.ReplaceAll(`#!/bin/sh
test "$1" = prepared || exit 0
grep -q refs/heads/main || exit 0
echo x >>{dir}/ran
while ! test -e {dir}/go; do sleep 0.02; done
`, "{dir}", s.dir))
	check(t, os.Chmod(hook, 0o755))
	s.orange("project", "update", "shop", "--trust-git")
	s.orange("task", "merge", string(id), "--no-wait")
	s.eventually("the hook runs", func() bool { return s.has("ran") })
	s.killServer()
	if got := s.task(id); got.Status != "reviewing" || got.Attention != "" {
		t.Errorf("%+v", got)
	}
	s.write("go", "")
	got := s.reaches(id, "done")
	if got.Attention != "" || s.git(s.repo, "status", "--porcelain") != "" || s.git(s.repo, "rev-parse", "main") != s.git(s.repo, "rev-parse", "feature") {
		t.Errorf("%+v\n%s", got, s.git(s.repo, "status", "--porcelain"))
	}
	if ran, err := os.ReadFile(filepath.Join(s.dir, "ran")); err != nil || string(ran) != "x\n" {
		t.Errorf("git ran %q, %v", ran, err)
	}
}

// What a landing left that was broken off together with its git is put right when the server
// starts.
func TestABrokenLandingIsPutRightAtTheStart(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.git(s.repo, "switch", "-q", "-c", "feature")
	s.write("shop/new", "new\n")
	s.write("shop/README", "changed\n")
	s.git(s.repo, "add", ".")
	s.git(s.repo, "commit", "-qm", "new")
	s.git(s.repo, "switch", "-q", "main")
	s.orange("stop")
	s.write("shop/README", "chan")
	s.write("shop/new", "new\n")
	record := s.write("shop/.git/orange-land.json", fmt.Sprintf(`{"what":"feature","target":"main","old":%q,"new":%q,"checkout":%q,"boot":"an earlier one"}`,
		s.git(s.repo, "rev-parse", "main"), s.git(s.repo, "rev-parse", "feature"), s.repo))
	s.orange("task", "list")
	s.eventually("the record is gone", func() bool { _, err := os.Lstat(record); return err != nil })
	if status := s.git(s.repo, "status", "--porcelain"); status != "" {
		t.Errorf("the checkout is %q", status)
	}
	if out, err := exec.Command("grep", "-c", "repaired", filepath.Join(s.home, "orange.log")).Output(); err != nil {
		t.Errorf("the log says nothing of it: %s, %v", out, err)
	}
}

// Two issues of Linear that are accepted in the same second are both merged.
func TestTwoIssuesOfLinearAreAcceptedAtTheSameTime(t *testing.T) {
	t.Parallel()
	s, w := openLinear(t, `
development:
  - commit: {file: "{task}.txt", text: "done\n", message: do it}
  - say: It is there.
qa:
  - say: "I tried it.\n\n`+passed+`"
acceptance:
`+untilGo("accept")+`
  - say: "Ship it.\n\n`+passed+`"
`)
	s.write("shop/README", "the user's own\n")
	keys := []string{w.AddIssue(t, filed("Cart", "Backlog")), w.AddIssue(t, filed("Till", "Backlog"))}
	r := s.round()
	var ids []task.ID
	for _, key := range keys {
		ids = append(ids, task.ID(choice(t, r, key).Task))
	}
	for _, id := range ids {
		s.await(id, "acceptance is at work", func(t task.Task) bool { _, ok := t.LiveAttempt("acceptance"); return ok })
	}
	s.write("accept", "")
	for i, id := range ids {
		s.rests(id, "Accepted")
		s.git(s.repo, "merge-base", "--is-ancestor", s.task(id).Branch, "main")
		beenIn(t, w, keys[i], "Backlog", "Started", "Finished", "Delivered", "Accepted")
		if slices.ContainsFunc(s.history(id), func(e string) bool { return strings.HasPrefix(e, "effect.gave-up") }) {
			t.Errorf("%q", s.history(id))
		}
	}
	if status := s.git(s.repo, "status", "--porcelain"); status != "M README" && status != " M README" {
		t.Errorf("the checkout is %q", status)
	}
}
