package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orange/internal/core/workflow"
)

func newWorkflowCheckCommand(deps Deps) *cobra.Command {
	return pure(&cobra.Command{
		Use: "check NAME|FILE", Short: "Say what is wrong with a workflow file", Args: arguments(1, 1),
		Example: "  orange workflow check orange\n" +
			"  orange workflow check .orange/workflows/mine.yaml --json",
		Long: "Say what is wrong with a workflow file, one finding on a line.\n\n" +
			"The exit code is 0 if the file is clean, 1 if something was found, and 2 if the\nfile cannot be read.",
		RunE: func(cmd *cobra.Command, args []string) error {
			def, err := loadWorkflow(deps, args[0])
			if err != nil {
				return err
			}
			found := append([]workflow.Finding{}, def.Check()...)
			answer := map[string]any{"ok": len(found) == 0, "findings": found}
			if err := show(cmd, answer, func(w io.Writer) error { return printFindings(w, def, found) }); err != nil {
				return err
			}
			if len(found) > 0 {
				return fail{code: exitFailed, told: true, err: errors.New("the workflow is not clean")}
			}
			return nil
		},
	})
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
