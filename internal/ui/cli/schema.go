package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"orange/internal/core/handoff"
	"orange/internal/core/signal"
	"orange/internal/core/workflow"
)

func newSchemaCommand(Deps) *cobra.Command {
	return group("schema", "Print JSON Schemas, for editors and programs",
		schemaCommand("workflow", "workflow files", func() any { return workflow.Schema() }),
		schemaCommand("worker-result", "what a worker answers", func() any { return signal.WorkerResultSchema() }),
		schemaCommand("handoff", "what one stage of work tells the next", func() any { return handoff.Schema() }))
}

func schemaCommand(name, what string, schema func() any) *cobra.Command {
	return pure(&cobra.Command{
		Use: name, Short: "Print the JSON Schema of " + what, Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := json.MarshalIndent(schema(), "", "  ")
			if err != nil {
				return fmt.Errorf("print the schema: %w", err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), string(text))
			return err
		},
	})
}
