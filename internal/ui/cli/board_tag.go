package cli

import (
	"github.com/spf13/cobra"

	"orange/internal/core/board"
)

func newBoardTag(deps Deps, f *boardFlags) *cobra.Command {
	var remove []string
	cmd := &cobra.Command{
		Use: "tag <card> [tag...]", Short: "Put tags on a card and take others off, all at once", Args: arguments(1, -1),
		Long: "Put tags on a card and take others off in one change, so that nobody sees half of it.",
		Example: "  orange board tag 3 Ready\n" +
			"  orange board tag 3 Approved --remove Review",
	}
	cmd.Flags().StringArrayVar(&remove, "remove", nil, "tag to take off; may be given several times")
	codeFlag(cmd)
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 1 && len(remove) == 0 {
			return usageError("name a tag, or give --remove: see orange board show for those that are known")
		}
		return nil
	}
	cmd.RunE = f.withCard(deps, func(_ session, tags []string) (board.Change, error) {
		return board.Change{AddTags: tags, RemoveTags: remove}, nil
	}, func(c board.Card) string { return "has " + tagList(c) })
	return cmd
}
