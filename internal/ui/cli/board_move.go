package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/board"
)

func newBoardMove(deps Deps, f *boardFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "move <card> <column...>", Short: "Move a card to a column", Args: arguments(2, -1),
		Long: "Move a card to a column of its board. A task that works on the card hears of it.",
		Example: "  orange board move 3 In Progress\n" +
			"  orange board move shop/3 Done",
		RunE: f.withCard(deps, func(_ session, column []string) (board.Change, error) {
			name := strings.Join(column, " ")
			if strings.TrimSpace(name) == "" {
				return board.Change{}, usageError("name a column: see orange board show")
			}
			return board.Change{Column: name}, nil
		}, func(c board.Card) string { return "is in " + c.Column }),
	}
	codeFlag(cmd)
	return cmd
}
