package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orange/internal/adapter/lock"
	"orange/internal/adapter/shim"
	"orange/internal/config"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/testneeds"
	"orange/internal/ui/client"
	"orange/internal/wait"
)

// built is the program, built once for all tests that kill it or run many of it.
var built = sync.OnceValues(func() (string, error) {
	if program := os.Getenv(programVariable); program != "" {
		return program, nil
	}
	program := filepath.Join(programs, "orange")
	out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return program, err
})

// programVariable names a program that is built already.
const programVariable = "ORANGE_TEST_PROGRAM"

// programs is where it is built.
var programs string

// shimCommand is the hidden command of the parent of an agent.
const shimCommand = "shim"

func storePath(home string) string    { return filepath.Join(home, "orange.db") }
func backupFolder(home string) string { return filepath.Join(home, "backups") }

// dataFolder says which processes are those of a data folder, and of none of its attempts.
func dataFolder(home string) shim.DataFolder {
	return shim.DataFolder{
		Server:   func() (shim.Process, bool) { return shim.FindProcess(lock.HolderOf(home)) },
		Terminal: config.TerminalSocket(home),
		Attempts: filepath.Join(home, "attempts"),
	}
}

// tidy is the run of all tests with a folder for the program.
type tidy struct{ *testing.M }

// Run implements testscript.TestingM.
func (m tidy) Run() int {
	dir, err := os.MkdirTemp("", "orange-program")
	if err != nil {
		panic(err)
	}
	programs = dir
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	return m.M.Run()
}

// env is an installation with one project, real git, real processes and, unless it is
// headless, real tmux. Its agents play scripts.
type env struct {
	t       *testing.T
	program string
	dir     string
	home    string
	repo    string
	environ []string
	cfg     config.Config
	client  *client.Client // reads without a process for each question
}

// longest bounds every wait for something that must come.
const longest = 90 * time.Second

func openEnv(t *testing.T, sessions string, flags ...string) *env {
	t.Helper()
	testneeds.Server(t)
	if sessions == "tmux" {
		testneeds.Terminal(t)
	}
	program, err := built()
	check(t, err)
	dir, err := os.MkdirTemp("", "s") // a socket's path may have 108 bytes
	check(t, err)
	s := &env{t: t, program: program, dir: dir, home: filepath.Join(dir, "home"), repo: filepath.Join(dir, "shop")}
	s.environ = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "ORANGE_HOME=" + s.home, "XDG_CONFIG_HOME=" + filepath.Join(dir, "config"), "XDG_RUNTIME_DIR=" + dir,
		"TMUX_TMPDIR=" + dir, "LANG=C.UTF-8", "TZ=UTC", "GIT_CONFIG_NOSYSTEM=1",
	}
	s.cfg, err = config.Load(s.getenv, os.UserHomeDir)
	check(t, err)
	s.client = client.FromOptions(client.DialOptions{Socket: s.cfg.Socket, Home: s.cfg.Home})
	s.write("config/orange/config.json", fmt.Sprintf(`{"sessions":%q}`, sessions))
	t.Cleanup(s.close)
	s.git(dir, "init", "-q", "-b", "main", s.repo)
	s.git(s.repo, "config", "user.name", "Shop")
	s.git(s.repo, "config", "user.email", "shop@example.com")
	s.write("shop/README", "shop\n")
	s.git(s.repo, "add", ".")
	s.git(s.repo, "commit", "-qm", "begin")
	s.orange(append([]string{"project", "add", s.repo}, flags...)...)
	return s
}

func (s *env) getenv(name string) string {
	for _, kv := range s.environ {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// close ends whatever the shop started.
func (s *env) close() {
	if s.t.Failed() {
		if text, err := os.ReadFile(filepath.Join(s.home, "orange.log")); err == nil {
			s.t.Logf("the server's log:\n%s", text)
		}
	}
	// With a server that answers, and starts nothing, no shim starts another.
	s.run("pause") //nolint:errcheck // the attempts are ended in any case
	check(s.t, endAttempts(s.program, s.home))
	s.run("stop")                                                               //nolint:errcheck // there may be none
	s.tmux("kill-server")                                                       //nolint:errcheck // there may be none
	exec.Command("chmod", "-R", "u+w", s.dir).Run()                             //nolint:errcheck // so that it can be removed
	if err := os.RemoveAll(s.dir); err != nil && !errors.Is(err, os.ErrExist) { // a late log line
		os.RemoveAll(s.dir) //nolint:errcheck // a temporary folder
	}
}

// endAttempts ends the processes of all attempts of a data folder.
func endAttempts(program, home string) error {
	supervisor := shim.New([]string{program, shimCommand}, dataFolder(home))
	defer supervisor.Close()
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	folders, _ := filepath.Glob(filepath.Join(home, "attempts", "*", "*"))
	var errs []error
	for _, dir := range folders {
		if _, err := supervisor.EndAttempt(ctx, shim.Folder(dir)); err != nil {
			errs = append(errs, fmt.Errorf("end %s: %w", dir, err))
		}
	}
	return errors.Join(errs...)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *env) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	check(s.t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)))
	return path
}

func (s *env) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.repo, s.environ
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

func (s *env) tmux(args ...string) (string, error) {
	out, err := s.command("tmux", append([]string{"-S", s.cfg.Terminal}, args...)...).Output()
	return string(out), err
}

