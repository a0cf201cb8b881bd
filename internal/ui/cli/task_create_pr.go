package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/task"
)

func newTaskCreatePR(deps Deps) *cobra.Command {
	d := &deed{verb: engine.VerbCreatePR, done: func(t task.Task) string {
		if t.PRURL == "" {
			return fmt.Sprintf("Opened a pull request for %s/%s", t.Project, t.Branch)
		}
		return fmt.Sprintf("The pull request of %s/%s is %s", t.Project, t.Branch, t.PRURL)
	}}
	return deedCommand(deps, d, &cobra.Command{
		Use: "create-pr <id>", Short: "Push the branch of a task and open a pull request for it",
		Long: "Push the branch of a task and open a pull request for it at the project's forge. One that is open\n" +
			"already is found and kept.",
		Example: "  orange task create-pr MFTsZyeO",
	})
}
