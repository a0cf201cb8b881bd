package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"orange/internal/core/workflow"
)

func newSchemaCommand(deps Deps) *cobra.Command {
	return group("schema", "Print JSON Schemas, for editors and programs", newSchemaWorkflowCommand(deps))
}

func newSchemaWorkflowCommand(Deps) *cobra.Command {
	return pure(&cobra.Command{
		Use: "workflow", Short: "Print the JSON Schema of workflow files", Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := json.MarshalIndent(workflow.Schema(), "", "  ")
			if err != nil {
				return fmt.Errorf("print the schema: %w", err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), string(text))
			return err
		},
	})
}