func (s *env) run(args ...string) (stdout, stderr string, err error) {
	cmd := s.command(s.program, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
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

// refused runs a command that must fail with one line that holds the words.
func (s *env) refused(words string, args ...string) {
	s.t.Helper()
	_, said, err := s.run(args...)
	if err == nil || !strings.Contains(said, words) || wrongLine(said) != "" {
		s.t.Fatalf("orange %q: %v, %q, want %q", args, err, said, words)
	}
}

// create begins a task whose agents play a script.
func (s *env) create(branch, script string, more ...string) task.ID {
	s.t.Helper()
	file := s.write("scripts/"+strings.ReplaceAll(branch, "/", "_")+".yaml", script)
	return s.createWith(branch, append([]string{"--harness", "script:" + file, "--review-harness", "script:" + file}, more...)...)
}

func (s *env) createWith(branch string, more ...string) task.ID {
	s.t.Helper()
	var out struct {
		Task task.Task `json:"task"`
	}
	check(s.t, json.Unmarshal([]byte(s.orange(append([]string{"task", "create", "--json", "--project", "shop", branch, "do it"}, more...)...)), &out))
	return out.Task.ID
}

func (s *env) task(id task.ID) task.Task {
	s.t.Helper()
	if shown, err := s.client.ReadTask(s.t.Context(), string(id)); err == nil {
		return shown.Task
	}
	var out struct { // no server answers: the command finds or starts one, or says what is wrong
		Task task.Task `json:"task"`
	}
	check(s.t, json.Unmarshal([]byte(s.orange("task", "show", string(id), "--json")), &out))
	return out.Task
}

// await waits for something that must become true of a task.
func (s *env) await(id task.ID, what string, holds func(t task.Task) bool) task.Task {
	s.t.Helper()
	var t task.Task
	wait.Until(s.t, what, func() bool { t = s.task(id); return holds(t) }, func() any { return t }, func() any { return s.orange("task", "history", string(id)) })
	return t
}

// reaches waits for a status with nothing left to do.
func (s *env) reaches(id task.ID, status string) task.Task {
	s.t.Helper()
	return s.await(id, status, func(t task.Task) bool { return t.Status == status && len(t.Pending) == 0 })
}

// alive waits for an attempt that runs.
func (s *env) alive(id task.ID, attempt int) shim.Started {
	s.t.Helper()
	s.await(id, fmt.Sprintf("attempt %d runs", attempt), func(t task.Task) bool {
		a, ok := t.AttemptByNumber(attempt)
		return ok && a.Running
	})
	state, err := s.folder(id, attempt).ReadState(shim.BootID())
	check(s.t, err)
	return state.Started
}

func (s *env) folder(id task.ID, attempt int) shim.Folder {
	return shim.Folder(filepath.Join(s.home, "attempts", string(id), strconv.Itoa(attempt)))
}

func (s *env) journal(id task.ID) []journal.Entry {
	s.t.Helper()
	entries, err := s.client.ReadJournal(s.t.Context(), string(id), 0)
	check(s.t, err)
	return entries
}

// list is every task, as they were at one moment.
func (s *env) list() []task.Task {
	s.t.Helper()
	if tasks, err := s.client.TaskList(s.t.Context(), task.Filter{All: true}); err == nil {
		return tasks
	}
	var out struct {
		Tasks []task.Task `json:"tasks"`
	}
	check(s.t, json.Unmarshal([]byte(s.orange("task", "list", "--all", "--closed", "--json")), &out))
	return out.Tasks
}

// history is the events of a task, by their types.
func (s *env) history(id task.ID) []string {
	s.t.Helper()
	var out struct {
		History []struct {
			Type   string `json:"type"`
			Reason string `json:"reason"`
		} `json:"history"`
	}
	check(s.t, json.Unmarshal([]byte(s.orange("task", "history", string(id), "--json")), &out))
	var types []string
	for _, e := range out.History {
		types = append(types, strings.TrimSpace(e.Type+" "+e.Reason))
	}
	return types
}

func count(list []string, prefix string) (n int) {
	for _, one := range list {
		if strings.HasPrefix(one, prefix) {
			n++
		}
	}
	return n
}

// killServer kills the server, as a crash would.
func (s *env) killServer() {
	s.t.Helper()
	path := filepath.Join(s.home, "server.lock")
	pid := lock.ReadHolder(s.home).PID
	check(s.t, syscall.Kill(pid, syscall.SIGKILL))
	s.eventually("the server is gone", func() bool { return !held(path) })
}

// crashingServer replaces the server by one that kills itself at a boundary. A server that
// was told to stop gives its lock back last of all, and held takes the lock for a moment:
// the new server must meet neither, or it leaves as the second of two.
func (s *env) crashingServer(at int, point string) *exec.Cmd {
	s.t.Helper()
	s.orange("stop")
	path := filepath.Join(s.home, "server.lock")
	s.eventually("the server has left", func() bool { return !held(path) })
	cmd := s.command(s.program, "serve", "--crash-at", strconv.Itoa(at), "--crash-point", point)
	check(s.t, cmd.Start())
	s.eventually("the server has its lock", func() bool { return lock.ReadHolder(s.home).PID == cmd.Process.Pid })
	return cmd
}

func (s *env) eventually(what string, holds func() bool) {
	s.t.Helper()
	wait.Until(s.t, what, holds)
}

func kill(t *testing.T, pid int) {
	t.Helper()
	check(t, syscall.Kill(pid, syscall.SIGKILL))
}

// gone says whether a process is not there, or has ended and nobody waited for it.
func gone(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}

// syscallKill kills a process that may have ended already.
func syscallKill(pid int) {
	syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // that is what is wanted
}

// pid reads a number that a script wrote.
func (s *env) pid(name string) int {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	check(s.t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	check(s.t, err)
	return n
}
