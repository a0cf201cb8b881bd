package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/task"
)

func newTaskMerge(deps Deps) *cobra.Command {
	d := newMergeAction()
	cmd := personActionCommand(deps, d, &cobra.Command{
		Use: "merge <id>", Short: "Merge the branch of a task",
		Long: "Merge the branch of a task into the default branch and wait for how it goes. A project that delivers\n" +
			"by pull requests leaves the merge to its forge, unless a strategy other than auto is asked for: then it is\n" +
			"looked for there, or made there with --merge auto of the project. The task moves on by its workflow once\n" +
			"the commit is there.",
		Example: "  orange task merge MFTsZyeO\n" +
			"  orange task merge MFTsZyeO --code 123456   # the code was shown by notification\n" +
			"  orange task merge MFTsZyeO --strategy merge --no-wait",
	})
	cmd.Flags().StringVar(&d.arg, "strategy", "", "auto: a merge commit only if one is needed; ff: never; merge: always; rebase: its commits again on the target; squash: one commit (default: as its pull request was merged; without one, --land of the project)")
	codeFlag(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if cmd.Flags().Changed("strategy") && !slices.Contains(task.LandStrategies, d.arg) {
			return usageError("strategy %q is not known: give %s", d.arg, landStrategies)
		}
		return nil
	}
	return cmd
}

// newMergeAction returns the request for a merge.
func newMergeAction() *personAction {
	return &personAction{verb: engine.VerbMerge, moves: true, done: func(t task.Task) string {
		return fmt.Sprintf("Merged %s/%s", t.Project, t.Branch)
	}}
}

func newTaskPush(deps Deps) *cobra.Command {
	d := &personAction{verb: engine.VerbPush, done: func(t task.Task) string { return fmt.Sprintf("Pushed %s/%s", t.Project, t.Branch) }}
	return personActionCommand(deps, d, &cobra.Command{
		Use: "push <id>", Short: "Push the branch of a task",
		Long:    "Push the branch of a task to the project's remote, never by force, and wait for how it goes.",
		Example: "  orange task push MFTsZyeO",
	})
}

func newTaskCreatePR(deps Deps) *cobra.Command {
	d := &personAction{verb: engine.VerbCreatePR, done: func(t task.Task) string {
		if t.PRURL == "" {
			return fmt.Sprintf("Opened a pull request for %s/%s", t.Project, t.Branch)
		}
		return fmt.Sprintf("The pull request of %s/%s is %s", t.Project, t.Branch, t.PRURL)
	}}
	return personActionCommand(deps, d, &cobra.Command{
		Use: "create-pr <id>", Short: "Push the branch of a task and open a pull request for it",
		Long: "Push the branch of a task and open a pull request for it at the project's forge. One that is open\n" +
			"already is found and kept.",
		Example: "  orange task create-pr MFTsZyeO",
	})
}
