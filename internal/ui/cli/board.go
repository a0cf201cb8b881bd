package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"orange/internal/core/board"
	"orange/internal/core/workflow/builtin"
	"orange/internal/wire"
)

func newBoardCommand(deps Deps) *cobra.Command {
	f := &boardFlags{}
	cmd := groupCommand("board", "Show and change the board of a project",
		newBoardShow(deps, f), newBoardAdd(deps, f), newBoardTag(deps, f), newBoardMove(deps, f),
		newBoardComment(deps, f), newBoardDescribe(deps, f), newBoardHistory(deps, f))
	cmd.PersistentFlags().StringVar(&f.project, "project", "", "project whose board it is (default: that of this folder)")
	return cmd
}

// boardFlags are the flags that all board commands share.
type boardFlags struct{ project string }

// A place names a card: its project and its number.
type place struct {
	project string
	number  int
}

func (p place) String() string { return fmt.Sprintf("%s/%d", p.project, p.number) }

func placeOf(c board.Card) place { return place{c.Project, c.Number} }

// boardProject returns the project given by --project, or else the project of the current folder.
func (f *boardFlags) boardProject(ctx context.Context, s session) (string, error) {
	if f.project != "" {
		return f.project, nil
	}
	return s.projectHere(ctx)
}

// findCard returns the card that an argument names. A plain number is a card on the board of
// the current project.
func (f *boardFlags) findCard(ctx context.Context, s session, arg string) (place, error) {
	if n, ok := board.ParseNumber(arg); ok {
		project, err := f.boardProject(ctx, s)
		return place{project, n}, err
	}
	project, n, ok := board.ParseRef(arg)
	if !ok {
		project, n, ok = board.ParsePath(arg)
	}
	switch {
	case !ok:
		return place{}, usageError("%q is not a card: give its number, or PROJECT/NUMBER", arg)
	case f.project != "" && f.project != project:
		return place{}, usageError("card %s is not one of project %s: leave --project out", arg, f.project)
	}
	return place{project, n}, nil
}

// errAgent is the error for an agent that tries to change the board. The command line checks
// this itself because the server may not know who the caller is.
var errAgent = errors.New("an agent does not change the board: it says what it wants in its result")

// withCard returns the run function of a command that changes the card named by its first argument.
func (f *boardFlags) withCard(deps Deps, change func(session, []string) (board.Change, error), describe func(board.Card) string) func(*cobra.Command, []string) error {
	return withServer(deps, func(ctx context.Context, s session, args []string) error {
		if s.Config.Role != "" {
			return errAgent
		}
		c, err := change(s, args[1:])
		if err != nil {
			return err
		}
		p, err := f.findCard(ctx, s, args[0])
		if err != nil {
			return err
		}
		done, err := s.ChangeCard(ctx, p.project, p.number, c, s.confirmationCode())
		if err != nil {
			return err
		}
		return s.showResult(done, func(w io.Writer) error { return printChanged(w, done, describe) })
	})
}

func printChanged(w io.Writer, done wire.ChangedCard, describe func(board.Card) string) error {
	text := placeOf(done.Card).String() + " " + describe(done.Card)
	if !done.Changed {
		text += ", as before"
	}
	_, err := fmt.Fprintln(w, cleanLine(text))
	return err
}

// tagList formats the tags of a card.
func tagList(c board.Card) string {
	if len(c.Tags) == 0 {
		return "no tags"
	}
	return strings.Join(c.Tags, ", ")
}

// readDescription returns the description of a card: text itself, or standard input if text is "-".
func (d Deps) readDescription(text string) (string, error) {
	if text != "-" {
		return text, nil
	}
	all, err := io.ReadAll(io.LimitReader(d.Stdin, board.MaxDescription+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the description: %w", err)
	case len(all) > board.MaxDescription:
		return "", fmt.Errorf("the description is longer than %d KB: put it into a file of the repository and name that", board.MaxDescription>>10)
	case !utf8.Valid(all):
		return "", errors.New("the description is not text: give UTF-8")
	}
	return strings.TrimRight(string(all), "\n"), nil
}

func newBoardShow(deps Deps, f *boardFlags) *cobra.Command {
	return &cobra.Command{
		Use: "show [card]", Short: "Show the board, or one card with its comments", Args: requireArguments(0, 1),
		Long: "Show the columns of the board with their cards, or one card with its comments and tags.",
		Example: "  orange board show\n" +
			"  orange board show 3\n" +
			"  orange board show --project shop --json",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			if len(args) == 0 {
				return s.showBoard(ctx, f)
			}
			p, err := f.findCard(ctx, s, args[0])
			if err != nil {
				return err
			}
			v, err := s.ReadCard(ctx, p.project, p.number)
			if err != nil {
				return err
			}
			return s.showResult(v, func(w io.Writer) error { return printCard(w, s.Now(), v) })
		}),
	}
}

