package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/core/signal"
)

func newTaskCancel(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel <id>", Short: "End a task without a result", Args: arguments(1, 1),
		Long: "End a task without a result: its agents are ended and its workspace is given back. Work that was\n" +
			"not committed is kept (see orange workspace salvage). A cancelled task can be reopened.",
		Example: "  orange task cancel MFTsZyeO\n" +
			"  orange task cancel MFTsZyeO --yes --note \"not needed any more\"",
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
