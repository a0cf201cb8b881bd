//go:build agents

// Package agents_test runs the whole product with the real agent CLIs: Orange starts them, a scripted model on loopback
// answers them, and they really run their tools. It needs the CLIs that scripts/agents.sh installs, and no network.
package agents_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/adapter/shim"
	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/scriptedmodel"
	"orange/internal/wait"
	"orange/internal/wire"
)

// longest is the timeout of every wait.
const longest = 4 * time.Minute

// program is Orange, built once.
var program string

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	dir, err := os.MkdirTemp("", "orange-program")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	program = filepath.Join(dir, "orange")
	if out, err := exec.Command("go", "build", "-o", program, "orange/cmd/orange").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build orange: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// installed returns the folder with the programs of the CLIs, as scripts/agents.sh creates it.
func installed(t *testing.T, agent string) string {
	t.Helper()
	dir := os.Getenv("ORANGE_AGENTS_DIR")
	if dir == "" {
		dir = filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(os.Getenv("HOME"), ".cache")), "orange-agents")
	}
	bin := filepath.Join(dir, "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(bin, agent)); err != nil {
		t.Fatalf("%s is not installed: run scripts/agents.sh (%v)", agent, err)
	}
	return bin
}

// env is an installation of Orange for one agent, with one project.
type env struct {
	t     *testing.T
	agent string
	dir   string // HOME too
	data  string
	repo  string
	env   []string
	model *scriptedmodel.ModelServer
	tmux  string // its socket

	crashes  int // expected number of crashes
	sessions string
}

func newEnv(t *testing.T, agent, sessions string, scripts []scriptedmodel.Script) *env {
	t.Helper()
	bin := installed(t, agent)
	dir, err := os.MkdirTemp("", "a") // a socket's path may have 108 bytes
	check(t, err)
	s := &env{t: t, agent: agent, dir: dir, data: filepath.Join(dir, "data"), repo: filepath.Join(dir, "shop"), sessions: sessions}
	t.Cleanup(s.close)
	s.model, err = scriptedmodel.Start(scripts)
	check(t, err)
	h := homeOf(agent, dir, s.model.URL())
	s.env = append([]string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + dir, "ORANGE_HOME=" + s.data, "XDG_RUNTIME_DIR=" + dir,
		"TMUX_TMPDIR=" + dir, "LANG=C.UTF-8", "TZ=UTC", "GIT_CONFIG_NOSYSTEM=1",
	}, h.env...)
	cfg, err := config.Load(s.getenv, func() (string, error) { return dir, nil })
	check(t, err)
	s.tmux = cfg.Terminal
	for name, text := range h.files {
		s.write(name, text)
	}
	names, err := json.Marshal(append([]string{}, h.names...))
	check(t, err)
	s.write(".config/orange/config.json", fmt.Sprintf(`{"sessions":%q,"agent_env":%s}`, sessions, names))
	s.git(dir, "init", "-q", "-b", "main", s.repo)
	s.git(s.repo, "config", "user.name", "Shop")
	s.git(s.repo, "config", "user.email", "shop@example.com")
	s.write("shop/README", "shop\n")
	s.git(s.repo, "add", ".")
	s.git(s.repo, "commit", "-qm", "begin")
	s.orange("project", "add", s.repo)
	return s
}

