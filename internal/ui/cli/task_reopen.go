package cli

import (
	"github.com/spf13/cobra"

	"orange/internal/core/engine"
)

func newTaskReopen(deps Deps) *cobra.Command {
	return verbCommand(deps, engine.Reopen, &cobra.Command{
		Use: "reopen <id>", Short: "Take up a cancelled task again", Args: arguments(1, 1),
		Long:    "Take up a task again that was cancelled, where its workflow says.",
		Example: "  orange task reopen MFTsZyeO",
	})
}
