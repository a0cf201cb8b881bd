package cli

import "github.com/spf13/cobra"

func newStatusCommand(deps Deps) *cobra.Command {
	return &cobra.Command{Use: "status", Short: "Not there yet", Hidden: true}
}
