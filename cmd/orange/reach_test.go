package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"orange/internal/adapter/lock"
	"orange/internal/adapter/shim"
	"orange/internal/config"
	"orange/internal/ui/client"
)

// openReach opens a shop whose runtime folder is its own, so that it can be removed.
func openReach(t *testing.T) *env {
	t.Helper()
	s := openEnv(t, "headless")
	s.orange("stop")
	for i, kv := range s.environ {
		if strings.HasPrefix(kv, "XDG_RUNTIME_DIR=") {
			s.environ[i] = "XDG_RUNTIME_DIR=" + filepath.Join(s.dir, "run")
		}
	}
	check(t, os.Mkdir(filepath.Join(s.dir, "run"), 0o700))
	s.environ = append(s.environ, "TMPDIR="+filepath.Join(s.dir, "tmp"))
	check(t, os.Mkdir(filepath.Join(s.dir, "tmp"), 0o700))
	var err error
	s.cfg, err = config.Load(s.getenv, os.UserHomeDir)
	check(t, err)
	s.orange("task", "list")
	return s
}

func (s *env) lockFile() string { return filepath.Join(s.home, "server.lock") }

// serverPID is the pid of the server that answers at a socket, 0 if none does.
func (s *env) serverPID(socket string) int {
	c := client.New(socket)
	defer c.Close()
	hello, err := c.Hello(s.t.Context())
	if err != nil {
		return 0
	}
	return hello.PID
}

// locked waits until a server holds its lock again and says who it is.
func (s *env) locked(pid int) {
	s.t.Helper()
	s.eventually("server.lock is held by the server", func() bool {
		return held(s.lockFile()) && lock.ReadHolder(s.home).PID == pid
	})
}

func TestTheServerStaysReachable(t *testing.T) {
	t.Parallel()
	s := openReach(t)
	id := s.create("feature", `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - run: "while ! test -e ../../../go; do sleep 0.02; done"
  - commit: {file: a.txt, text: "x\n", message: a}
  - section: {name: Handoff, text: "DONE: it"}
  - run: orange task update --status agent-review
  - idle:
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
`)
	s.reaches(id, "working")
	pid := s.serverPID(s.cfg.Socket)
	run, aside := filepath.Dir(s.cfg.Socket), filepath.Join(s.dir, "aside")
	moves := []struct {
		name string
		do   func() error
	}{
		{"the socket is removed", func() error { return os.Remove(s.cfg.Socket) }},
		{"another file is in its place", func() error {
			return errors.Join(os.Remove(s.cfg.Socket), os.WriteFile(s.cfg.Socket, nil, 0o600))
		}},
		{"its folder is removed", func() error { return os.RemoveAll(run) }},
		{"its folder is replaced", func() error { return errors.Join(os.Rename(run, aside), os.Mkdir(run, 0o700)) }},
		{"the lock is removed", func() error { return os.Remove(s.lockFile()) }},
		{"the lock is replaced", func() error {
			return errors.Join(os.Remove(s.lockFile()), os.WriteFile(s.lockFile(), []byte("1\n"), 0o600))
		}},
		{"the socket and the lock are removed", func() error { return errors.Join(os.Remove(s.cfg.Socket), os.Remove(s.lockFile())) }},
	}
	for _, m := range moves {
		t.Run(m.name, func(t *testing.T) {
			check(t, m.do())
			s.orange("task", "list") // finds the same server, however soon it comes
			s.eventually("it listens where it did", func() bool { return s.serverPID(s.cfg.Socket) == pid })
			s.locked(pid)
			info, err := os.Lstat(s.cfg.Socket)
			check(t, err)
			if info.Mode().Perm() != 0o600 {
				t.Errorf("the socket has mode %s", info.Mode())
			}
		})
	}
	check(t, errors.Join(os.RemoveAll(run), os.Remove(s.lockFile())))
	s.write("go", "") // the agent hands over
	s.reaches(id, "reviewing")
	if got := s.serverPID(s.cfg.Socket); got != pid {
		t.Errorf("pid %d answers, not %d", got, pid)
	}
	if out := s.orange("stop"); !strings.Contains(out, "Stopped the server") || !gone(pid) {
		t.Errorf("stop says %q, and pid %d is gone: %v", out, pid, gone(pid))
	}
}

