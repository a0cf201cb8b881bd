package shim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orange/internal/adapter/shim"
	"orange/internal/core/agent"
	"orange/internal/wait"
)

// TestMain lets the test binary be a shim, and a small agent. They leave without
// the second that the race detector takes at the end of a process.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "shim":
			syscall.Exit(shim.RunShim(os.Args[2], dataFolder(filepath.Dir(filepath.Dir(filepath.Dir(os.Args[2]))))))
		case "attend-briefly":
			syscall.Exit(shim.AttendBriefly(os.Args[2], 20*time.Millisecond))
		case "linger":
			os.Exit(linger(os.Args[2]))
		case "write-arguments":
			syscall.Exit(writeArguments(os.Args[2], os.Args[3:]))
		}
	}
	os.Exit(m.Run())
}

// dataFolder returns one whose server is the process that a file names.
func dataFolder(home string) shim.DataFolder {
	return shim.DataFolder{Attempts: filepath.Join(home, "attempts"), Terminal: filepath.Join(home, "tmux.sock"), Server: func() (shim.Process, bool) {
		text, _ := os.ReadFile(filepath.Join(home, "server"))
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return shim.FindProcess(pid)
	}}
}

// linger writes its pid to a file and stays.
func linger(path string) int {
	if err := os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
		return 1
	}
	time.Sleep(time.Hour)
	return 0
}

// writeArguments returns an agent that writes its arguments and environment to a file.
func writeArguments(path string, args []string) int {
	text, err := json.Marshal([][]byte{[]byte(strings.Join(args, "\x00")), []byte(strings.Join(os.Environ(), "\x00"))})
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return 1
	}
	return 0
}

// self returns the program that attends.
func self(t *testing.T) []string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{path, "shim"}
}

// A env is a supervisor and a folder for one attempt.
type env struct {
	*shim.Supervisor
	t      *testing.T
	folder shim.Folder
	dir    string // for the agent's own files
	key    string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	home, err := os.MkdirTemp("", "shim") // short, and without the test's name: paths of sockets are at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	s := &env{Supervisor: shim.New(self(t), dataFolder(home)), t: t, folder: shim.Folder(filepath.Join(home, "attempts", "t", "1")), dir: home}
	s.key = fmt.Sprintf("%s-%d", t.Name(), os.Getpid())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := s.EndAttempt(ctx, s.folder); err != nil {
			t.Errorf("clean up: %v", err)
		}
		s.Close()
		os.RemoveAll(home) //nolint:errcheck // a process of the test may still write
	})
	return s
}

// orders run a script without a terminal. $DIR in it is the stage's folder.
func (s *env) orders(script string) shim.Orders {
	return shim.Orders{Orders: agent.Orders{
		Argv: []string{"sh", "-c", script},
		Env:  []string{"PATH=" + os.Getenv("PATH"), "DIR=" + s.dir, shim.KeyVariable + "=" + s.key, "ORANGE_TOKEN=s3cret-token"},
		Dir:  s.dir,
	}, Grace: 200 * time.Millisecond}
}

func (s *env) start(o shim.Orders) shim.Started {
	s.t.Helper()
	started, err := s.StartAttempt(s.t.Context(), s.folder, o, s.PlainLaunch())
	if err != nil {
		s.t.Fatal(err)
	}
	return started
}

// watch returns a channel that gets every exit that is reported.
func (s *env) watch() <-chan agent.Exit {
	s.t.Helper()
	exits := make(chan agent.Exit, 10)
	if err := s.WatchAttempt(s.folder, func(e agent.Exit) { exits <- e }); err != nil {
		s.t.Fatal(err)
	}
	return exits
}

