package cli

import "github.com/spf13/cobra"

func newTaskRequestChanges(deps Deps) *cobra.Command {
	return verbCommand(deps, "request-changes", &cobra.Command{
		Use: "request-changes <id>", Short: "Send reviewed work back to its worker", Args: arguments(1, 1),
	})
}
