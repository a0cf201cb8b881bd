package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/core/signal"
)

func newResumeCommand(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resume [id]", Short: "Go on after a pause, or try again what was given up", Args: arguments(0, 1),
		Long: "Let go on what was paused, one task or, without an id, everything. What was given up after several\n" +
			"failures is tried again.",
		Example: "  orange resume MFTsZyeO\n" +
			"  orange resume",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			if len(args) > 0 {
				a, err := s.signal(ctx, args[0], signal.Signal{Kind: signal.Resume})
				if err != nil {
					return err
				}
				return s.say(a, "%s goes on", short(string(a.Task.ID)))
			}
			if err := s.personOnly(); err != nil {
				return err
			}
			if err := s.Resume(ctx); err != nil {
				return err
			}
			return s.say(map[string]bool{"paused": false}, "Everything goes on.")
		}),
	}
	codeFlag(cmd)
	return cmd
}
