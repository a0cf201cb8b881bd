package selftest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"orange/internal/config"
	"orange/internal/ui/client"
)

// process is a server that this package starts and that may die at any time.
type process struct {
	program string
	home    string

	cmd    *exec.Cmd
	said   *bytes.Buffer
	gone   chan struct{}
	client *client.Client
	socket string
	deaths int
}

// startTime limits how long a server may take to answer.
const startTime = 30 * time.Second

// errDied means that the server is dead, as intended.
var errDied = errors.New("the server died")

// startServer runs the server and waits until it answers or is dead.
func (p *process) startServer(ctx context.Context, crashAt int) error {
	values := map[string]string{}
	for _, pair := range config.ServerEnv(config.Environ()) {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	values["ORANGE_EFFECTS"] = "record" // the comparison is about requested effects
	values["ORANGE_HOME"], values["HOME"], values["XDG_RUNTIME_DIR"] = p.home, p.home, filepath.Dir(p.home)
	cfg, err := config.Load(func(key string) string { return values[key] }, func() (string, error) { return p.home, nil })
	if err != nil {
		return err
	}
	p.cmd = exec.Command(p.program, "serve", "--crash-at", strconv.Itoa(crashAt))
	p.cmd.Env = []string{}
	for name, value := range values {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.socket, p.client = cfg.Socket, client.New(cfg.Socket)
	return p.launch(ctx)
}

// launch starts the process of the server, and waits until it answers.
func (p *process) launch(ctx context.Context) error {
	p.said = &bytes.Buffer{}
	p.cmd.Stderr = p.said
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.program, err)
	}
	gone, cmd := make(chan struct{}), p.cmd
	go func() {
		cmd.Wait() //nolint:errcheck // its state is kept
		close(gone)
	}()
	p.gone = gone
	return p.awaitAnswer(ctx)
}

// wasKilled waits for the end of the server, and reports whether SIGKILL ended it.
func (p *process) wasKilled() bool {
	<-p.gone
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// awaitAnswer waits until the server answers.
func (p *process) awaitAnswer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		if _, err := p.client.Hello(ctx); err == nil {
			return nil
		}
		select {
		case <-p.gone:
			return fmt.Errorf("%w: %s", errDied, strings.TrimSpace(p.said.String()))
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w", ctx.Err())
		case <-time.After(wait):
		}
	}
}

// removeSocket removes the socket and server.lock, as a cleaner of temporary files would, and
// waits until the server answers again or is dead.
func (p *process) removeSocket(ctx context.Context) error {
	for _, path := range []string{p.socket, filepath.Join(p.home, "server.lock")} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	p.client.Close() // an open connection would still reach it
	return p.awaitAnswer(ctx)
}

// isDead reports whether the server is gone. It waits for a moment, because a broken connection
// shows before the process has ended.
func (p *process) isDead() bool {
	select {
	case <-p.gone:
		return true
	case <-time.After(2 * time.Second):
		return false
	}
}

// restartServer starts the server once more, undisturbed.
func (p *process) restartServer(ctx context.Context) error {
	p.deaths++
	p.client.Close()
	return p.startServer(ctx, 0)
}

// stopServer ends the server and waits for it.
func (p *process) stopServer() {
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}
	p.client.Close()
	p.cmd.Process.Kill() //nolint:errcheck // it may be gone
	<-p.gone
}
