package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/board"
	"orange/internal/wire"
)

func newBoardShow(deps Deps, f *boardFlags) *cobra.Command {
	return &cobra.Command{
		Use: "show [card]", Short: "Show the board, or a card with all that was said about it", Args: arguments(0, 1),
		Long: "Show the columns of the board with their cards, or one card with its comments and tags.",
		Example: "  orange board show\n" +
			"  orange board show 3\n" +
			"  orange board show --project shop --json",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			if len(args) == 0 {
				return s.showBoard(ctx, f)
			}
			p, err := f.card(ctx, s, args[0])
			if err != nil {
				return err
			}
			v, err := s.Card(ctx, p.project, p.number)
			if err != nil {
				return err
			}
			return s.show(v, func(w io.Writer) error { return printCard(w, s.Now(), v) })
		}),
	}
}

func (s session) showBoard(ctx context.Context, f *boardFlags) error {
	project, err := f.here(ctx, s)
	if err != nil {
		return err
	}
	b, err := s.Board(ctx, project)
	if err != nil {
		return err
	}
	return s.show(b, func(w io.Writer) error { return printBoard(w, s.Deps, b) })
}

// printBoard prints the columns from the first to the last, with their cards.
func printBoard(w io.Writer, deps Deps, b wire.Board) error {
	in := map[string][]board.Card{}
	for i := range b.Cards {
		in[b.Cards[i].Column] = append(in[b.Cards[i].Column], b.Cards[i])
	}
	for _, column := range b.Columns {
		fmt.Fprintln(w, cleanLine(column))
		rows := [][]string{}
		for i := range in[column] {
			rows = append(rows, cardRow(deps, &in[column][i]))
		}
		if len(rows) == 0 {
			rows = [][]string{{"  no cards"}}
		}
		if err := printTable(w, deps.lineWidth(), rows); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "\nTags: "+cleanLine(strings.Join(b.Tags, ", ")))
	return err
}

func cardRow(deps Deps, c *board.Card) []string {
	title := cleanLine(c.Title)
	if deps.IsTerminal {
		title = cut(title, 40)
	}
	tags := "-"
	if len(c.Tags) > 0 {
		tags = cleanLine(tagList(*c))
	}
	return []string{"  " + strconv.Itoa(c.Number), title, tags, cleanLine(claimText(deps.Now(), c.Claim))}
}

// claimText says who works on a card, "" if nobody does.
func claimText(now time.Time, c *board.Claim) string {
	switch {
	case c == nil:
		return ""
	case !c.Holds(now):
		return fmt.Sprintf("claim of %s lapsed %s ago", c.Owner, age(now, c.Until))
	}
	return fmt.Sprintf("claimed by %s until %s", c.Owner, clock(now, c.Until))
}

func printCard(w io.Writer, now time.Time, v wire.CardShown) error {
	c := &v.Card
	rows := [][]string{}
	add := func(name, value string) {
		if value = cleanLine(value); value != "" {
			rows = append(rows, []string{name, value})
		}
	}
	add("Card", placeOf(*c).String())
	add("Title", c.Title)
	add("Column", c.Column)
	add("Tags", strings.Join(c.Tags, ", "))
	add("Claim", claimText(now, c.Claim))
	add("Created", stamped(now, c.CreatedAt, c.Author))
	add("Changed", fmt.Sprintf("%s ago, version %d", age(now, c.UpdatedAt), c.Version))
	if err := printTable(w, 0, rows); err != nil {
		return err
	}
	if text := indented(c.Description); text != "" {
		fmt.Fprintf(w, "\nDescription\n%s\n", text)
	}
	for i := range v.Comments {
		m := &v.Comments[i]
		if _, err := fmt.Fprintf(w, "\nComment %d, %s\n%s\n", m.Number, cleanLine(stamped(now, m.At, m.Author)), indented(m.Text)); err != nil {
			return err
		}
	}
	return nil
}

// stamped says when something was, and by whom.
func stamped(now, when time.Time, who string) string {
	text := fmt.Sprintf("%s ago, %s", age(now, when), clock(now, when))
	if who != "" {
		text += ", by " + who
	}
	return text
}

// indented is a text from elsewhere, safe for a terminal and set off from what is ours:
// whatever it says, its lines do not begin like a heading.
func indented(text string) string {
	text = strings.TrimSpace(cleanText(text))
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
