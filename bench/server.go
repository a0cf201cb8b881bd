package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// program runs the real orange on one data folder.
type program struct {
	path  string
	dir   string
	env   []string
	apart bool // its server does not receive signals of this program's terminal
}

func newProgram(path, dir string) *program {
	return &program{path: path, dir: dir, env: []string{
		"ORANGE_HOME=" + filepath.Join(dir, "home"), "XDG_CONFIG_HOME=" + filepath.Join(dir, "config"),
		"ORANGE_ROLE=", "ORANGE_TASK=", "ORANGE_ATTEMPT=", "ORANGE_TOKEN=", "ORANGE_LOG_LEVEL=", "ORANGE_EFFECTS=record",
	}}
}

// getenv returns a variable of the program. The last definition counts.
func (p *program) getenv(name string) string {
	for _, kv := range slices.Backward(p.env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

func (p *program) newCommand(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = p.dir
	cmd.Env = append(cmd.Environ(), p.env...)
	return cmd
}

// runOrange runs orange and discards its output.
func (p *program) runOrange(args ...string) error {
	cmd := p.newCommand(p.path, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("orange %v: %w: %s", args, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

// timedRun returns a measurement of one command from its start to its end.
func (p *program) timedRun(args ...string) func() (time.Duration, error) {
	return timedCall(func() error { return p.runOrange(args...) })
}

// serverTimeout is how long a server may take to start or to stop.
const serverTimeout = time.Minute

// startServer starts the server and returns when it listens. stop ends it.
func (p *program) startServer() (pid int, stop func() error, err error) {
	cmd := p.newCommand(p.path, "serve", "--idle", "10m")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: p.apart}
	if err := cmd.Start(); err != nil {
		return 0, nil, fmt.Errorf("start the server: %w", err)
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	stop = func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return fmt.Errorf("stop the server: %w", err)
		}
		select {
		case err := <-gone:
			return err
		case <-time.After(serverTimeout):
			return errors.Join(errors.New("the server does not leave"), cmd.Process.Kill())
		}
	}
	log := filepath.Join(p.dir, "home", "orange.log")
	for deadline := time.Now().Add(serverTimeout); ; time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(log); err == nil && bytes.Contains(text, []byte(`"msg":"serving"`)) {
			return cmd.Process.Pid, stop, nil
		}
		select {
		case err := <-gone:
			return 0, nil, fmt.Errorf("the server left at once: %v", err)
		default:
		}
		if time.Now().After(deadline) {
			return 0, nil, errors.Join(errors.New("the server does not listen"), stop())
		}
	}
}

// measureServer measures the real program on a data folder with many tasks.
func measureServer(r *report, dir, orange string) (err error) {
	p := newProgram(orange, dir)
	ids, err := createDataFolder(filepath.Join(dir, "home"))
	if err != nil {
		return fmt.Errorf("make a data folder: %w", err)
	}
	pid, stop, err := p.startServer()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, measure := range []func() error{
		func() error { return measureList(r, p) },
		func() error { return measureUpdate(r, p, ids) },
		func() error { return measureRest(r, pid) },
	} {
		if err := measure(); err != nil {
			return err
		}
	}
	return nil
}
