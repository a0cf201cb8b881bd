package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/ui/client"
)

// A program that an agent configures runs neither when somebody views the changes nor when
// the next task starts. The inbox names it once, until a person trusts it or it is gone.
func TestWhatAnAgentConfiguresIsNotRunByTheServer(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.environ = append(s.environ, "SSH_AUTH_SOCK="+filepath.Join(s.dir, "agent"), "OPENAI_API_KEY=k", "GITHUB_TOKEN=k")
	program := "#!/bin/sh\nenv >>" + s.dir + "/ran\n"
	s.write("evil", program+"cat\n")
	check(t, os.Chmod(filepath.Join(s.dir, "evil"), 0o700))
	s.write("hook", program)
	check(t, os.Chmod(filepath.Join(s.dir, "hook"), 0o700))
	id := s.create("feature", `
worker:
  - run: "git config filter.x.clean `+s.dir+`/evil; echo 'README filter=x' >.gitattributes; echo more >>README"
  - run: "mkdir -p $(git rev-parse --git-common-dir)/hooks; cp `+s.dir+`/hook $(git rev-parse --git-common-dir)/hooks/post-checkout; rm -f `+s.dir+`/ran; touch `+s.dir+`/ready"
  - idle:
`)
	s.await(id, "the worker has configured git", func(task.Task) bool {
		_, err := os.Stat(filepath.Join(s.dir, "ready"))
		return err == nil
	})
	api := client.New(client.FindSocket(client.DialOptions{Socket: s.cfg.Socket, Home: s.home}))
	if _, err := api.ReadDiff(t.Context(), string(id)); err != nil {
		t.Fatal(err)
	}
	next := s.create("next", "worker:\n  - idle:\n")
	s.await(next, "the next worker runs", func(t task.Task) bool {
		a, ok := t.LiveAttempt("worker")
		return ok && a.Running
	})
	if text, err := os.ReadFile(filepath.Join(s.dir, "ran")); err == nil {
		t.Errorf("it ran with\n%s", text)
	}
	waits := func() (text string) {
		items, err := api.ListInbox(t.Context(), "")
		check(t, err)
		for _, it := range items {
			if it.Kind == "git" {
				text += it.Text + " | " + it.Do + "\n"
			}
		}
		return text
	}
	s.await(id, "the inbox names it", func(task.Task) bool { return waits() != "" })
	if text := waits(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "filter.x.clean = "+s.dir+"/evil") ||
		!strings.Contains(text, "the hook .git/hooks/post-checkout") || !strings.Contains(text, "orange project update shop --trust-git") {
		t.Error(text)
	}
	said := s.orange("project", "update", "shop", "--trust-git")
	if !strings.Contains(said, "as they are:\n  filter filter.x.clean: "+s.dir+"/evil\n    "+s.dir+"/evil ") || !strings.Contains(said, "\n  hook post-checkout\n    .git/hooks/post-checkout ") {
		t.Error(said)
	}
	if text := waits(); text != "" {
		t.Errorf("it is trusted: %s", text)
	}
	if _, err := api.ReadDiff(t.Context(), string(id)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "ran"))
	if err != nil {
		t.Fatal("a trusted filter does not run")
	}
	for _, name := range []string{"SSH_AUTH_SOCK=", "_KEY=", "_TOKEN="} {
		if strings.Contains(string(text), name) {
			t.Errorf("a filter of git has %s:\n%s", name, text)
		}
	}
	s.write("evil", program+"cat # changed\n")
	s.await(id, "the change is noticed", func(task.Task) bool { return strings.Contains(waits(), "filter.x.clean") })
	s.write("evil", program+"cat\n")
	s.await(id, "it is as it was", func(task.Task) bool { return waits() == "" })
}

// A project whose trusted programs cannot be kept is not registered.
func TestAProjectWithoutItsTrustedProgramsIsNotAdded(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.changeStore("CREATE TRIGGER full BEFORE INSERT ON setting WHEN new.key = 'git-programs:other' AND new.value <> '' BEGIN SELECT RAISE(ABORT, 'no room'); END")
	other := filepath.Join(s.dir, "other")
	s.git(s.dir, "clone", "-q", s.repo, other)
	s.refused("no room", "project", "add", other)
	if out := s.orange("project", "list"); strings.Contains(out, "other") {
		t.Errorf("it is registered all the same: %s", out)
	}
	s.changeStore("DROP TRIGGER full")
	if out := s.orange("project", "add", other); !strings.Contains(out, "Added project other") {
		t.Error(out)
	}
}
