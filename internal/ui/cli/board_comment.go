package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/board"
)

func newBoardComment(deps Deps, f *boardFlags) *cobra.Command {
	return &cobra.Command{
		Use: "comment <card> <text...>", Short: "Say something about a card; - reads it from standard input", Args: arguments(2, -1),
		Long:    "Say something about a card. Agents read it; what they say comes as comments, too.",
		Example: "  orange board comment 3 \"The label is missing\"",
		RunE: f.withCard(deps, func(s session, words []string) (board.Change, error) {
			text, err := s.said(strings.Join(words, " "))
			if err == nil && text == "" {
				err = usageError("the comment is empty: say something")
			}
			return board.Change{Comment: text}, err
		}, func(board.Card) string { return "has a new comment" }),
	}
}
