package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/board"
	"orange/internal/core/boardcheck"
	"orange/internal/wire"
)

func newDoctorBoard(deps Deps) *cobra.Command {
	var x wire.Examination
	var dry bool
	cmd := &cobra.Command{
		Use: "board [card]", Short: "Find cards of a board that nobody will pick up, and mend them", Args: arguments(0, 1),
		Example: "  orange doctor board\n" +
			"  orange doctor board 3 --fix\n" +
			"  orange doctor board --tracker joan",
		Long: `Look for cards that nobody will ever pick up, or whose tags contradict each other.

Without --fix it only says what it finds and what it would do. It looks at the local board
of a project, or with --tracker at that of a tracker as it was last read.`,
	}
	f := cmd.Flags()
	f.StringVar(&x.Project, "project", "", "project whose board it is (default: that of this folder)")
	f.StringVar(&x.Tracker, "tracker", "", "tracker whose board it is")
	f.BoolVar(&x.Fix, "fix", false, "mend what can be mended")
	f.BoolVar(&dry, "dry-run", false, "only say what is wrong (the default)")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		switch {
		case dry && x.Fix:
			return usageError("--dry-run and --fix do not go together: choose one")
		case x.Project != "" && x.Tracker != "":
			return usageError("--project and --tracker do not go together: choose one")
		}
		if len(args) > 0 {
			x.Key = args[0]
		}
		var err error
		if x.Project == "" && x.Tracker == "" {
			if x.Project, err = s.projectHere(ctx); err != nil {
				return err
			}
		}
		found, err := s.ExamineBoard(ctx, x)
		if err != nil {
			return err
		}
		if err := s.show(map[string]any{"findings": found}, func(w io.Writer) error { return printAnomalies(w, found) }); err != nil {
			return err
		}
		return left(found)
	})
	return cmd
}

// left is an error as long as something that is no mere warning is still wrong.
func left(found []boardcheck.Finding) error {
	n := 0
	for _, f := range found {
		if !f.Fixed && f.Severity != boardcheck.Warning {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fail{code: exitFailed, told: true, err: fmt.Errorf("%s wrong", plural(n, "thing"))}
}

func printAnomalies(w io.Writer, found []boardcheck.Finding) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(w, "Nothing is wrong with the board.")
		return err
	}
	rows := [][]string{}
	for _, f := range found {
		mark := f.Severity
		if f.Fixed {
			mark = "fixed"
		}
		rows = append(rows, []string{mark, cleanLine(f.Card), string(f.Type), cleanLine(f.Text)})
		switch {
		case f.Problem != "":
			rows = append(rows, []string{"", "", "", "could not be mended: " + cleanLine(f.Problem)})
		case f.Fix == nil:
			rows = append(rows, []string{"", "", "", "a person must decide"})
		case !f.Fixed:
			rows = append(rows, []string{"", "", "", "fix: " + cleanLine(changeText(f.Fix))})
		}
	}
	return printTable(w, 0, rows)
}

// changeText says what a change does to a card.
func changeText(c *board.Change) string {
	var out []string
	if c.Column != "" {
		out = append(out, "move to "+c.Column)
	}
	if len(c.AddTags) > 0 {
		out = append(out, "add "+strings.Join(c.AddTags, ", "))
	}
	if len(c.RemoveTags) > 0 {
		out = append(out, "remove "+strings.Join(c.RemoveTags, ", "))
	}
	if c.Release != "" {
		out = append(out, "release the claim of "+c.Release)
	}
	return strings.Join(out, ", ")
}
