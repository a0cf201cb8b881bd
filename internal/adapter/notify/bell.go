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

// Bell rings the terminals of the people who look at Orange's own tmux.
type Bell struct {
	Socket string   // of that tmux
	Env    []string // of the tmux that is asked
}

// SendMessage rings. That nobody looks is no error.
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

// listTerminals lists where people look at tmux. Asking starts no tmux.
func (b Bell) listTerminals(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
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

// ringBell writes a BEL to a terminal. It does not become the terminal of this process, does
// not wait for one that is held, and must belong to the user.
func ringBell(path string) error {
	if at := filepath.Clean(path); !strings.HasPrefix(at, "/dev/pts/") && !strings.HasPrefix(at, "/dev/tty") {
		return &Failure{why: "a client of tmux has no terminal", lasting: true}
	}
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		if err == syscall.ENOENT {
			return nil // whoever looked has left
		}
		return &Failure{why: "a terminal cannot be opened: " + err.Error()}
	}
	defer syscall.Close(fd) //nolint:errcheck // nothing is left to be written
	var is syscall.Stat_t
	if err := syscall.Fstat(fd, &is); err != nil || is.Mode&syscall.S_IFMT != syscall.S_IFCHR || int(is.Uid) != syscall.Getuid() {
		return &Failure{why: "a terminal belongs to somebody else: it is left alone", lasting: true}
	}
	if _, err := syscall.Write(fd, []byte{'\a'}); err != nil && err != syscall.EAGAIN {
		return &Failure{why: "a terminal cannot be written to: " + err.Error()}
	}
	return nil
}
