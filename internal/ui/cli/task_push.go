package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/task"
)

func newTaskPush(deps Deps) *cobra.Command {
	d := &deed{verb: engine.VerbPush, done: func(t task.Task) string { return fmt.Sprintf("Pushed %s/%s", t.Project, t.Branch) }}
	return deedCommand(deps, d, &cobra.Command{
		Use: "push <id>", Short: "Push the branch of a task",
		Long:    "Push the branch of a task to the project's remote, never by force, and wait for how it goes.",
		Example: "  orange task push MFTsZyeO",
	})
}
