package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// newTaskExit reports the end of an attempt in the engine's name: it says what
// happened, and asks for nothing.
func newTaskExit(deps Deps) *cobra.Command {
	sig := signal.Signal{Kind: signal.Exit, Actor: task.Engine}
	cmd := &cobra.Command{
		Use: "exit <id> --role R", Short: "Report the end of an attempt", Args: arguments(1, 1), Hidden: true,
	}
	cmd.Flags().StringVar(&sig.Role, "role", "", "role of the attempt that ended")
	cmd.Flags().IntVar(&sig.Attempt, "attempt", 0, "number of the attempt (default: the role's living one)")
	cmd.Flags().IntVar(&sig.Code, "code", 0, "exit code of its process")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if sig.Role == "" {
			return usageError("give the role of the attempt that ended: --role")
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		a, err := s.Client.Signal(ctx, args[0], sig)
		if err != nil {
			return err
		}
		return s.say(a, "%s", moved(a))
	})
	return cmd
}
