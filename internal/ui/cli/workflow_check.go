package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orange/internal/core/workflow"
)

func newWorkflowCheckCommand(deps Deps) *cobra.Command {
	var strict bool
	cmd := pure(&cobra.Command{
		Use: "check NAME|FILE", Short: "Say what is wrong with a workflow file", Args: arguments(1, 1),
		Example: "  orange workflow check orange\n" +
			"  orange workflow check .orange/workflows/mine.yaml --json\n" +
			"  orange workflow check mine --strict",
		Long: "Say what is wrong with a workflow file, one finding on a line. A finding is an error, and then no\n" +
			"task can be created with the file, or advice.\n\n" +
			"The exit code is 0 if there is no error, 1 if there is one, and 2 if the file cannot be read. With\n" +
			"--strict it is 1 for advice too.",
		RunE: func(cmd *cobra.Command, args []string) error {
			def, err := loadWorkflow(deps, args[0])
			if err != nil {
				return err
			}
			found := append([]workflow.Finding{}, def.Check()...)
			failed := len(workflow.Errors(found)) > 0 || strict && len(found) > 0
			answer := map[string]any{"ok": !failed, "findings": found}
			if err := show(cmd, answer, func(w io.Writer) error { return printFindings(w, def, found) }); err != nil {
				return err
			}
			if failed {
				return fail{code: exitFailed, told: true, err: errors.New("the workflow is not clean")}
			}
			return nil
		},
	})
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with code 1 for advice too")
	return cmd
}

func printFindings(w io.Writer, def *workflow.Definition, found []workflow.Finding) error {
	if len(found) == 0 {
		_, err := fmt.Fprintf(w, "%s: clean: %d states, %d edges\n", cleanLine(def.File), len(def.States), len(def.Edges))
		return err
	}
	for _, f := range found {
		if _, err := fmt.Fprintln(w, cleanLine(f.String())); err != nil {
			return err
		}
	}
	return nil
}
