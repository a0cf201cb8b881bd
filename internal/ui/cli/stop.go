package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/ui/client"
)

const (
	stopTimeout = 10 * time.Second
	askTimeout  = 3 * time.Second // the server may be stuck
	stopPoll    = 10 * time.Millisecond
)

// newStopCommand returns the command that stops the server. It does not check the server's
// version first, because it must be able to stop a server of another version.
func newStopCommand(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "Stop the server; agents keep running, and the next server finds them", Args: requireArguments(0, 0),
		Long: "End the server of this data folder and wait until it is gone. Agents continue without it; the next\n" +
			"command starts another server, which finds them. A server that does not answer, because its\n" +
			"socket was removed or it is stuck, is ended by a signal.",
		Example:     "  orange stop",
		Annotations: map[string]string{needsNothing: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if deps.Config.Role != "" {
				return errors.New("an agent may not end the server: leave it to a person")
			}
			pid, err := stopServer(cmd.Context(), deps)
			if err != nil {
				return err
			}
			s := session{Deps: deps, cmd: cmd}
			if pid == 0 {
				return s.sayLine(map[string]any{"stopped": false}, "No server is running.")
			}
			return s.sayLine(map[string]any{"stopped": true, "pid": pid}, "Stopped the server (pid %d).", pid)
		},
	}
}

// stopServer stops the server and waits until it is gone. It asks the server to stop, and
// sends a signal to a server that does not answer. The pid is 0 if no server runs.
func stopServer(ctx context.Context, deps Deps) (pid int, err error) {
	for end := time.Now().Add(askTimeout); ; {
		owner, held := deps.findOwner()
		pid, err = askToStop(ctx, deps)
		if !held {
			owner, held = deps.findOwner()
		}
		_, refused := errors.AsType[*client.Error](err)
		switch {
		case err == nil && (!held || owner.PID != pid): // it is gone; another server may have started since
			return pid, nil
		case err == nil:
			return pid, awaitEnd(ctx, owner)
		case client.IsAbsent(err) && !held:
			return 0, nil
		case refused || !held:
			return 0, err
		case owner.Terminate != nil:
			if err := owner.Terminate(); err != nil {
				return 0, fmt.Errorf("end the server (pid %d): %w: end it with kill %d", owner.PID, err, owner.PID)
			}
			return owner.PID, awaitEnd(ctx, owner)
		case time.Now().After(end) || !waitUnlessDone(ctx, stopPoll): // a server that is starting soon names itself in server.lock
			return 0, fmt.Errorf("end the server: pid %d holds the data folder, and server.lock does not name it as the server: look what it is, and end it with kill %d", owner.PID, owner.PID)
		}
	}
}

// askToStop asks the server at the socket to stop, and waits until it has closed everything.
// The server removes its socket last.
func askToStop(ctx context.Context, deps Deps) (pid int, err error) {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	c := client.FromOptions(deps.clientOptions())
	defer c.Close()
	ask, done := context.WithTimeoutCause(ctx, askTimeout, errors.New("the server does not answer: see orange log"))
	defer done()
	who, err := c.Hello(ask)
	if err == nil {
		err = c.StopServer(ask)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return 0, context.Cause(ask)
	}
	if err != nil {
		return 0, err
	}
	for {
		now, err := c.Hello(ctx)
		if errors.Is(err, fs.ErrNotExist) || err == nil && now.PID != who.PID {
			return who.PID, nil
		}
		if !waitUnlessDone(ctx, stopPoll) {
			return 0, fmt.Errorf("the server (pid %d) said that it stops and is still there after %s: see orange log, or end it with kill %d", who.PID, stopTimeout, who.PID)
		}
	}
}

// awaitEnd waits until the process of a server is gone.
func awaitEnd(ctx context.Context, owner client.Owner) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	for owner.Alive() {
		if !waitUnlessDone(ctx, stopPoll) {
			return fmt.Errorf("the server (pid %d) was asked to end and is still there after %s: see orange log, or end it with kill -9 %d", owner.PID, stopTimeout, owner.PID)
		}
	}
	return nil
}

// waitUnlessDone waits for d. It returns false if ctx ends first.
func waitUnlessDone(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
