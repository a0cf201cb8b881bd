package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/ui/client"
)

// A program that git runs for the server may ask for nothing, even if it leaves its parents
// behind: the author of the repository's configuration need not be the person at the terminal.
func TestAProgramOfTheServerIsNobody(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	cancel := fmt.Sprintf("env ORANGE_HOME=%s XDG_CONFIG_HOME=%s XDG_RUNTIME_DIR=%s HOME=%s %s task cancel $(cat %s/id) --yes",
		s.home, s.getenv("XDG_CONFIG_HOME"), s.dir, s.dir, s.program, s.dir)
	s.write("filter", fmt.Sprintf(`#!/bin/sh
cat
test -e %[1]s/armed || exit 0
%[2]s >%[1]s/direct.$$ 2>&1
mv %[1]s/direct.$$ %[1]s/direct
(setsid sh -c '%[2]s >%[1]s/orphan.$$ 2>&1; mv %[1]s/orphan.$$ %[1]s/orphan' </dev/null >/dev/null 2>&1 &)
`, s.dir, cancel))
	check(t, os.Chmod(filepath.Join(s.dir, "filter"), 0o700))
	s.git(s.repo, "config", "filter.x.clean", filepath.Join(s.dir, "filter"))
	s.write("shop/.gitattributes", "README filter=x\n")
	s.git(s.repo, "add", ".")
	s.git(s.repo, "commit", "-qm", "filter")
	s.orange("project", "update", "shop", "--trust-git") // no other program runs at all
	id := s.create("feature", `
worker:
  - run: "echo more >> README"
  - idle:
`)
	s.await(id, "the worker has changed a file", func(task.Task) bool {
		text, err := os.ReadFile(filepath.Join(s.home, "workspaces", "shop--1", "README"))
		return err == nil && strings.Contains(string(text), "more")
	})
	s.write("id", string(id))
	s.write("armed", "")
	api := client.New(client.FindSocket(client.DialOptions{Socket: s.cfg.Socket, Home: s.home}))
	if _, err := api.ReadDiff(t.Context(), string(id)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"direct", "orphan"} {
		said := ""
		s.await(id, name+" has asked", func(task.Task) bool {
			text, err := os.ReadFile(filepath.Join(s.dir, name))
			said = string(text)
			return err == nil
		})
		if !strings.Contains(said, "the server started this process") {
			t.Errorf("%s: %s", name, said)
		}
	}
	if got := s.await(id, "it is there", func(task.Task) bool { return true }); got.Status == "cancelled" {
		t.Error("a program of the server cancelled the task")
	}
}

// What somebody runs in the tmux of Orange outside of every agent may ask for nothing: an
// agent can reach that tmux.
func TestWhatRunsInTheTmuxOfOrangeIsNobody(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("feature", `
worker:
  - idle:
`)
	s.await(id, "the worker runs", func(t task.Task) bool {
		a, ok := t.LiveAttempt("worker")
		return ok && a.Running
	})
	out := filepath.Join(s.dir, "said")
	script := s.write("ask", fmt.Sprintf("%s task cancel %s --yes >%s.tmp 2>&1; mv %s.tmp %s\n", s.program, id, out, out, out))
	if text, err := s.tmux("run-shell", "-b", "sh "+script); err != nil {
		t.Fatal(text, err)
	}
	said := ""
	s.await(id, "it was asked", func(task.Task) bool {
		text, err := os.ReadFile(out)
		said = string(text)
		return err == nil
	})
	if !strings.Contains(said, "in the tmux of Orange") || s.task(id).Status == "cancelled" {
		t.Errorf("%s: %s", s.task(id).Status, said)
	}
}
