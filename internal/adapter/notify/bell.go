package notify

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Bell rings the terminals that are attached to Orange's own tmux.
type Bell struct {
	Socket string   // of that tmux
	Env    []string // environment of the tmux command
}

// SendMessage rings the bell. If nobody is attached, that is not an error.
func (b Bell) SendMessage(ctx context.Context, m Message) error {
	if len(m.Items) == 0 {
		return errNothing
	}
	terminals, err := b.listTerminals(ctx)
	if err != nil {
		return err
	}
	var problems []error
	for _, path := range terminals {
		problems = append(problems, ringBell(path))
	}
	return errors.Join(problems...)
}

// listTerminals lists the terminals that are attached to tmux. It does not start a tmux server.
func (b Bell) listTerminals(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", "-S", b.Socket, "-f", "/dev/null", "list-clients", "-F", "#{client_tty}")
	cmd.Env, cmd.Dir, cmd.WaitDelay = b.Env, "/", time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && ctx.Err() == nil:
		return nil, nil // none runs
	case errors.Is(err, exec.ErrNotFound):
		return nil, &Failure{why: "tmux is not installed", lasting: true}
	case err != nil:
		return nil, &Failure{why: "tmux does not answer"}
	}
	return strings.Fields(out.String()), nil
}

// ringBell writes a BEL to a terminal. It does not make the terminal the controlling terminal
// of this process and does not wait for a terminal that is blocked. The terminal must belong to
// the user.
func ringBell(path string) error {
	if at := filepath.Clean(path); !strings.HasPrefix(at, "/dev/pts/") && !strings.HasPrefix(at, "/dev/tty") {
		return &Failure{why: "a client of tmux has no terminal", lasting: true}
	}
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		if err == syscall.ENOENT {
			return nil // the person has detached
		}
		return &Failure{why: "a terminal cannot be opened: " + err.Error()}
	}
	defer syscall.Close(fd) //nolint:errcheck // nothing is left to be written
	var is syscall.Stat_t
	if err := syscall.Fstat(fd, &is); err != nil || is.Mode&syscall.S_IFMT != syscall.S_IFCHR || int(is.Uid) != syscall.Getuid() {
		return &Failure{why: "a terminal belongs to another user, so its bell does not ring", lasting: true}
	}
	if _, err := syscall.Write(fd, []byte{'\a'}); err != nil && err != syscall.EAGAIN {
		return &Failure{why: "a terminal cannot be written to: " + err.Error()}
	}
	return nil
}
