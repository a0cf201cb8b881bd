package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"orange/internal/core/handoff"
	"orange/internal/core/signal"
	"orange/internal/core/workflow"
)

func newSchemaCommand(deps Deps) *cobra.Command {
	return group("schema", "Print JSON Schemas, for editors and programs",
		schemaCommand("workflow", "the JSON Schema of workflow files", func() (any, error) { return workflow.Schema(), nil }),
		schemaCommand("worker-result", "the JSON Schema of what a worker answers", func() (any, error) { return signal.WorkerResultSchema(), nil }),
		schemaCommand("handoff", "the JSON Schema of what one stage of work tells the next", func() (any, error) { return handoff.Schema(), nil }),
		schemaCommand("openapi", "the OpenAPI description of the HTTP API", deps.OpenAPI))
}

func schemaCommand(name, what string, schema func() (any, error)) *cobra.Command {
	return pure(&cobra.Command{
		Use: name, Short: "Print " + what, Args: arguments(0, 0),
		Long: "Print " + what + ", made from the program's own types and words. No server is needed.", Example: "  orange schema " + name,
		RunE: func(cmd *cobra.Command, _ []string) error {
			value, err := schema()
			if err != nil {
				return fmt.Errorf("print the schema: %w", err)
			}
			text, err := json.MarshalIndent(value, "", "  ")
			if err != nil {
				return fmt.Errorf("print the schema: %w", err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), string(text))
			return err
		},
	})
}
