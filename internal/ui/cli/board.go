package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"orange/internal/core/board"
	"orange/internal/wire"
)

func newBoardCommand(deps Deps) *cobra.Command {
	f := &boardFlags{}
	cmd := group("board", "Show and change the board of a project",
		newBoardShow(deps, f), newBoardAdd(deps, f), newBoardTag(deps, f), newBoardMove(deps, f),
		newBoardComment(deps, f), newBoardDescribe(deps, f), newBoardHistory(deps, f))
	cmd.PersistentFlags().StringVar(&f.project, "project", "", "project whose board it is (default: that of this folder)")
	return cmd
}

// boardFlags are what all the commands about boards understand.
type boardFlags struct{ project string }

// place is a card of a project.
type place struct {
	project string
	number  int
}

func (p place) String() string { return fmt.Sprintf("%s/%d", p.project, p.number) }

func placeOf(c board.Card) place { return place{c.Project, c.Number} }

// here is the project that is named, else the one of the folder.
func (f *boardFlags) here(ctx context.Context, s session) (string, error) {
	if f.project != "" {
		return f.project, nil
	}
	return s.projectHere(ctx)
}

// card finds out which card is meant: a number is one of the board here.
func (f *boardFlags) card(ctx context.Context, s session, arg string) (place, error) {
	if n, ok := board.ParseNumber(arg); ok {
		project, err := f.here(ctx, s)
		return place{project, n}, err
	}
	project, n, ok := board.ParseRef(arg)
	if !ok {
		project, n, ok = board.ParsePath(arg)
	}
	switch {
	case !ok:
		return place{}, usageError("%q is no card: give its number, or PROJECT/NUMBER", arg)
	case f.project != "" && f.project != project:
		return place{}, usageError("card %s is not one of project %s: leave --project out", arg, f.project)
	}
	return place{project, n}, nil
}

// errAgent keeps agents from the board where the server does not know who asks.
var errAgent = errors.New("an agent does not change the board: it says what it wants in its result")

// withCard makes a command's function of one that changes the card named first.
func (f *boardFlags) withCard(deps Deps, change func(session, []string) (board.Change, error), tell func(board.Card) string) func(*cobra.Command, []string) error {
	return withServer(deps, func(ctx context.Context, s session, args []string) error {
		if s.Config.Role != "" {
			return errAgent
		}
		c, err := change(s, args[1:])
		if err != nil {
			return err
		}
		p, err := f.card(ctx, s, args[0])
		if err != nil {
			return err
		}
		done, err := s.ChangeCard(ctx, p.project, p.number, c, s.code())
		if err != nil {
			return err
		}
		return s.show(done, func(w io.Writer) error { return printChanged(w, done, tell) })
	})
}

func printChanged(w io.Writer, done wire.ChangedCard, tell func(board.Card) string) error {
	text := placeOf(done.Card).String() + " " + tell(done.Card)
	if !done.Changed {
		text += ", as before"
	}
	_, err := fmt.Fprintln(w, cleanLine(text))
	return err
}

// tagList shows the tags of a card.
func tagList(c board.Card) string {
	if len(c.Tags) == 0 {
		return "no tags"
	}
	return strings.Join(c.Tags, ", ")
}

// description is a text for a card: the text itself, or standard input for "-".
func (d Deps) description(text string) (string, error) {
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
