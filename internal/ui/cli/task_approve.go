package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"orange/internal/core/signal"
)

func newTaskApprove(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "approve <id>", Short: "Grant the move that an agent asked for", Args: arguments(1, 1),
		Long:    "Grant a move that an agent asked for and that its workflow leaves to a person. Agents cannot.",
		Example: "  orange task approve MFTsZyeO --note \"seen and fine\"",
	}
	codeFlag(cmd)
	note := cmd.Flags().String("note", "", "why, in your words")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		v, err := s.Task(ctx, args[0])
		if err != nil {
			return err
		}
		if v.Task.Asked == nil {
			return fmt.Errorf("nothing of task %s waits for approval: see orange inbox", short(string(v.Task.ID)))
		}
		return s.ask(ctx, string(v.Task.ID), signal.Signal{Kind: signal.Request, To: v.Task.Asked.To, Note: *note})
	})
	return cmd
}
