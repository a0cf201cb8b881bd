package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/core/signal"
)

func newTaskDelete(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete <id>", Short: "Remove a task that is over", Args: arguments(1, 1),
		Long:    "Remove a task that is over, with its folder and what is kept of its attempts. Its branch stays.",
		Example: "  orange task delete MFTsZyeO --yes",
	}
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		v, err := s.Task(ctx, args[0])
		if err != nil {
			return err
		}
		if err := s.confirm(*yes, "Delete task %s (%s/%s)?", short(string(v.Task.ID)), v.Task.Project, v.Task.Branch); err != nil {
			return err
		}
		a, err := s.signal(ctx, string(v.Task.ID), signal.Signal{Kind: signal.Delete})
		if err != nil {
			return err
		}
		return s.say(a, "Deleted task %s", v.Task.ID)
	})
	return cmd
}
