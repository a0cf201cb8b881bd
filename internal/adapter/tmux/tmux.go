// Package tmux gives agents a terminal: windows of a separate tmux server, with its own socket
// and options, so that users' configurations and sessions are not touched. It opens, lists,
// reads, writes and closes windows. It knows nothing about the programs in them, and it never
// concludes from a window whether an agent is alive.
package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// timeout is how long one tmux command may take.
const timeout = 10 * time.Second

// Terminal is the value of TERM for a program in a window.
const Terminal = "screen-256color"

// ErrOpen means that the window already exists and its program still runs.
var ErrOpen = errors.New("the window is open already: close it first")

// ErrGone means that the window does not exist, or that its program has ended.
var ErrGone = errors.New("no program runs in that window: open it first")

// errNoServer means that no tmux server runs at the socket, or that it ended during the call,
// as a server without sessions does.
var errNoServer = errors.New("no tmux server is running")

// Server is one tmux server. The first OpenWindow starts it, and it ends with its last session.
// Its methods are safe for concurrent use.
type Server struct {
	program string
	socket  []string
	env     []string
	buffers atomic.Int64
	panes   sync.Map // names of windows to the ids of their panes, as last seen
}

// New returns the tmux server with this socket: a name for -L or, if it contains a slash, a
// path for -S. The server and the programs in it get env and nothing else.
func New(socket string, env []string) *Server {
	flag := "-L"
	if strings.Contains(socket, "/") {
		flag = "-S"
	}
	return &Server{program: "tmux", socket: []string{flag, socket}, env: withoutTmux(env)}
}

// withoutTmux drops the variables from which tmux concludes that it is called inside a pane of
// another server. The result is never nil, because nil would mean the environment of this
// process.
func withoutTmux(env []string) []string {
	kept := []string{}
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); name != "TMUX" && name != "TMUX_PANE" {
			kept = append(kept, v)
		}
	}
	return kept
}

// tmuxArgs returns the arguments of tmux for this server.
func (s *Server) tmuxArgs(commands ...string) []string {
	return append(append(append([]string{s.program}, s.socket...), "-f", "/dev/null", "-u"), commands...)
}

// runCommands runs one tmux process with commands and returns its output.
func (s *Server) runCommands(ctx context.Context, stdin io.Reader, commands ...command) (string, error) {
	return s.runProcess(ctx, stdin, s.tmuxArgs(joinCommands(commands...)...))
}

func (s *Server) runProcess(ctx context.Context, stdin io.Reader, argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = s.env
	cmd.Dir = "/" // a server keeps the folder in which it was started
	cmd.Stdin = stdin
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out.String(), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("tmux is not installed: install tmux 3.2 or later and try again")
	case ctx.Err() != nil:
		return "", fmt.Errorf("tmux took too long: %w", ctx.Err())
	case errors.As(err, &exit):
		return "", errorFromOutput(errs.String())
	}
	return "", fmt.Errorf("run tmux: %w", err)
}

// errorFromOutput returns tmux's error output as an error.
func errorFromOutput(said string) error {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	for _, sign := range [...]string{"no server running", "server exited", "lost server", "no current target", "no sessions"} {
		if strings.Contains(line, sign) {
			return errNoServer
		}
	}
	if strings.HasPrefix(line, "error connecting to") &&
		(strings.Contains(line, "No such file") || strings.Contains(line, "Connection refused")) {
		return errNoServer
	}
	return fmt.Errorf("tmux: %s", stripControls(line))
}

// isMissing reports whether err means that something does not exist in tmux.
func isMissing(err error) bool {
	return errors.Is(err, errNoServer) || err != nil && strings.Contains(err.Error(), "can't find")
}

// KillServer ends the server with everything in it. If no server runs, that is not an error.
func (s *Server) KillServer(ctx context.Context) error {
	_, err := s.runCommands(ctx, nil, command{"kill-server"})
	if err != nil && !errors.Is(err, errNoServer) {
		return fmt.Errorf("end the tmux server: %w", err)
	}
	return nil
}
