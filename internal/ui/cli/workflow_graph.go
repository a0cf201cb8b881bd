package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"orange/internal/core/workflow"
	"orange/internal/view/drawing"
)

func newWorkflowGraphCommand(deps Deps) *cobra.Command {
	var format, output string
	cmd := pure(&cobra.Command{
		Use: "graph NAME|FILE", Short: "Draw a workflow", Args: arguments(1, 1),
		Long:    "Draw the states and edges of a workflow as Mermaid text, an SVG picture or a DOT graph.",
		Example: "  orange workflow graph orange --format svg -o orange.svg",
		RunE: func(cmd *cobra.Command, args []string) error {
			def, err := loadWorkflow(deps, args[0])
			if err != nil {
				return err
			}
			text, err := draw(def, format)
			if err != nil {
				return err
			}
			switch {
			case output != "":
				return writeGraph(deps, output, text)
			case wantsJSON(cmd):
				return printJSON(cmd.OutOrStdout(), map[string]string{"format": format, "graph": text})
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	})
	cmd.Flags().StringVar(&format, "format", "mermaid", "mermaid, svg or dot")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to `FILE` instead of standard output")
	return cmd
}

func draw(def *workflow.Definition, format string) (string, error) {
	switch format {
	case "mermaid":
		return drawing.Mermaid(def), nil
	case "svg":
		return drawing.SVG(def), nil
	case "dot":
		return drawing.DOT(def), nil
	}
	return "", usageError("format %q is not known: use mermaid, svg or dot", format)
}

func writeGraph(deps Deps, file, text string) error {
	if !filepath.IsAbs(file) {
		file = filepath.Join(deps.Cwd, file)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the graph: %w", err)
	}
	return nil
}