func (s *env) getenv(name string) string {
	for _, kv := range s.env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// close ends everything that the env started.
func (s *env) close() {
	if s.t.Failed() {
		s.report()
	}
	s.run("stop") //nolint:errcheck // there may be none
	supervisor := shim.New([]string{program, "attend"}, shim.DataFolder{})
	defer supervisor.Close()
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	folders, _ := filepath.Glob(filepath.Join(s.data, "attempts", "*", "*"))
	for _, dir := range folders {
		if _, err := supervisor.EndAttempt(ctx, shim.Folder(dir)); err != nil {
			s.t.Errorf("end %s: %v", dir, err)
		}
	}
	s.run("stop")                                        //nolint:errcheck // an agent's command may have started one
	s.command("tmux", "-S", s.tmux, "kill-server").Run() //nolint:errcheck // there may be none
	if s.model != nil {
		s.model.Close() //nolint:errcheck // the test is over
	}
	for range 20 { // something may still be writing
		if err := os.RemoveAll(s.dir); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// report logs what helps to analyse a failure.
func (s *env) report() {
	for _, name := range []string{"data/orange.log", "data/attempts/*/*/card.json", "data/attempts/*/*/output.log"} {
		files, _ := filepath.Glob(filepath.Join(s.dir, name))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			s.t.Logf("%s:\n%q", file, text[max(0, len(text)-3000):])
		}
	}
	panes, _ := s.command("tmux", "-S", s.tmux, "list-panes", "-a", "-F", "#{pane_id}").Output()
	for _, pane := range strings.Fields(string(panes)) {
		text, _ := s.command("tmux", "-S", s.tmux, "capture-pane", "-p", "-t", pane).Output()
		s.t.Logf("pane %s:\n%s", pane, text)
	}
	for _, r := range s.model.Requests() {
		s.t.Logf("asked: %d %s %s %s turn %d: %.150q -> %.150q", r.Number, r.Kind, r.Path, r.Script, r.Turn, r.Prompt, r.Answer)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *env) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	check(s.t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)))
}

func (s *env) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

func (s *env) git(dir string, args ...string) string {
	s.t.Helper()
	cmd := s.command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *env) run(args ...string) (stdout, stderr string, err error) {
	cmd := s.command(program, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err = cmd.Run()
	return out.String(), said.String(), err
}

// orange runs a command that must succeed.
func (s *env) orange(args ...string) string {
	s.t.Helper()
	out, said, err := s.run(args...)
	if err != nil {
		s.t.Fatalf("orange %q: %v\n%s%s", args, err, out, said)
	}
	return out
}

// ask runs a command and decodes the JSON it prints.
func (s *env) ask(into any, args ...string) {
	s.t.Helper()
	out := s.orange(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), into); err != nil {
		s.t.Fatalf("orange %q: %v\n%s", args, err, out)
	}
}

// create creates a task that the env's agent works on and reviews.
func (s *env) create(more ...string) task.ID {
	s.t.Helper()
	var out struct {
		Task task.Task `json:"task"`
	}
	s.ask(&out, append([]string{"task", "create", "--project", "shop", "feature", "make a button", "--harness", s.agent, "--review-harness", s.agent}, more...)...)
	return out.Task.ID
}

func (s *env) task(id task.ID) task.Task {
	s.t.Helper()
	var out struct {
		Task task.Task `json:"task"`
	}
	s.ask(&out, "task", "show", string(id))
	return out.Task
}

func (s *env) attempts(id task.ID) []wire.Attempt {
	s.t.Helper()
	var out struct {
		Attempts []wire.Attempt `json:"attempts"`
	}
	s.ask(&out, "task", "attempts", string(id))
	return out.Attempts
}

// happened counts the events of a type in a task's history.
func (s *env) happened(id task.ID, kind string) (n int) {
	s.t.Helper()
	var out struct {
		History []struct {
			Type string `json:"type"`
		} `json:"history"`
	}
	s.ask(&out, "task", "history", string(id))
	for _, e := range out.History {
		if e.Type == kind {
			n++
		}
	}
	return n
}

// taskFile returns the present TASK.md.
func (s *env) taskFile(t task.Task) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.worktree(t), "TASK.md"))
	check(s.t, err)
	return string(text)
}

func (s *env) worktree(t task.Task) string { return filepath.Join(s.data, "workspaces", t.Workspace) }

// await waits until a condition holds for a task.
func (s *env) await(id task.ID, what string, holds func(task.Task) bool) task.Task {
	s.t.Helper()
	var t task.Task
	seen := func() any { return fmt.Sprintf("%+v\n%s", t, s.orange("task", "history", string(id))) }
	wait.Until(s.t, what, func() bool {
		if t = s.task(id); holds(t) {
			return true
		}
		if t.Status == "stuck" || t.CounterValue("crash_count") > s.crashes {
			s.t.Fatalf("the task failed, expected: %s\n%v", what, seen())
		}
		return false
	}, seen)
	return t
}
