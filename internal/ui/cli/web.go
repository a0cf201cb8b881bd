package cli

import "github.com/spf13/cobra"

func newWebCommand(deps Deps) *cobra.Command {
	return &cobra.Command{Use: "web", Short: "Not there yet", Hidden: true}
}