// A runtime folder that is gone with the user's session can only be made by the system.
func TestTheServerListensElsewhereWhileItsFolderCannotBeMade(t *testing.T) {
	t.Parallel()
	s := openReach(t)
	pid := s.serverPID(s.cfg.Socket)
	run := filepath.Dir(s.cfg.Socket)
	check(t, errors.Join(os.Rename(run, run+".aside"), os.WriteFile(run, nil, 0o600))) // as a logout: it cannot be made again
	s.eventually("it listens at the spare place", func() bool { return s.serverPID(s.cfg.FallbackSocket) == pid })
	s.orange("task", "list")
	check(t, errors.Join(os.Remove(run), os.Mkdir(run, 0o700))) // as the next login
	s.eventually("it is back", func() bool { return s.serverPID(s.cfg.Socket) == pid })
	s.orange("task", "list")
	s.locked(pid)
}

func TestNoSecondServerOnAStore(t *testing.T) {
	t.Parallel()
	s := openReach(t)
	pid := s.serverPID(s.cfg.Socket)
	s.hold(pid)                              // so that it mends nothing meanwhile
	defer syscall.Kill(pid, syscall.SIGCONT) //nolint:errcheck // it may be gone
	link := filepath.Join(s.dir, "link")
	check(t, os.Symlink(s.home, link))
	other := filepath.Join(s.dir, "other")
	check(t, errors.Join(os.Mkdir(other, 0o700), os.Symlink(filepath.Join(s.home, "orange.db"), filepath.Join(other, "orange.db"))))
	for _, tt := range []struct {
		name, home string
		without    string
	}{
		{"by its own name", s.home, ""},
		{"through a link to the folder", link, ""},
		{"through a link to the database", other, ""},
		{"without its lock file", s.home, s.lockFile()},
		{"without its lock file, through a link to the database", other, s.lockFile()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			os.Remove(tt.without) //nolint:errcheck // it may be gone already
			cmd := s.command(s.program, "serve")
			cmd.Env = append(cmd.Env, "ORANGE_HOME="+tt.home)
			said, err := cmd.CombinedOutput()
			if err == nil || wrongLine(string(said)) != "" || !strings.Contains(string(said), fmt.Sprintf("pid %d", pid)) {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
}

// A data folder may link to a database that its own server makes.
func TestNoSecondServerOnAStoreThatIsMadeThroughALink(t *testing.T) {
	t.Parallel()
	s := openReach(t)
	s.orange("stop")
	linked, real := filepath.Join(s.dir, "linked"), filepath.Join(s.dir, "real")
	check(t, errors.Join(os.Mkdir(linked, 0o700), os.Mkdir(real, 0o700), os.Symlink(filepath.Join(real, "orange.db"), filepath.Join(linked, "orange.db"))))
	under := func(home string, args ...string) (string, error) {
		cmd := s.command(s.program, args...)
		cmd.Env = append(cmd.Env, "ORANGE_HOME="+home)
		said, err := cmd.CombinedOutput()
		return string(said), err
	}
	said, err := under(linked, "project", "list")
	check(t, err)
	defer under(linked, "stop") //nolint:errcheck // the end of the test
	if _, err := os.Stat(filepath.Join(real, "orange.db")); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	if said, err := under(real, "serve", "--idle", "1s"); err == nil || !strings.Contains(said, "in use by") || wrongLine(said) != "" {
		t.Errorf("a second server: %v, %s", err, said)
	}
}

func TestAServerThatCannotBeReachedIsNamedAndStopped(t *testing.T) {
	t.Parallel()
	s := openReach(t)
	pid := s.serverPID(s.cfg.Socket)
	s.hold(pid)
	check(t, os.Remove(s.cfg.Socket))
	defer syscall.Kill(pid, syscall.SIGCONT) //nolint:errcheck // it is gone
	var wait sync.WaitGroup
	for _, args := range [][]string{{"task", "list"}, {"doctor"}} {
		wait.Go(func() {
			out, said, err := s.run(args...)
			if err == nil || !strings.Contains(out+said, fmt.Sprintf("pid %d", pid)) || !strings.Contains(out+said, "orange stop") && !strings.Contains(out+said, "orange restart") {
				t.Errorf("orange %q: %v, %s%s", args, err, out, said)
			}
		})
	}
	wait.Wait()
	if out := s.orange("stop"); !strings.Contains(out, fmt.Sprintf("Stopped the server (pid %d)", pid)) || !gone(pid) {
		t.Errorf("stop says %q, and pid %d is gone: %v", out, pid, gone(pid))
	}
	if out := s.orange("stop"); !strings.Contains(out, "No server is running") {
		t.Errorf("again: %q", out)
	}
}

func TestStopKillsNobodyElse(t *testing.T) {
	t.Parallel()
	s := openReach(t)
	s.killServer() // leaves its socket and its lock
	other := exec.Command("sleep", "1000")
	check(t, other.Start())
	pid := other.Process.Pid
	defer func() { other.Process.Kill(); other.Wait() }() //nolint:errcheck // the end of the test
	process, ok := shim.FindProcess(pid)
	if !ok {
		t.Fatal("it is not found")
	}
	text := fmt.Sprintf("%d\n%s\n%d %s\n", pid, s.cfg.Socket, process.Start, shim.BootID())
	check(t, os.WriteFile(s.lockFile(), []byte(text), 0o600)) // it is all true, and it does not hold the folder
	if out := s.orange("stop"); !strings.Contains(out, "No server is running") || gone(pid) {
		t.Errorf("stop says %q, and the other is gone: %v", out, gone(pid))
	}
	check(t, os.WriteFile(s.lockFile(), fmt.Appendf(nil, "%d\n%s\n1 %s\n", pid, s.cfg.Socket, shim.BootID()), 0o600))
	f, err := os.Open(s.home)
	check(t, err)
	check(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX)) // somebody holds the folder, and its start is another
	s.refused(fmt.Sprintf("pid %d holds the data folder", os.Getpid()), "stop")
	if gone(pid) {
		t.Error("it was killed")
	}
	check(t, f.Close())
	s.orange("task", "list") // starts a server over what the dead one left
}

// Whoever may write server.lock may name any process in it, with its true start.
func TestStopBelievesTheLockAndNotItsNote(t *testing.T) {
	t.Parallel()
	s := openReach(t)
	pid := s.serverPID(s.cfg.Socket)
	other := exec.Command("sleep", "1000")
	check(t, other.Start())
	defer func() { other.Process.Kill(); other.Wait() }() //nolint:errcheck // the end of the test
	process, ok := shim.FindProcess(other.Process.Pid)
	if !ok {
		t.Fatal("it is not found")
	}
	s.hold(pid)
	defer syscall.Kill(pid, syscall.SIGCONT) //nolint:errcheck // it may be gone
	check(t, os.WriteFile(s.lockFile(), fmt.Appendf(nil, "%d\n%s\n%d %s\n", process.PID, s.cfg.Socket, process.Start, shim.BootID()), 0o600))
	s.refused(fmt.Sprintf("pid %d holds the data folder, and server.lock does not name it", pid), "stop")
	if gone(process.PID) || gone(pid) {
		t.Errorf("the other is gone: %v, the server: %v", gone(process.PID), gone(pid))
	}
}

// Each command leads on: none names another that cannot help either.
func TestAServerWithoutSocketAndLockFileIsLeftToAPerson(t *testing.T) {
	t.Parallel()
	s := openReach(t)
	pid := s.serverPID(s.cfg.Socket)
	s.hold(pid)
	defer syscall.Kill(pid, syscall.SIGCONT) //nolint:errcheck // it may be gone
	check(t, errors.Join(os.Remove(s.cfg.Socket), os.Remove(s.lockFile())))
	var wait sync.WaitGroup
	for _, args := range [][]string{{"stop"}, {"serve"}, {"task", "list"}} {
		wait.Go(func() {
			out, said, err := s.run(args...)
			if err == nil || !strings.Contains(said, fmt.Sprintf("kill %d", pid)) || strings.Contains(out+said, "orange stop") || wrongLine(said) != "" {
				t.Errorf("orange %q: %v, %s%s", args, err, out, said)
			}
		})
	}
	wait.Wait()
}

func TestAServerDoesNotTakeTheSocketOfAnother(t *testing.T) {
	t.Parallel()
	s := openReach(t)
	pid := s.serverPID(s.cfg.Socket)
	check(t, os.Remove(s.cfg.Socket))
	s.hold(pid)
	os.Remove(s.cfg.Socket) //nolint:errcheck // it may have listened again
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.cfg.Socket, Net: "unix"})
	check(t, err)
	taken, err := os.Lstat(s.cfg.Socket)
	check(t, err)
	check(t, syscall.Kill(pid, syscall.SIGCONT))
	s.eventually("the server listens elsewhere", func() bool { return s.serverPID(s.cfg.FallbackSocket) == pid })
	if now, err := os.Lstat(s.cfg.Socket); err != nil || !os.SameFile(now, taken) {
		t.Errorf("it took the other's socket: %v", err)
	}
	check(t, l.Close())
	s.eventually("the server is back", func() bool { return s.serverPID(s.cfg.Socket) == pid })
}

func TestAServerWhoseDataFolderIsRemovedLeaves(t *testing.T) {
	t.Parallel()
	s := openReach(t)
	pid := s.serverPID(s.cfg.Socket)
	check(t, os.Rename(s.home, s.home+".aside"))
	s.eventually("the server is gone", func() bool { return gone(pid) })
	check(t, os.Rename(s.home+".aside", s.home))
	s.orange("task", "list")
}
