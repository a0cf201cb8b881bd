package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"orange/internal/config"
)

// UsualPage is the default address of the web page.
const UsualPage = "127.0.0.1:4747"

func newServeCommand(deps Deps) *cobra.Command {
	var o ServeOptions
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the server in the foreground; other commands start one when they need it", Args: requireArguments(0, 0),
		Long: "Run the server of the data folder in the foreground, until Ctrl-C, orange stop, or a while of idleness.\n" +
			"There is one for each data folder, and every other command starts one in the background if there is\n" +
			"none. Agents continue when it ends. With --web it serves the web page, prints the address that signs\n" +
			"you in, and stays.",
		Example: "  orange serve --web\n  orange serve --web=127.0.0.1:8080 --idle 8h\n  orange serve --hooks 127.0.0.1:8787\n  orange serve --metrics 9464",
	}
	cmd.Flags().DurationVar(&o.Idle, "idle", deps.Config.IdleExit, "leave after so much idleness (default: the built-in time)")
	cmd.Flags().StringVar(&o.Hooks, "hooks", deps.Config.Hooks, "receive webhooks of trackers at this address, such as 127.0.0.1:8787 (paths /hooks/NAME)")
	cmd.Flags().StringVar(&o.Web, "web", deps.Config.Web, "serve the web page at this `address` of this machine; orange web prints how to open it")
	cmd.Flags().Lookup("web").NoOptDefVal = UsualPage
	cmd.Flags().BoolVar(&o.WebInput, "web-input", deps.Config.WebInput, "let people type into agents' terminals on the web page")
	cmd.Flags().BoolVar(&o.Dev, "dev", false, "show the components of the web page at /style, for people who change it")
	cmd.Flags().StringVar(&o.Metrics, "metrics", deps.Config.Metrics, "serve /metrics for Prometheus at this `address`; a port alone is one of this machine")
	cmd.Flags().BoolVar(&o.Detached, "detached", false, "nobody sees the terminal")
	cmd.Flags().IntVar(&o.CrashAt, "crash-at", 0, "die at the n-th commit or effect boundary")
	cmd.Flags().StringVar(&o.CrashPoint, "crash-point", "", "count only boundaries whose name begins like this")
	_ = cmd.Flags().MarkHidden("detached")
	_ = cmd.Flags().MarkHidden("crash-point")
	_ = cmd.Flags().MarkHidden("crash-at")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.Idle < 0 {
			return usageError("idle time %s: give a positive time such as 30m", o.Idle)
		}
		if o.Web != "" {
			if err := config.CheckLoopback(o.Web); err != nil {
				return usageError("web page: %v", err)
			}
		}
		if o.Metrics != "" {
			var err error
			if o.Metrics, err = config.MetricsAddress(o.Metrics); err != nil {
				return usageError("metrics: %v", err)
			}
		}
		if !o.Detached {
			o.Say = func(line string) { fmt.Fprintln(cmd.OutOrStdout(), line) }
		}
		err := deps.Serve(cmd.Context(), o)
		if _, ok := errors.AsType[ServerRunningError](err); o.Detached && ok {
			return nil // the client that started this process uses the running server
		}
		return err
	}
	return cmd
}
