package cli

import "github.com/spf13/cobra"

func newDashboardCommand(deps Deps) *cobra.Command {
	return &cobra.Command{Use: "dashboard", Short: "Not there yet", Hidden: true}
}
