package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"orange/internal/backoff"
	"orange/internal/wire"
)

const startTimeout = 10 * time.Second

// polls are the waits for a server that is about to listen.
var polls = backoff.Backoff{First: 2 * time.Millisecond, Most: 100 * time.Millisecond}

// ErrNoServer means that no server runs and none was to be started.
var ErrNoServer = errors.New("no server is running: start one with orange serve")

// DialOptions are how to reach a server.
type DialOptions struct {
	Socket      string
	Home        string                // the data folder, which a new server must be able to write
	Folder      string                // in which the caller works, which decides what an ambiguous name of a task means
	Token       string                // sent with every request; identifies the attempt
	Start       func() (Child, error) // starts a server in the background; nil: never start one
	Environment *wire.Environment     // sent with every change, for the agents that it starts; nil: none
	Owner       func() (Owner, bool)  // the server that owns the data folder, if any; nil: unknown
}

// environmentHeader returns the variables for agents as text of a header. An attempt sends none.
func (o DialOptions) environmentHeader() string {
	if o.Environment == nil || o.Token != "" || len(o.Environment.Variables) == 0 {
		return ""
	}
	text, err := json.Marshal(o.Environment)
	if err != nil || len(text) > maxEnvironment {
		return ""
	}
	return string(text)
}

// maxEnvironment bounds the variables for agents, in bytes: a server reads headers of up to a megabyte.
const maxEnvironment = 256 << 10

// An Owner is the server that owns a data folder, whether it responds or not.
type Owner struct {
	PID       int
	Alive     func() bool
	Terminate func() error // asks it to end; nil: it is not certain that this is the server
}

// findOwner returns the server that owns the data folder. Its pid is 0 if it is unknown.
func (o DialOptions) findOwner() Owner {
	if o.Owner == nil {
		return Owner{}
	}
	owner, _ := o.Owner()
	return owner
}

// A Child is a server that was just started.
type Child interface {
	// HasExited reports whether it has exited. The error says why, and is nil if it exited because another server was
	// faster.
	HasExited() (bool, error)
}

// Connect returns a client of a server that responds. It starts one if none listens.
func Connect(ctx context.Context, o DialOptions) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	c := newClient(func() string { return FindSocket(o) })
	c.token, c.folder, c.environment = o.Token, o.Folder, o.environmentHeader()
	if err := c.reachServer(ctx, o); err != nil {
		c.Close()
		return nil, o.explainTimeout(err)
	}
	found := *c
	c.reconnect = func(ctx context.Context) error { return found.reachServer(ctx, o) }
	return c, nil
}

// FindSocket returns where the server of a data folder listens. A server that was started with another runtime folder
// in its environment listens elsewhere; its lock file says where.
func FindSocket(o DialOptions) string {
	text, err := os.ReadFile(filepath.Join(o.Home, "server.lock"))
	if err != nil {
		return o.Socket
	}
	if lines := strings.Split(string(text), "\n"); len(lines) > 1 && filepath.IsAbs(lines[1]) {
		if _, err := os.Lstat(lines[1]); err == nil {
			return lines[1]
		}
	}
	return o.Socket
}

func (c *Client) reachServer(ctx context.Context, o DialOptions) error {
	var child Child
	for n := 0; ; n++ {
		err := c.checkServer(ctx, FindSocket(o))
		switch {
		case err == nil:
			return nil
		case !IsAbsent(err) && !isLeaving(err):
			return err
		case !IsAbsent(err), o.findOwner().PID > 0: // it is stopping, or about to listen
		case o.Start == nil:
			return ErrNoServer
		case child == nil:
			if child, err = startServer(o); err != nil {
				return err
			}
		}
		if child != nil {
			switch gone, why := child.HasExited(); {
			case gone && why != nil:
				return c.retryOtherServer(ctx, FindSocket(o), why)
			case gone:
				child = nil // another server has the folder: it is about to listen, or stopping
			}
		}
		if err := polls.Wait(ctx, n); err != nil {
			return err
		}
	}
}

// explainTimeout adds to the error of a server that did not respond in time which one it is.
func (o DialOptions) explainTimeout(err error) error {
	owner := o.findOwner()
	switch {
	case !errors.Is(err, context.DeadlineExceeded):
		return err
	case owner.PID > 0 && owner.Terminate == nil: // orange stop does not end it
		return fmt.Errorf("pid %d holds the data folder and does not answer at %s: look what it is, and end it with kill %d", owner.PID, FindSocket(o), owner.PID)
	case owner.PID > 0:
		return fmt.Errorf("the server (pid %d) does not answer at %s: see orange log, or end it with orange stop and try again", owner.PID, FindSocket(o))
	}
	return fmt.Errorf("the server does not answer at %s: see orange log, or run orange stop and try again", FindSocket(o))
}

// retryOtherServer tries once more after our own server failed: another may run.
func (c *Client) retryOtherServer(ctx context.Context, socket string, why error) error {
	if c.checkServer(ctx, socket) == nil {
		return nil
	}
	return fmt.Errorf("start the server: %w", why)
}

func startServer(o DialOptions) (Child, error) {
	if err := EnsureWritable(o.Home); err != nil {
		return nil, err
	}
	child, err := o.Start()
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	return child, nil
}

// checkServer checks that the listener is our server, with our protocol.
func (c *Client) checkServer(ctx context.Context, socket string) error {
	if err := requirePrivateFolder(filepath.Dir(socket)); err != nil {
		return err
	}
	hello, err := c.Hello(ctx)
	if err != nil {
		return err
	}
	c.server = hello.Version
	if hello.API != wire.Version {
		return fmt.Errorf("the running server %s speaks protocol %d and this orange speaks %d: run orange restart and try again", hello.Version, hello.API, wire.Version)
	}
	return nil
}

// IsAbsent reports whether nobody listens: there is no socket, or a dead server left it.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ECONNREFUSED)
}

// isLeaving reports whether the server is stopping, or was interrupted during a response.
func isLeaving(err error) bool {
	var no *Error
	return errors.As(err, &no) && no.Status == http.StatusServiceUnavailable ||
		errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// requirePrivateFolder returns an error for a folder in which somebody else could have created the socket.
func requirePrivateFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("check the folder of the socket: %w", err)
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(sys.Uid) != os.Getuid() || info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("the folder of the socket, %s, is open to others: make it yours alone (chmod 700), or set XDG_RUNTIME_DIR", dir)
	}
	return nil
}

// EnsureWritable creates the data folder if there is none, and returns an error if it is not writable.
func EnsureWritable(home string) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("create the data folder: %w; set ORANGE_HOME to a folder you can write", err)
	}
	f, err := os.CreateTemp(home, ".writable-*")
	if err != nil {
		return fmt.Errorf("write to the data folder: %w; set ORANGE_HOME to a folder you can write", err)
	}
	_, err = f.WriteString("\n") // a full disk may accept an empty file but not its content
	if err = errors.Join(err, f.Close(), os.Remove(f.Name())); errors.Is(err, syscall.ENOSPC) {
		return errors.New("write to the data folder: the disk is full; free some space and try again")
	}
	return err
}
