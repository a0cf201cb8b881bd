package cli

import "github.com/spf13/cobra"

func newMCPCommand(deps Deps) *cobra.Command {
	return &cobra.Command{Use: "mcp", Short: "Not there yet", Hidden: true}
}
