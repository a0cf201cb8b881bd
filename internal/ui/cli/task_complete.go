package cli

import "github.com/spf13/cobra"

func newTaskComplete(deps Deps) *cobra.Command {
	return verbCommand(deps, "complete", &cobra.Command{
		Use: "complete [id]", Short: "Finish the task's present state and go on to the next", Args: arguments(0, 1),
	})
}
