package cli

import "github.com/spf13/cobra"

func newManCommand(deps Deps) *cobra.Command {
	return &cobra.Command{Use: "man", Short: "Not there yet", Hidden: true}
}