func (s *env) state() shim.State {
	s.t.Helper()
	state, err := s.folder.ReadState(shim.BootID())
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

// pid waits for a script to write a pid into a file of the stage.
func (s *env) pid(name string) int {
	s.t.Helper()
	var pid int
	wait.Until(s.t, name+" has been written", func() bool {
		text, err := os.ReadFile(filepath.Join(s.dir, name))
		if err == nil && strings.HasSuffix(string(text), "\n") {
			pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		return err == nil && pid > 0
	})
	return pid
}

// receive waits for one exit.
func receive(t *testing.T, exits <-chan agent.Exit) agent.Exit {
	t.Helper()
	select {
	case e := <-exits:
		return e
	case <-time.After(time.Minute):
		t.Fatal("no exit was reported")
		return agent.Exit{}
	}
}

// gone reports whether a process is not there, or has ended and nobody waited for it.
func gone(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}

func TestAnEndIsRecordedAndReported(t *testing.T) {
	cases := []struct {
		what, script string
		code         int
		signal       string
	}{
		{"a normal end", "exit 0", 0, ""},
		{"an exit code", "exit 7", 7, ""},
		{"a high exit code", "exit 255", 255, ""},
		{"killed by SIGKILL", "kill -9 $$", 137, "SIGKILL"},
		{"killed by SIGTERM", "kill $$", 143, "SIGTERM"},
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			s := newEnv(t)
			started := s.start(s.orders("echo out; echo err >&2; " + c.script))
			if started.Child.PID == 0 || started.Shim.PID == 0 || started.PGID != started.Child.PID || started.Key != s.key || started.BootID != shim.BootID() {
				t.Errorf("started: %+v", started)
			}
			exit := receive(t, s.watch())
			if exit.Code != c.code || exit.Signal != c.signal || exit.Reason != "" || exit.At.Before(started.At) || exit.BootID != shim.BootID() {
				t.Errorf("exit: %+v", exit)
			}
			if state := s.state(); state.Phase != shim.Over || state.Exit.Code != c.code || state.Started.Child != started.Child {
				t.Errorf("state: %+v", state)
			}
			text, err := os.ReadFile(string(s.folder) + "/output.log")
			if err != nil || string(text) != "out\nerr\n" {
				t.Errorf("output: %q, %v", text, err)
			}
			again, err := s.EndAttempt(t.Context(), s.folder)
			if err != nil || !again.At.Equal(exit.At) {
				t.Errorf("End of what is over: %+v, %v", again, err)
			}
		})
	}
}

func TestAProgramThatCannotBeStartedIsAnErrorWithTheReason(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		what, want string
		change     func(*shim.Orders)
	}{
		{"not in the path", "not in the path", func(o *shim.Orders) { o.Argv = []string{"no-such-program"} }},
		{"no path at all", "not in the path", func(o *shim.Orders) { o.Env = nil }},
		{"no such file", "no such file", func(o *shim.Orders) { o.Argv = []string{"/no/such/program"} }},
		{"not executable", "not executable", func(o *shim.Orders) { o.Argv = []string{plain} }},
		{"a folder", "is a folder", func(o *shim.Orders) { o.Argv = []string{dir} }},
		{"no interpreter", "cannot start", func(o *shim.Orders) { o.Argv = []string{broken} }},
		{"no working folder", "no such folder", func(o *shim.Orders) { o.Dir = "/no/such/folder" }},
		{"no terminal", "no terminal", func(o *shim.Orders) { o.Window = new(agent.Window) }},
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			s := newEnv(t)
			o := s.orders("exit 0")
			c.change(&o)
			_, err := s.StartAttempt(t.Context(), s.folder, o, s.PlainLaunch())
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("Start: %v, want %q", err, c.want)
			}
			if state := s.state(); state.Phase != shim.Over || state.Exit.Code != 127 {
				t.Errorf("state: %+v", state)
			}
			exit := receive(t, s.watch())
			if exit.Code != 127 || exit.Reason == "" {
				t.Errorf("exit: %+v", exit)
			}
			// Once the cause is gone the same attempt may be started.
			s.start(s.orders("exit 3"))
			if exit := receive(t, s.watch()); exit.Code != 3 {
				t.Errorf("exit of the second try: %+v", exit)
			}
		})
	}
}

