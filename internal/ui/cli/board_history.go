package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"orange/internal/core/board"
)

func newBoardHistory(deps Deps, f *boardFlags) *cobra.Command {
	return &cobra.Command{
		Use: "history <card>", Short: "Show what became of a card", Args: arguments(1, 1),
		Long:    "Show every change of a card and who made it, oldest first.",
		Example: "  orange board history 3",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			p, err := f.card(ctx, s, args[0])
			if err != nil {
				return err
			}
			events, err := s.CardHistory(ctx, p.project, p.number)
			if err != nil {
				return err
			}
			return s.show(map[string]any{"history": events}, func(w io.Writer) error {
				rows := [][]string{}
				for i := range events {
					e := &events[i]
					rows = append(rows, []string{clock(s.Now(), e.At), orDash(e.Author), cleanLine(eventText(s.Now(), e))})
				}
				return printTable(w, s.lineWidth(), rows)
			})
		}),
	}
}

// eventText says what an event changed.
func eventText(now time.Time, e *board.Event) string {
	c := &e.Change
	var out []string
	add := func(say bool, format string, args ...any) {
		if say {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(c.Title != "" && e.Seq == 1, "created: %s", c.Title)
	add(c.Title != "" && e.Seq != 1, "title: %s", c.Title)
	add(c.Column != "", "to %s", c.Column)
	add(len(c.AddTags) > 0, "tagged %s", strings.Join(c.AddTags, ", "))
	add(len(c.RemoveTags) > 0, "untagged %s", strings.Join(c.RemoveTags, ", "))
	if c.Claim != nil {
		add(true, "claimed by %s until %s", c.Claim.Owner, clock(now, c.Claim.Until))
	}
	add(c.Release != "", "released by %s", c.Release)
	if c.Description != nil {
		add(true, "described in %d characters", utf8.RuneCountInString(*c.Description))
	}
	add(c.Comment != "", "said: %s", cut(c.Comment, 200))
	return strings.Join(out, "; ")
}
