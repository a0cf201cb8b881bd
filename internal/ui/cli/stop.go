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
	stopPatience = 10 * time.Second
	stopPoll     = 10 * time.Millisecond
)

// newStopCommand does not ask for the server's version first: ending a server of
// another version is what it is for.
func newStopCommand(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "End the server; agents go on, and the next server finds them", Args: arguments(0, 0),
		Long: "End the server of this data folder. Agents go on without it; the next command starts another server,\n" +
			"which finds them.",
		Example:     "  orange stop",
		Annotations: map[string]string{needsNothing: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if deps.Config.Role != "" {
				return errors.New("an agent may not end the server: leave it to a person")
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), stopPatience)
			defer cancel()
			c := client.Of(deps.options())
			defer c.Close()
			s := session{Deps: deps, Client: c, cmd: cmd}
			who, _ := c.Hello(ctx)
			err := c.Stop(ctx)
			if client.Absent(err) {
				return s.say(map[string]bool{"stopped": false}, "No server is running.")
			}
			if err != nil {
				return err
			}
			if err := gone(ctx, c, who.PID); err != nil {
				return err
			}
			return s.say(map[string]bool{"stopped": true}, "Stopped the server.")
		},
	}
}

// gone waits until the server has closed everything: the last it does is to remove its
// socket. A command that came meanwhile may have started another one.
func gone(ctx context.Context, c *client.Client, pid int) error {
	tick := time.NewTicker(stopPoll)
	defer tick.Stop()
	for {
		now, err := c.Hello(ctx)
		if errors.Is(err, fs.ErrNotExist) || err == nil && now.PID != pid {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server said it stops and is still there after %s: see orange log", stopPatience)
		case <-tick.C:
		}
	}
}
