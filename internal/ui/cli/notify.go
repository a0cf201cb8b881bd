package cli

import "github.com/spf13/cobra"

func newNotifyCommand(deps Deps) *cobra.Command {
	return &cobra.Command{Use: "notify", Short: "Not there yet", Hidden: true}
}
