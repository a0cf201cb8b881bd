package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/ui/client"
	"orange/internal/wire"
)

// restartTimeout is how long a server may take until it answers. It may have to upgrade its store.
const restartTimeout = 5 * time.Minute

// A restartResult is the result of a restart.
type restartResult struct {
	Version string `json:"version"`
	PID     int    `json:"pid"`
	Stopped int    `json:"stopped,omitempty"` // pid of the server that was stopped
}

func newRestartCommand(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "restart", Short: "Restart the server; agents keep running", Args: requireArguments(0, 0),
		Long: "End the server of this data folder, start one of this program in the background, and wait until it\n" +
			"answers. Agents continue in the meantime. The new server has the environment of this command, so restart it\n" +
			"after you set a variable, such as a key, that agents or trackers need; and after you replaced the\n" +
			"program by other means than orange upgrade.",
		Example: "  orange restart\n" +
			"  export ANTHROPIC_API_KEY; orange restart",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := deps.personOnly(); err != nil {
				return err
			}
			done, err := restartServer(cmd.Context(), deps)
			if err != nil {
				return err
			}
			s := session{Deps: deps, cmd: cmd}
			if done.Stopped == 0 {
				return s.sayLine(done, "No server was running. Started one (pid %d, version %s).", done.PID, done.Version)
			}
			return s.sayLine(done, "Restarted the server (pid %d, version %s). Agents continue.", done.PID, done.Version)
		},
	}
}

// restartServer stops the server, if one runs, and starts one of this program. It stops nothing if
// this program cannot read the store.
func restartServer(ctx context.Context, deps Deps) (restartResult, error) {
	out := restartResult{}
	if deps.Upgrader != nil {
		schema, err := deps.Upgrader.StoreSchema()
		if err != nil {
			return out, err
		}
		if schema > deps.Formats.Store {
			return out, fmt.Errorf("the store in %s has schema %d and this program, version %s, reads up to %d: nothing was stopped; run the newer program, or orange upgrade --from RELEASE", deps.Config.Home, schema, deps.Version, deps.Formats.Store)
		}
	}
	var err error
	if out.Stopped, err = stopServer(ctx, deps); err != nil {
		return out, err
	}
	hello, err := awaitServer(ctx, deps)
	out.Version, out.PID = hello.Version, hello.PID
	if err == nil && hello.Version != deps.Version {
		err = fmt.Errorf("a server of version %s started first (pid %d), and this program is %s: run orange restart again", hello.Version, hello.PID, deps.Version)
	}
	return out, err
}

// awaitServer starts a server and waits until it answers. It keeps waiting for one that holds the
// data folder and does not answer yet.
func awaitServer(ctx context.Context, deps Deps) (wire.Hello, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, restartTimeout, errors.New("it does not answer"))
	defer cancel()
	o := deps.clientOptions()
	o.Start = deps.Start
	for {
		c, err := client.Connect(ctx, o)
		if err == nil {
			defer c.Close()
			return c.Hello(ctx)
		}
		if _, busy := deps.findOwner(); !busy || ctx.Err() != nil {
			return wire.Hello{}, err
		}
	}
}
