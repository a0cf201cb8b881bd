package cli

import "github.com/spf13/cobra"

func newTaskComplete(deps Deps) *cobra.Command {
	return verbCommand(deps, "complete", &cobra.Command{
		Use: "complete [id]", Short: "Finish the task's present state and go on to the next", Args: arguments(0, 1),
		Long: "Ask for the way on that the workflow calls complete. Gates are weighed as always: what is missing\n" +
			"is said. Agents use it to say that a stage is done, people to go on in their place.",
		Example: "  orange task complete\n" +
			"  orange task complete MFTsZyeO --note \"good enough\"",
	})
}
