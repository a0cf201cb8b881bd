package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"orange/internal/core/agent"
)

// startAgent starts the agent and records that it runs.
func (a *shim) startAgent(o Orders) error {
	// The key is on disk before the first process that carries it.
	if err := a.folder.replaceRecord(claimFile, a.claim); err != nil {
		return err
	}
	program, err := findProgram(o.Orders)
	if err != nil {
		return err
	}
	attr := &syscall.ProcAttr{Dir: o.Dir, Env: o.Env}
	if o.Window != nil {
		if _, err := unix.IoctlGetInt(0, unix.TIOCGPGRP); err != nil {
			return errors.New("there is no terminal: start the attempt in one, or headless")
		}
		if self, err := readProcess(os.Getpid()); err == nil {
			if server, err := readProcess(self.parent); err == nil { // of the window
				a.claim.Terminal = server.Process
			}
		}
		attr.Files = []uintptr{0, 1, 2}
		attr.Sys = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
		return a.runProgram(program, o.Argv, attr)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return fmt.Errorf("cannot start without input: %w", err)
	}
	defer null.Close() //nolint:errcheck // it is empty
	output, into, err := newRecorder(a.folder.filePath(outputFile))
	if err != nil {
		return fmt.Errorf("cannot open the log: %w", err)
	}
	a.output = output
	defer into.Close() //nolint:errcheck // the agent has it open
	attr.Files = []uintptr{null.Fd(), into.Fd(), into.Fd()}
	attr.Sys = &syscall.SysProcAttr{Setsid: true}
	return a.runProgram(program, o.Argv, attr)
}

// runProgram starts the program. If the start cannot be recorded, it kills the program.
func (a *shim) runProgram(program string, argv []string, attr *syscall.ProcAttr) error {
	pid, err := syscall.ForkExec(program, argv, attr)
	if err != nil {
		return fmt.Errorf("cannot start %q: %w", argv[0], err)
	}
	child, err := readProcess(pid) // it exists even if it has ended, because nothing has waited for it
	a.claim.Child, a.claim.PGID, a.claim.At = child.Process, pid, time.Now()
	if err == nil {
		err = a.folder.replaceRecord(startedFile, a.claim)
	}
	if err != nil {
		a.claim.Child.PID = pid
		a.signals <- unix.SIGTERM
		a.waitForEnd()
		return fmt.Errorf("cannot write down what was started: %w", err)
	}
	return nil
}

// findProgram finds the program as a shell would in the agent's environment.
func findProgram(o agent.Orders) (string, error) {
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("cannot start in %q: there is no such folder", o.Dir)
	}
	name := o.Argv[0]
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.Dir, path)
		}
		return path, checkExecutable(name, path)
	}
	for _, dir := range filepath.SplitList(envValue(o.Env, "PATH")) {
		path := filepath.Join(dir, name)
		if filepath.IsAbs(dir) && checkExecutable(name, path) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("cannot start %q: it is not in the path: install it or say where it is", name)
}

func checkExecutable(name, path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("cannot start %q: there is no such file", name)
	case err != nil:
		return fmt.Errorf("cannot start %q: %w", name, err)
	case info.IsDir():
		return fmt.Errorf("cannot start %q: it is a folder", name)
	case unix.Access(path, unix.X_OK) != nil:
		return fmt.Errorf("cannot start %q: it is not executable", name)
	}
	return nil
}

// outsideEnv returns an environment without the variables that make a process part of an attempt.
func outsideEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "ORANGE_TOKEN", "ORANGE_TASK", "ORANGE_ROLE", "ORANGE_ATTEMPT", KeyVariable, TmuxVariable:
			return true
		}
		return false
	})
}

// wakeServer runs the wake command if no server responds. It runs nothing if the folder of the attempt is gone: the data
// folder was moved or removed, and a server would begin an empty one in its place. The command is detached and not waited for, because the shim
// exits.
func (a *shim) wakeServer() error {
	if len(a.wake) == 0 {
		return nil
	}
	if _, err := os.Stat(string(a.folder)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if a.socket != "" {
		if c, err := net.DialTimeout("unix", a.socket, 2*time.Second); err == nil {
			return c.Close()
		}
	}
	program, err := findProgram(agent.Orders{Argv: a.wake, Env: a.wakeEnv, Dir: "/"})
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close() //nolint:errcheck // it is empty
	_, err = syscall.ForkExec(program, a.wake, &syscall.ProcAttr{
		Dir: "/", Env: a.wakeEnv, Files: []uintptr{null.Fd(), null.Fd(), null.Fd()}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	return err
}
