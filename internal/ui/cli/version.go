package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orange/internal/wire"
)

func newVersionCommand(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: arguments(0, 0), Annotations: map[string]string{needsNothing: "yes"},
		Long:    "Print the version of this program.",
		Example: "  orange version",
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := map[string]any{"version": deps.Version, "api": wire.Version}
			return show(cmd, v, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, "orange "+deps.Version)
				return err
			})
		},
	}
}
