package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/board"
)

func newBoardDescribe(deps Deps, f *boardFlags) *cobra.Command {
	return &cobra.Command{
		Use: "describe <card> <text...>", Short: "Replace the description of a card; - reads it from standard input", Args: arguments(2, -1),
		Long:    "Replace the description of a card.",
		Example: "  orange board describe 3 - <description.md",
		RunE: f.withCard(deps, func(s session, words []string) (board.Change, error) {
			text, err := s.description(strings.Join(words, " "))
			return board.Change{Description: &text}, err
		}, func(board.Card) string { return "has this description" }),
	}
}
