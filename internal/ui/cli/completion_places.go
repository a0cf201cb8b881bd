package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"orange/internal/core/board"
	"orange/internal/wire"
)

// completeProjects offers the names of projects.
func completeProjects(deps Deps) cobra.CompletionFunc {
	return live(deps, func(ctx context.Context, q question) (out []string) {
		projects, _ := q.Projects(ctx)
		for _, p := range projects {
			out = append(out, offer(p.Name, p.Path))
		}
		return out
	})
}

// completeTrackers offers the names of trackers.
func completeTrackers(deps Deps) cobra.CompletionFunc {
	return live(deps, func(ctx context.Context, q question) (out []string) {
		list, _ := q.Trackers(ctx)
		for _, r := range list {
			out = append(out, offer(r.Config.Name, r.Config.Kind+" of "+r.Config.Project))
		}
		return out
	})
}

// boardHere is the board that the line is about.
func boardHere(ctx context.Context, q question) wire.Board {
	b, _ := q.Board(ctx, q.project(ctx))
	return b
}

// completeCards offers the cards of the board, the newest first.
func completeCards(deps Deps) cobra.CompletionFunc {
	return live(deps, func(ctx context.Context, q question) (out []string) {
		for _, c := range slices.Backward(boardHere(ctx, q).Cards) {
			out = append(out, offer(strconv.Itoa(c.Number), fmt.Sprintf("%s: %s", c.Column, c.Title)))
		}
		return out
	})
}

// completeColumns offers the columns of the board.
func completeColumns(deps Deps) cobra.CompletionFunc {
	return live(deps, func(ctx context.Context, q question) (out []string) {
		for _, c := range boardHere(ctx, q).Columns {
			out = append(out, offer(c, ""))
		}
		return out
	})
}

// completeTags offers the tags of the board that the line does not have yet, and says
// which the card carries.
func completeTags(deps Deps) cobra.CompletionFunc {
	return live(deps, func(ctx context.Context, q question) (out []string) {
		b := boardHere(ctx, q)
		var card board.Card
		for _, c := range b.Cards {
			if len(q.args) > 0 && strconv.Itoa(c.Number) == q.args[0] {
				card = c
			}
		}
		for _, tag := range b.Tags {
			about := ""
			if slices.Contains(card.Tags, tag) {
				about = "the card has it"
			}
			if !slices.Contains(q.args, tag) {
				out = append(out, offer(tag, about))
			}
		}
		return out
	})
}

// cardThen offers cards first, and then something else.
func cardThen(deps Deps, then cobra.CompletionFunc) cobra.CompletionFunc {
	cards := completeCards(deps)
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return cards(cmd, args, begun)
		}
		return then(cmd, args, begun)
	}
}
