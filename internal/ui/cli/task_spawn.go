package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"orange/internal/core/signal"
	"orange/internal/core/workflow"
)

func newTaskSpawn(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "spawn <id>", Short: "Start a task that was created and waits", Args: arguments(1, 1),
		Long: "Start a task that was created with --no-spawn. It leaves its queue as soon as a workspace of the\n" +
			"project is free.",
		Example: "  orange task spawn MFTsZyeO",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			x, err := s.Explain(ctx, args[0])
			if err != nil {
				return err
			}
			if x.Kind != string(workflow.Queued) {
				return fmt.Errorf("task %s is not pending: it is %s", short(string(x.Task)), x.Status)
			}
			return s.ask(ctx, string(x.Task), signal.Signal{Kind: signal.Ready})
		}),
	}
}
