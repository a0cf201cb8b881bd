package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What an agent committed in a submodule, changed there, staged and changed again comes
// back by the commands that are printed, though the workspace is gone.
func TestSalvagedWorkIsBroughtBackByThePrintedCommands(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--setup", "git -c protocol.file.allow=always submodule --quiet update --init")
	library := filepath.Join(s.dir, "library")
	s.git(s.dir, "init", "-q", "-b", "main", library)
	s.write("library/s", "0\n")
	s.write("shop/.gitignore", "*.cache\n")
	s.write("shop/f", "0\n")
	for _, dir := range []string{library, s.repo} {
		s.git(dir, "add", ".")
		s.git(dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "files")
	}
	s.git(s.repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib")
	s.git(s.repo, "commit", "-qm", "lib")
	s.git(s.dir, "config", "--global", "user.name", "Agent")
	s.git(s.dir, "config", "--global", "user.email", "agent@example.com")
	id := s.create("feature", `
worker:
  - run: "cd lib && git switch -q -c fix && echo committed >s && git commit -qam s && cd .. && git commit -qam lib"
  - run: "echo changed >lib/new; echo staged >f; git add f; echo later >f; echo built >x.cache; mkdir .claude; echo '{}' >.claude/settings.local.json"
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - idle:
`)
	name := s.reaches(id, "working").Workspace
	s.orange("task", "cancel", string(id), "--yes")
	s.rests(id, "cancelled")
	commands := ""
	for line := range strings.Lines(s.orange("workspace", "salvage")) {
		if i := strings.Index(line, "git "); i >= 0 {
			commands += line[i:]
		}
	}
	s.orange("project", "remove", "shop")
	dry := s.orange("workspace", "gc", "--dry-run")
	swept := s.orange("workspace", "gc")
	aside := filepath.Join(s.home, "workspaces", ".aside", name, string(id))
	for _, said := range []string{dry, swept} {
		if !strings.Contains(said, aside) {
			t.Errorf("gc says %q, not where ignored files are: %s", said, aside)
		}
	}
	for file, want := range map[string]string{"x.cache": "built\n", ".claude/settings.local.json": "{}\n"} {
		if text, err := os.ReadFile(filepath.Join(aside, file)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(s.repo, ".git/worktrees", name)); err == nil {
		t.Fatalf("the workspace is still there: %s", swept)
	}
	s.git(s.repo, "gc", "-q", "--prune=now")
	shell := s.command("sh", "-ec", commands)
	shell.Dir = s.repo
	if text, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, commands, text)
	}
	s.git(s.repo, "submodule", "--quiet", "update", "--no-fetch")
	branch := s.git(s.repo, "branch", "--show-current")
	lib := filepath.Join(s.repo, "lib")
	for what, got := range map[string]string{
		"committed": s.git(lib, "show", "HEAD:s"), "changed": s.git(lib, "show", branch+":new"),
		"staged": s.git(s.repo, "show", ":f"), "later": s.git(s.repo, "show", "HEAD:f"),
	} {
		if got != what {
			t.Errorf("%q came back as %q", what, got)
		}
	}
}