func TestOrdersOfAnySizeAndAnyBytesArriveUnchanged(t *testing.T) {
	s := newEnv(t)
	var every strings.Builder
	for b := 1; b < 256; b++ {
		every.WriteByte(byte(b))
	}
	long := strings.Repeat("a long prompt\n", 120_000/14) // more than a pipe holds, less than an argument may be
	args := []string{every.String(), "", long, every.String() + every.String(), long}
	file := filepath.Join(s.dir, "arguments")
	o := s.orders("")
	o.Argv = append([]string{self(t)[0], "write-arguments", file}, args...)
	o.Env = append(o.Env, "BYTES="+every.String())
	s.start(o)
	if exit := receive(t, s.watch()); exit.Code != 0 {
		t.Fatalf("exit: %+v", exit)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got [][]byte
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if string(got[0]) != strings.Join(args, "\x00") {
		t.Error("the arguments differ")
	}
	if string(got[1]) != strings.Join(o.Env, "\x00") {
		t.Errorf("the environment differs: %q", got[1])
	}
}

func TestAnArgumentThatCannotBePassedIsAnError(t *testing.T) {
	s := newEnv(t)
	o := s.orders("")
	o.Argv = []string{"sh", "-c", strings.Repeat("#", 200_000)} // the kernel takes 128 KB
	if _, err := s.StartAttempt(t.Context(), s.folder, o, s.PlainLaunch()); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("Start: %v", err)
	}
}

func TestSecretsAreInNoFile(t *testing.T) {
	s := newEnv(t)
	s.start(s.orders("echo up >$DIR/up; exec sleep 1000"))
	wait.Until(t, "the agent is up", func() bool { _, err := os.Stat(s.dir + "/up"); return err == nil })
	search := func() {
		t.Helper()
		err := filepath.WalkDir(string(s.folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Type() == fs.ModeNamedPipe {
				return err
			}
			text, err := os.ReadFile(path)
			if strings.Contains(string(text), "s3cret") {
				t.Errorf("%s holds the token: %s", path, text)
			}
			if info, err := d.Info(); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	search()
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.state().Started.Shim.PID))
	hidden := os.Getuid() != 0 && errors.Is(err, fs.ErrPermission)
	if want := shim.KeyVariable + "=" + s.key + "\x00"; !hidden && (err != nil || string(environ) != want) {
		t.Errorf("the shim's environment: %q, %v", environ, err)
	}
	if _, err := s.EndAttempt(t.Context(), s.folder); err != nil {
		t.Fatal(err)
	}
	search()
	for name, want := range map[string]os.FileMode{"": os.ModeDir | 0o700, "orders": os.ModeNamedPipe | 0o600} {
		if info, err := os.Lstat(filepath.Join(string(s.folder), name)); err != nil || info.Mode() != want {
			t.Errorf("%q: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestStartingTwiceStartsOnce(t *testing.T) {
	s := newEnv(t)
	var all sync.WaitGroup
	pids := make([]int, 5)
	for i := range pids {
		all.Go(func() {
			started, err := s.StartAttempt(context.WithoutCancel(t.Context()), s.folder, s.orders("echo x >>$DIR/starts; exec sleep 1000"), s.PlainLaunch())
			if err != nil {
				t.Error(err)
			}
			pids[i] = started.Child.PID
		})
	}
	all.Wait()
	for _, pid := range pids {
		if pid == 0 || pid != pids[0] {
			t.Errorf("pids: %v", pids)
		}
	}
	wait.Until(t, "the agent has started", func() bool { _, err := os.Stat(s.dir + "/starts"); return err == nil })
	if _, err := s.EndAttempt(t.Context(), s.folder); err != nil {
		t.Fatal(err)
	}
	if started, err := s.StartAttempt(t.Context(), s.folder, s.orders("echo x >>$DIR/starts"), s.PlainLaunch()); err != nil || started.Child.PID != pids[0] {
		t.Errorf("Start of what has run: %+v, %v", started, err)
	}
	if text, err := os.ReadFile(s.dir + "/starts"); err != nil || string(text) != "x\n" {
		t.Errorf("starts: %q, %v", text, err)
	}
}

func TestOfTwoShimsOneExits(t *testing.T) {
	s := newEnv(t)
	twice := func(ctx context.Context, argv []string) error {
		return errors.Join(s.PlainLaunch()(ctx, argv), s.PlainLaunch()(ctx, argv))
	}
	if _, err := s.StartAttempt(t.Context(), s.folder, s.orders("echo x >>$DIR/starts; exit 4"), twice); err != nil {
		t.Fatal(err)
	}
	if exit := receive(t, s.watch()); exit.Code != 4 {
		t.Errorf("exit: %+v", exit)
	}
	if text, err := os.ReadFile(s.dir + "/starts"); err != nil || string(text) != "x\n" {
		t.Errorf("starts: %q, %v", text, err)
	}
}
