package cli

import "github.com/spf13/cobra"

func newTaskStuck(deps Deps) *cobra.Command {
	return verbCommand(deps, "stuck", &cobra.Command{
		Use: "stuck [id]", Short: "Say that the work cannot go on without a person", Args: arguments(0, 1),
		Long:    "Say that the work cannot go on. The task waits in the inbox of a person, with your words.",
		Example: "  orange task stuck --note \"the schema is missing\"",
	})
}
