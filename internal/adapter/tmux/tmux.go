// Package tmux gives agents a terminal: windows of a tmux server of Orange's own, with
// its own socket and options, so that nobody's configuration or sessions are touched.
// It opens, lists, reads, writes and closes windows. It knows nothing about what runs
// in them, and it never judges from a window whether an agent is alive.
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

// patience is how long one tmux command may take.
const patience = 10 * time.Second

// Terminal is the TERM that a program in a window should be given.
const Terminal = "screen-256color"

// ErrOpen says that the window is there already and its program still runs.
var ErrOpen = errors.New("the window is open already: close it first")

// ErrGone says that there is no such window, or that its program has ended.
var ErrGone = errors.New("no program runs in that window: open it first")

// errNoServer says that no tmux server runs at the socket, or that it was about to end
// or ended while it was asked: one without sessions does.
var errNoServer = errors.New("no tmux server is running")

// Server is one tmux server. It is started by the first Open and ends with its last
// session. Its methods may be called at the same time.
type Server struct {
	program string
	socket  []string
	env     []string
	buffers atomic.Int64
	looked  sync.Map // names of windows to the ids of their panes, as they were last seen
}

// New returns the tmux server with this socket: a name for -L or, if it has a slash, a
// path for -S. The server and the programs in it see env and nothing else.
func New(socket string, env []string) *Server {
	flag := "-L"
	if strings.Contains(socket, "/") {
		flag = "-S"
	}
	return &Server{program: "tmux", socket: []string{flag, socket}, env: withoutTmux(env)}
}

// withoutTmux drops the variables by which tmux takes a pane of another server for the
// place it is called from. The result is never nil: nil would mean the environment of
// this process.
func withoutTmux(env []string) []string {
	kept := []string{}
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); name != "TMUX" && name != "TMUX_PANE" {
			kept = append(kept, v)
		}
	}
	return kept
}

// tmuxArgs is how tmux is called for this server.
func (s *Server) tmuxArgs(commands ...string) []string {
	return append(append(append([]string{s.program}, s.socket...), "-f", "/dev/null", "-u"), commands...)
}

// runCommands runs one tmux process with commands and returns what it prints.
func (s *Server) runCommands(ctx context.Context, stdin io.Reader, commands ...command) (string, error) {
	return s.runProcess(ctx, stdin, s.tmuxArgs(joinCommands(commands...)...))
}

func (s *Server) runProcess(ctx context.Context, stdin io.Reader, argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = s.env
	cmd.Dir = "/" // a server keeps the folder it was started in
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

// errorFromOutput is what tmux said on its way out, as an error.
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

// isMissing says whether err is tmux's word for something that is not there.
func isMissing(err error) bool {
	return errors.Is(err, errNoServer) || err != nil && strings.Contains(err.Error(), "can't find")
}

// KillServer ends the server with everything in it. That there is none is no error.
func (s *Server) KillServer(ctx context.Context) error {
	_, err := s.runCommands(ctx, nil, command{"kill-server"})
	if err != nil && !errors.Is(err, errNoServer) {
		return fmt.Errorf("end the tmux server: %w", err)
	}
	return nil
}