func (s session) showBoard(ctx context.Context, f *boardFlags) error {
	project, err := f.boardProject(ctx, s)
	if err != nil {
		return err
	}
	b, err := s.ReadBoard(ctx, project)
	if err != nil {
		return err
	}
	return s.showResult(b, func(w io.Writer) error { return printBoard(w, s.Deps, b) })
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
		title = cutToWidth(title, 40)
	}
	tags := "-"
	if len(c.Tags) > 0 {
		tags = cleanLine(tagList(*c))
	}
	return []string{"  " + strconv.Itoa(c.Number), title, tags, cleanLine(claimText(deps.Now(), c.Claim))}
}

// claimText describes who works on a card, "" if nobody does.
func claimText(now time.Time, c *board.Claim) string {
	switch {
	case c == nil:
		return ""
	case !c.HoldsAt(now):
		return fmt.Sprintf("claim of %s lapsed %s ago", c.Owner, formatAge(now, c.Until))
	}
	return fmt.Sprintf("claimed by %s until %s", c.Owner, formatClock(now, c.Until))
}

func printCard(w io.Writer, now time.Time, v wire.CardDetails) error {
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
	add("Created", describeWhen(now, c.CreatedAt, c.Author))
	add("Changed", fmt.Sprintf("%s ago, version %d", formatAge(now, c.UpdatedAt), c.Version))
	if err := printTable(w, 0, rows); err != nil {
		return err
	}
	if text := indentText(c.Description); text != "" {
		fmt.Fprintf(w, "\nDescription\n%s\n", text)
	}
	for i := range v.Comments {
		m := &v.Comments[i]
		if _, err := fmt.Fprintf(w, "\nComment %d, %s\n%s\n", m.Number, cleanLine(describeWhen(now, m.At, m.Author)), indentText(m.Text)); err != nil {
			return err
		}
	}
	return nil
}

// describeWhen formats when something happened and who did it.
func describeWhen(now, when time.Time, who string) string {
	text := fmt.Sprintf("%s ago, %s", formatAge(now, when), formatClock(now, when))
	if who != "" {
		text += ", by " + who
	}
	return text
}

// indentText makes untrusted text safe for a terminal and indents it, so that none of its
// lines can look like a heading.
func indentText(text string) string {
	text = strings.TrimSpace(cleanText(text))
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}

func newBoardAdd(deps Deps, f *boardFlags) *cobra.Command {
	var n wire.NewCard
	cmd := &cobra.Command{
		Use: "add <title...>", Short: "Add a card to the board, and start a task for it if the workflow has one", Args: requireArguments(1, -1),
		Long: "Put a card on the project's board. If the workflow works on cards, a task is created for it.",
		Example: "  orange board add \"Login form\" --tag Ready\n" +
			"  orange board add \"Only an idea\" --no-task --description -",
	}
	flags := cmd.Flags()
	flags.StringVar(&n.Column, "column", "", "column it begins in (default: the first)")
	flags.StringArrayVar(&n.Tags, "tag", nil, "tag of the card; may be given several times")
	flags.StringVar(&n.Description, "description", "", "what to do; - reads it from standard input")
	flags.StringVar(&n.Workflow, "workflow", "", "workflow of its task (default: the project's)")
	flags.StringVar(&n.Branch, "branch", "", "branch of its task (default: one of its own)")
	flags.StringVar(&n.Harness, "harness", "", "agent that works on it")
	flags.BoolVar(&n.NoTask, "no-task", false, "only put the card there")
	codeFlag(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		n.Harness, err = deps.resolveHarness(n.Harness)
		return err
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		if s.Config.Role != "" {
			return errAgent
		}
		var err error
		if n.Description, err = s.readDescription(n.Description); err != nil {
			return err
		}
		n.Title = strings.Join(args, " ")
		project := f.project
		if project == "" {
			if project, err = s.ensureProject(ctx, builtin.Default); err != nil {
				return err
			}
		}
		n.Code = s.confirmationCode()
		added, err := s.AddCard(ctx, project, n)
		if err != nil {
			return err
		}
		if added.Warning != "" {
			fmt.Fprintln(s.Stderr, "orange: warning: "+cleanLine(added.Warning))
		}
		return s.showResult(added, func(w io.Writer) error { return printAdded(w, added) })
	})
	return cmd
}

