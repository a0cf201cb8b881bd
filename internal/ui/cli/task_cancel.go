package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/core/signal"
)

func newTaskCancel(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel <id>", Short: "End a task without a result", Args: arguments(1, 1),
	}
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")
	note := cmd.Flags().String("note", "", "why, in your words")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		v, err := s.Task(ctx, args[0])
		if err != nil {
			return err
		}
		if err := s.confirm(*yes, "Cancel task %s (%s/%s)?", short(string(v.Task.ID)), v.Task.Project, v.Task.Branch); err != nil {
			return err
		}
		return s.ask(ctx, string(v.Task.ID), signal.Signal{Kind: signal.Request, Verb: "cancel", Note: *note})
	})
	return cmd
}