func printAdded(w io.Writer, added wire.AddedCard) error {
	_, err := fmt.Fprintln(w, cleanLine(fmt.Sprintf("Added card %s (%s): %s", placeOf(added.Card), added.Card.Column, added.Card.Title)))
	if err == nil && added.Task != "" {
		_, err = fmt.Fprintln(w, cleanLine(fmt.Sprintf("Created task %s for it", added.Task)))
	}
	return err
}

func newBoardMove(deps Deps, f *boardFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "move <card> <column...>", Short: "Move a card to a column", Args: requireArguments(2, -1),
		Long: "Move a card to a column of its board. A task that works on the card is notified.",
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

func newBoardTag(deps Deps, f *boardFlags) *cobra.Command {
	var remove []string
	cmd := &cobra.Command{
		Use: "tag <card> [tag...]", Short: "Add and remove tags of a card in one step", Args: requireArguments(1, -1),
		Long: "Add tags to a card and remove others in one change, so that nobody sees a part of it.",
		Example: "  orange board tag 3 Ready\n" +
			"  orange board tag 3 Approved --remove Review",
	}
	cmd.Flags().StringArrayVar(&remove, "remove", nil, "tag to remove; may be repeated")
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

func newBoardDescribe(deps Deps, f *boardFlags) *cobra.Command {
	return &cobra.Command{
		Use: "describe <card> <text...>", Short: "Replace the description of a card; - reads it from standard input", Args: requireArguments(2, -1),
		Long:    "Replace the description of a card.",
		Example: "  orange board describe 3 - <description.md",
		RunE: f.withCard(deps, func(s session, words []string) (board.Change, error) {
			text, err := s.readDescription(strings.Join(words, " "))
			return board.Change{Description: &text}, err
		}, func(board.Card) string { return "has this description" }),
	}
}

func newBoardComment(deps Deps, f *boardFlags) *cobra.Command {
	return &cobra.Command{
		Use: "comment <card> <text...>", Short: "Comment on a card; - reads the text from standard input", Args: requireArguments(2, -1),
		Long:    "Say something about a card. Agents read it; what they say comes as comments, too.",
		Example: "  orange board comment 3 \"The label is missing\"",
		RunE: f.withCard(deps, func(s session, words []string) (board.Change, error) {
			text, err := s.readPersonText(strings.Join(words, " "))
			if err == nil && text == "" {
				err = usageError("the comment is empty: say something")
			}
			return board.Change{Comment: text}, err
		}, func(board.Card) string { return "has a new comment" }),
	}
}

func newBoardHistory(deps Deps, f *boardFlags) *cobra.Command {
	return &cobra.Command{
		Use: "history <card>", Short: "Show the history of a card", Args: requireArguments(1, 1),
		Long:    "Show every change of a card and who made it, oldest first.",
		Example: "  orange board history 3",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			p, err := f.findCard(ctx, s, args[0])
			if err != nil {
				return err
			}
			events, err := s.CardHistory(ctx, p.project, p.number)
			if err != nil {
				return err
			}
			return s.showResult(map[string]any{"history": events}, func(w io.Writer) error {
				rows := [][]string{}
				for i := range events {
					e := &events[i]
					rows = append(rows, []string{formatClock(s.Now(), e.At), orDash(e.Author), cleanLine(eventText(s.Now(), e))})
				}
				return printTable(w, s.lineWidth(), rows)
			})
		}),
	}
}

// eventText describes what an event changed.
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
		add(true, "claimed by %s until %s", c.Claim.Owner, formatClock(now, c.Claim.Until))
	}
	add(c.Release != "", "released by %s", c.Release)
	if c.Description != nil {
		add(true, "described in %d characters", utf8.RuneCountInString(*c.Description))
	}
	add(c.Comment != "", "said: %s", cutToWidth(c.Comment, 200))
	return strings.Join(out, "; ")
}
